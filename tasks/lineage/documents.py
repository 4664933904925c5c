"""Documents with what parsed them, which runs read them and where their nodes stand; of what was removed, its id alone."""

import contextlib
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TypeVar

from pydantic import ValidationError

from storage.artifacts import ArtifactDamagedError, home_artifacts
from storage.codec import CodecError, from_json
from storage.records.answers import NamedDocument
from storage.records.documents import WHOLE_PAGE, DocumentRecord, DocumentState, GraphText, Node, identify
from storage.records.steps import StepRecord
from storage.runs.log import ASKING
from tasks.lineage.records import CallRecord, Damage, DocumentHistory, DocumentReading, NodePlace
from tasks.lineage.runs import RunHistory, history_of
from tasks.lineage.search import Sources
from tasks.parsing.parse import parse_inputs, parser_identity
from tasks.settings.ingest import IngestSettings

T = TypeVar("T", StepRecord, CallRecord)

OTHER_PARSER = "another version than the one installed here, or with other settings"
NOT_KEPT = "not known: no run that parsed it is kept"


def document_histories(
    sources: Sources, documents: Sequence[NamedDocument]
) -> tuple[tuple[DocumentHistory, ...], tuple[Damage, ...]]:
    """Return the documents with the runs that read them, in order, and what of the runs' files cannot be read."""
    if not documents:
        return (), ()
    lines = "kind IN ('run', 'end') OR list_contains($ids, line->>'$.subject')"
    ids = [document.id for document in documents]
    histories = [history_of(run) for run in sources.runs.read("NOT starts_with(run_id, $asking)", lines, asking=ASKING, ids=ids)]
    return tuple(_history(sources, document, histories) for document in documents), tuple(
        history.damage for history in histories if history.damage
    )


OF_RECORD = ("version", "reason", "paths", "size_bytes", "media_type", "pages", "nodes", "notes")


def _history(sources: Sources, document: NamedDocument, histories: Sequence[RunHistory]) -> DocumentHistory:
    record = sources.records.get(document.id)
    readings = [reading for history in histories if (reading := _reading(history, document.id, record)) is not None]
    parsed = [
        (history, step) for history in histories for step in history.steps if (step.step, step.subject) == ("parse", document.id)
    ]
    known = record or _nothing_known(document.id)
    return DocumentHistory(
        document=sources.as_named(document),
        standing=sources.standing(document),
        state=known.state.value if record else "",
        **{name: getattr(known, name) for name in OF_RECORD},
        parser=_parser(parsed),
        readings=tuple(sorted(readings, key=lambda reading: reading.run.began, reverse=True)),
    )


def _nothing_known(document_id: str) -> DocumentRecord:
    return DocumentRecord(document_id, "", (), 0, "", "", DocumentState.FAILED, "", 0, 0)


def _reading(history: RunHistory, document_id: str, record: DocumentRecord | None) -> DocumentReading | None:
    """Return what a run did with the document, None where that is nothing; errors of what is not there have no words."""
    steps = tuple(step for step in history.steps if step.subject == document_id)
    calls = tuple(call for call in history.calls if call.about == document_id)
    if not steps and not calls:
        return None
    made = record is not None and any(_has_made(step, record) for step in steps)
    if record is None:
        steps, calls = tuple(map(wordless, steps)), tuple(map(wordless, calls))
    began = min((step.started for step in steps), default="")
    return DocumentReading(replace(history.head, began=began), steps, calls, published=made)


def _has_made(step: StepRecord, record: DocumentRecord) -> bool:
    """Say whether the step made the published version: its key names it."""
    return not step.error and step.step == "evolve" and step.key == identify(step.step, step.version, record.version)


def wordless(work: T) -> T:
    """Return a step or a call without the words of its error: they may be those of a document that was removed."""
    return replace(work, error=work.error.partition(":")[0])


def _parser(parsed: Iterable[tuple[RunHistory, StepRecord]]) -> str:
    """Return name and version of what parsed a document: a step's key proves it of the parser that is installed here."""
    newest = max(parsed, key=lambda each: each[1].started, default=None)
    if newest is None:
        return NOT_KEPT
    history, step = newest
    try:
        reading = IngestSettings.model_validate(history.settings).reading
    except ValidationError:
        return OTHER_PARSER
    proven = step.key == identify(step.step, step.version, parse_inputs(step.subject, reading.parse, reading.ocr))
    return parser_identity() if proven else OTHER_PARSER


PageReader = tuple[str, int, str, str]
"""A document, a page of it, the parser that read it, and why a fallback did."""


def places_of(
    sources: Sources, documents: Sequence[DocumentHistory], node_ids: Sequence[str]
) -> tuple[dict[str, NodePlace], list[PageReader]]:
    """Return the places of those of the nodes that are published, and which parser read which page of the documents that are."""
    nodes: dict[str, NodePlace] = {}
    readers: list[PageReader] = []
    unkept = []
    for document in documents:
        name = document.document.id
        if not sources.is_readable(name):
            continue
        graph = _read_graph(document)
        if graph is None:
            unkept.append(name)
        else:
            nodes |= {node.id: _place(node) for node in graph.nodes}
            readers += [(name, page.number, page.parser.value, page.note) for page in graph.pages]
    if unkept:
        readers += sources.snapshot.page_readers(unkept)
        found = sources.snapshot.find_nodes([name for name in node_ids if name not in nodes])
        nodes |= {node.id: _place(node) for node in found}
    return nodes, readers


def _place(node: Node) -> NodePlace:
    return NodePlace(node.id, node.document_id, node.page, node.kind.value, None if node.box == WHOLE_PAGE else node.box)


def _read_graph(document: DocumentHistory) -> GraphText | None:
    """Return what the step left that made the published version; None where no run names it or its artifact is gone."""
    made = (step for reading in document.readings if reading.published for step in reading.steps if step.step == "evolve")
    for name in (step.outputs["0"] for step in made if "0" in step.outputs):
        with contextlib.suppress(ArtifactDamagedError, CodecError, OSError):
            return from_json(GraphText, home_artifacts().read(name))
    return None
