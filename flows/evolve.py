"""The evolve flow: rebuilds the graphs of a corpus's documents with other settings or another model; reads no file.

parse and read words are recalled -> structure -> analyze -> embed -> T rounds -> evolve -> publish -> index -> report
"""

from prefect import flow
from prefect.client.schemas.objects import State

from flows.ingest import read_in
from flows.prefect_runs.interruption import end_in_order
from flows.prefect_runs.labels import begin_again, tag_run
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location, home
from storage.system import check_writable
from tasks.ingest.report import IngestReport
from tasks.ingest.request import EvolveRequest, look


@flow(name="evolve", flow_run_name="evolve {request.corpus}", persist_result=False, on_crashed=[begin_again])
async def evolve(request: EvolveRequest) -> IngestReport | State[None]:
    """Rebuild the graphs of documents from their parsed content, and publish them as they finish, as an ingest does.

    A document whose parsed content is gone stays as it is, with a note. Raise UnknownCorpusError where there is no such corpus.
    """
    check_writable(home())
    with open_for_reading(corpus_location(request.corpus)):
        pass
    await tag_run(request.corpus)
    with end_in_order():
        return await read_in(request, look(request))
