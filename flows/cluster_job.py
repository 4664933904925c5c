"""What a process of a cluster does: it reads one document up to artifacts, and remembers each step."""

import asyncio
import os
from pathlib import Path

from prefect.client.schemas.objects import State
from prefect.states import Failed

from flows.document_graph import make_graph, read_pages
from storage.runs.log import RunLog
from tasks.ingest.cluster_jobs import Account, ClusterJob, require_same_installation
from tasks.ingest.keys import Tools
from tasks.lineage.writing import working_at, workplace_of
from tasks.models.embedding.embedder import UnopenedEmbedder
from tasks.settings.ingest import IngestSettings


def do_cluster_job(cluster_job: ClusterJob) -> Account | State[Account]:
    """Do it, as the body of a Prefect task; its account is the state's data where the document could not be read."""
    account = read_apart(cluster_job)
    return Failed(message=str(account.error), data=account) if account.error else account


def read_apart(cluster_job: ClusterJob) -> Account:
    """Do all steps of a document that ask no chat model: that has a budget, which the run's own process keeps."""
    settings = IngestSettings.model_validate_json(cluster_job.settings)
    # Held and never released: the lines are the driver's to write, which numbers them.
    place = workplace_of(cluster_job.run_id, RunLog(Path(os.devnull)).holding())
    tools = Tools(settings=settings, artifacts=place.artifacts, embedder=UnopenedEmbedder(cluster_job.embedder, settings.models))
    error = None
    with working_at(place) as steps:
        try:
            require_same_installation(cluster_job, settings)
            by_rules = settings.reading.analysis.by == "rules"
            asyncio.run((make_graph if by_rules else read_pages)(cluster_job.work, tools))
        except Exception as problem:
            error = problem
    return Account(tuple(steps), error)
