"""Errands as an ingest sends them: a real file, planned as the flow plans it."""

from storage.locations import corpus_location
from storage.records.documents import EmbedderIdentity
from storage.runs.log import RunLog
from tasks.ingest.cluster_jobs import ClusterJob
from tasks.ingest.request import IngestRequest, look, survey
from tasks.lineage.writing import workplace_of
from tasks.models.embedding.embedder import default_identity
from tasks.settings.ingest import IngestSettings

PAGE = "<h1>Tides</h1><p>The tide turns twice a day and never asks the harbour master why.</p>"


def planned(path, settings: IngestSettings | None = None, embedder: EmbedderIdentity | None = None):
    """The work that an ingest of one file would do."""
    request = IngestRequest(paths=(str(path),), settings=settings or IngestSettings())
    (work,) = survey(request, look(request), (), embedder or default_identity(), "").plan.work
    return work


def cluster_job_for(path, settings: IngestSettings | None = None) -> ClusterJob:
    """The job that reads one file."""
    settings = settings or IngestSettings()
    return ClusterJob(planned(path, settings), settings.model_dump_json(), default_identity(), "", "run")


def place_of_run():
    """Where the run that sent it works."""
    return workplace_of("run", RunLog(corpus_location("default").runs / "run.jsonl"))
