"""What an ingest did: counts, failures with their reasons, time for each step."""

from collections import defaultdict
from collections.abc import Mapping

from pydantic import BaseModel, ConfigDict

from storage.corpus.writer import CorpusWriter
from storage.records.documents import DocumentState
from storage.runs.log import EntryKind
from storage.runs.views import read_run
from storage.text import printable_path
from tasks.ingest.request import Survey
from tasks.models.chat.errors import Outcome
from tasks.step import Workplace

AS_BEFORE = "as before"
"""The state of a document that was to be made anew, and could not be: it is ready as it was."""


class Failure(BaseModel):
    model_config = ConfigDict(frozen=True)

    name: str
    state: str
    reason: str


VANISHED_SHOWN = 50


class IngestReport(BaseModel):
    model_config = ConfigDict(frozen=True)

    corpus: str
    snapshot: int
    read: int
    unchanged: int
    renamed: int
    pages: int
    nodes: int
    failures: tuple[Failure, ...]
    skipped: int
    vanished: tuple[str, ...] = ()
    mended: tuple[str, ...]
    step_seconds: Mapping[str, float]
    steps_remembered: int
    calls: int
    calls_remembered: int
    tokens: int
    cost: float


def ingest_report(name: str, corpus: CorpusWriter, survey: Survey, place: Workplace) -> IngestReport:
    """Sum up a run from what the corpus holds now, what was planned, and the run's own lineage."""
    documents = corpus.documents()
    wanted = {work.document_id: work.version for work in survey.plan.work}
    mine = [record for record in documents if record.version == wanted.get(record.id)]
    ready = [record for record in documents if record.state is DocumentState.READY]
    as_before = [record for record in ready if record.version != wanted.get(record.id, record.version)]
    run = read_run(place.log.path)
    if run.unreadable:
        raise OSError(f"the run's own file {str(place.log.path)!r} cannot be read: {run.unreadable}")
    steps, calls = run.steps(), run.of(EntryKind.CALL)
    step_seconds: defaultdict[str, float] = defaultdict(float)
    for record in steps:
        step_seconds[record.step] += record.seconds
    return IngestReport(
        corpus=name,
        snapshot=corpus.snapshot,
        read=sum(record.state is DocumentState.READY for record in mine),
        unchanged=len(survey.plan.unchanged),
        renamed=len(survey.plan.renamed),
        pages=sum(record.pages for record in mine),
        nodes=sum(record.nodes for record in mine),
        failures=tuple(
            Failure(name=record.name, state=record.state, reason=record.reason)
            for record in documents
            if record.state is not DocumentState.READY
        )
        + tuple(Failure(name=record.name, state=AS_BEFORE, reason="; ".join(record.notes[:1])) for record in as_before),
        skipped=len(survey.found.skipped),
        vanished=tuple(f"{printable_path(file.path)}: {file.reason}" for file in survey.plan.vanished[:VANISHED_SHOWN]),
        mended=corpus.messages,
        step_seconds={step: round(total, 1) for step, total in sorted(step_seconds.items(), key=lambda item: -item[1])},
        steps_remembered=sum(record.cache_hit for record in steps),
        calls=sum(call["attempts"] > 0 for call in calls),
        calls_remembered=sum(call["outcome"] == Outcome.CACHED for call in calls),
        tokens=sum(call["input_tokens"] + call["output_tokens"] for call in calls),
        cost=sum(call["cost"] for call in calls),
    )
