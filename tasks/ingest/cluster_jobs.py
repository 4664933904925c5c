"""What a process of a cluster is sent to read a document, and what it sends back; the document itself travels as artifacts."""

from dataclasses import dataclass
from uuid import UUID

from storage.errors import ExpectedError
from storage.memo import StepMemo
from storage.records.documents import EmbedderIdentity
from storage.records.steps import StepRecord
from tasks.finding.plan import DocumentWork, document_version
from tasks.settings.ingest import IngestSettings


class WorkersError(ExpectedError):
    """A cluster that cannot be had, or whose processes are not set up as this one is; the message says what to do."""


@dataclass(frozen=True, slots=True)
class ClusterJob:
    """A document to be read for a run; `settings` are IngestSettings as JSON, `reader` is `reader_identity`."""

    work: DocumentWork
    settings: str
    embedder: EmbedderIdentity
    reader: str
    run_id: str


@dataclass(frozen=True, slots=True)
class Account:
    """The steps that were done, each with the names of its artifacts, and what ended them early.

    `task_runs` are those of the last step: what follows it, here, waits for them.
    """

    steps: tuple[StepRecord, ...]
    error: Exception | None = None
    task_runs: tuple[UUID, ...] = ()


def require_same_installation(cluster_job: ClusterJob, settings: IngestSettings) -> None:
    """Raise WorkersError where this process would make something else of the bytes than the version says."""
    ours = document_version(cluster_job.work.document_id, settings, cluster_job.embedder, cluster_job.reader)
    if ours != cluster_job.work.version:
        raise WorkersError(
            f"a process of the cluster would make version {ours[:12]} of {cluster_job.work.name}, not "
            f"{cluster_job.work.version[:12]}: "
            "install the same FlowReader with the same versions of its libraries on all machines"
        )


def require_remembered(account: Account, memo: StepMemo) -> None:
    """Raise WorkersError where what the last step made is not to be found here."""
    last = account.steps[-1]
    if memo.lookup(last.subject, last.step, last.key) is None:
        raise WorkersError(
            f"a process of the cluster did {last.step!r}, but its results are not in {str(memo.folder)!r}: set "
            "FLOWREADER_HOME to the same shared folder on all machines",
            last.step,
        )
