"""A look at files and at the corpus that they are to be read into, whatever state that is in; nothing is written."""

from storage.catalog import CatalogDamagedError
from storage.current import CurrentDamagedError
from storage.locations import corpus_location
from storage.snapshot import UnknownCorpusError, open_for_reading
from tasks.ingest_model import reader_identity
from tasks.ingest_request import IngestRequest, Survey, embedder_for, look, survey
from tasks.object_source import Tell, tell_nobody


def survey_for(request: IngestRequest, tell: Tell = tell_nobody) -> Survey:
    """Return what there is to read; a damaged corpus is mended by the run itself, which then sees what there is to do.

    `tell` hears of what is to be fetched from object stores before it is.
    """
    reader, found = reader_identity(request.settings), look(request, tell)
    try:
        with open_for_reading(corpus_location(request.corpus)) as snapshot:
            return survey(request, found, snapshot.documents(), embedder_for(snapshot.embedder), reader)
    except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError):
        return survey(request, found, (), embedder_for(None), reader)
