"""Documents as lineage tells them: what they are, who parsed them, which runs read them; of what was removed, its id alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import ValidationError

from storage.answer_records import NamedDocument
from storage.records import DocumentRecord, DocumentState, StepRecord, identify
from storage.run_traces import other_files, trace, traces
from tasks.lineage_names import Shelf
from tasks.lineage_records import CallTold, Damage, DocumentTold, Reading, Standing
from tasks.lineage_runs import RunStory, story_of
from tasks.lineage_unpublished import PUBLISHES, did_publish
from tasks.parsing import parse_inputs, parser_identity
from tasks.settings import IngestSettings

T = TypeVar("T", StepRecord, CallTold)

OTHER_PARSER = "another version than the one installed here, or told other settings"
NOT_KEPT = "not known: no run that parsed it is kept"


def documents_told(shelf: Shelf, documents: Sequence[NamedDocument]) -> tuple[tuple[DocumentTold, ...], tuple[Damage, ...]]:
    """Return the documents with the runs that read them, in order, and what of the runs' files cannot be read."""
    signs = [document.id.encode() for document in documents]
    stories = [story_of(trace) for trace in traces(other_files(shelf.snapshot.location), signs)] if signs else []
    told = tuple(_told(shelf, document, stories) for document in documents)
    return told, tuple(story.damage for story in stories if story.damage)


def _told(shelf: Shelf, document: NamedDocument, stories: Sequence[RunStory]) -> DocumentTold:
    record = shelf.records.get(document.id)
    readings = [reading for story in stories if (reading := _reading(story, document.id, record)) is not None]
    readings.sort(key=lambda reading: reading.run.began, reverse=True)
    parsed = [(story, step) for story in stories for step in story.steps if (step.step, step.subject) == ("parse", document.id)]
    known = record or _nothing_known(document.id)
    return DocumentTold(
        document=shelf.named(document),
        standing=_standing(shelf, document, [reading.run.run_id for reading in readings]),
        version=known.version,
        state=known.state.value if record else "",
        reason=known.reason,
        paths=known.paths,
        size_bytes=known.size_bytes,
        media_type=known.media_type,
        pages=known.pages,
        nodes=known.nodes,
        notes=known.notes,
        parser=_parser(parsed),
        readings=tuple(readings),
    )


def _standing(shelf: Shelf, document: NamedDocument, run_ids: Sequence[str]) -> Standing:
    """Return how it stands; what has a name though it is not there was published once, for an answer used it."""
    standing, signs = shelf.standing(document), (document.id.encode(), PUBLISHES)
    if standing is Standing.GONE and run_ids and not document.name:
        stories = (story_of(trace(shelf.snapshot.location.runs / f"{run_id}.jsonl", signs)) for run_id in run_ids)
        return standing if any(did_publish(story, document.id) for story in stories) else Standing.UNPUBLISHED
    return standing


def _nothing_known(document_id: str) -> DocumentRecord:
    return DocumentRecord(document_id, "", (), 0, "", "", DocumentState.FAILED, "", 0, 0)


def _reading(story: RunStory, document_id: str, record: DocumentRecord | None) -> Reading | None:
    """Return what a run did with the document, None where that is nothing; errors of what is not there have no words."""
    steps = tuple(step for step in story.steps if step.subject == document_id)
    calls = tuple(call for call in story.calls if call.about == document_id)
    if not steps and not calls:
        return None
    made = record is not None and any(_made(step, record) for step in steps)
    if record is None:
        steps, calls = tuple(map(wordless, steps)), tuple(map(wordless, calls))
    began = min((step.started for step in steps), default=story.head.began)
    return Reading(replace(story.head, began=began), steps, calls, published=made)


def _made(step: StepRecord, record: DocumentRecord) -> bool:
    """Say whether the step made the published version: its key names it."""
    return not step.error and step.step == "evolve" and step.key == identify(step.step, step.version, record.version)


def wordless(told: T) -> T:
    """Return a step or a call without the words of its error: they may be those of a document that was removed."""
    return replace(told, error=told.error.partition(":")[0])


def _parser(parsed: Iterable[tuple[RunStory, StepRecord]]) -> str:
    """Return name and version of what parsed a document: a step's key proves it of the parser that is installed here."""
    newest = max(parsed, key=lambda each: each[1].started, default=None)
    if newest is None:
        return NOT_KEPT
    story, step = newest
    try:
        reading = IngestSettings.model_validate(story.settings).reading
    except ValidationError:
        return OTHER_PARSER
    proven = step.key == identify(step.step, step.version, parse_inputs(step.subject, reading.parse, reading.ocr))
    return parser_identity() if proven else OTHER_PARSER
