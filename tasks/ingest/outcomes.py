"""How the reading of one document ended, and the catalog's record of it."""

import errno
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from uuid import UUID

from storage.records.documents import DocumentGraph, DocumentRecord, DocumentState, Page, PageParser
from storage.system import is_full_disk
from storage.text import page_list
from tasks.events import DocumentBegan, DocumentEnded, emit
from tasks.finding.plan import UNFINISHED, DocumentWork
from tasks.ingest.cluster_jobs import WorkersError
from tasks.models.chat.errors import ChatEndedError
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.ocr import OcrError
from tasks.parsing.supervisor import ParserStartError
from tasks.progress import StoppedError, is_broken_off, stop_requested
from tasks.step import workplace

NOTES_SHOWN = 20
REREADING_FAILED = "reading it with the new settings failed, the earlier reading is kept:  "
LACKING_FAILED = "reading its missing parts failed:  "


@dataclass(frozen=True, slots=True)
class DocumentOutcome:
    """A record for the catalog, and the graph where the document is ready.

    `state` is how this reading ended: a document whose new reading fails may still be ready. `logged` says why there is no
    graph in words that hold none of the document's. `task_runs` are the last of Prefect's that worked on it.
    """

    record: DocumentRecord
    graph: DocumentGraph | None
    state: DocumentState = DocumentState.READY
    logged: str = ""
    task_runs: tuple[UUID, ...] = ()


def ready_outcome(work: DocumentWork, graph: DocumentGraph, *, unfinished: bool = False) -> DocumentOutcome:
    """Return the outcome of a document that became a graph; an unfinished one is made again by the next ingest."""
    record = replace(
        _record(work, DocumentState.READY, attempt=UNFINISHED if unfinished else ""),
        media_type=graph.media_type,
        title=graph.title,
        pages=len(graph.pages),
        nodes=len(graph.nodes),
        notes=page_notes(graph.pages),
    )
    return DocumentOutcome(record, graph)


def _record(work: DocumentWork, state: DocumentState, *, reason: str = "", attempt: str) -> DocumentRecord:
    return DocumentRecord(
        id=work.document_id,
        version=work.version,
        paths=work.paths,
        size_bytes=work.size_bytes,
        media_type="",
        title="",
        state=state,
        reason=reason,
        pages=0,
        nodes=0,
        attempt=attempt,
    )


def failed_outcome(
    work: DocumentWork, state: DocumentState, reason: str, *, for_good: bool = True, logged: str = ""
) -> DocumentOutcome:
    """Return the outcome of a document that could not be read, with the reason, and as logs show it where that differs.

    A version that is published stays, with a note before its own. `for_good` says that the same bytes would fail the same way;
    else the next ingest tries again.
    """
    if work.published is None:
        record = _record(work, state, reason=reason, attempt=work.attempt if for_good else "")
    else:
        failure, attempt = REREADING_FAILED, work.failed_rereading if for_good else work.published.attempt
        if work.published.version == work.version:
            failure, attempt = LACKING_FAILED, UNFINISHED
        own = (note for note in work.published.notes if not note.startswith((REREADING_FAILED, LACKING_FAILED)))
        record = replace(work.published, notes=(failure + reason, *own)[:NOTES_SHOWN], paths=work.paths, attempt=attempt)
    return DocumentOutcome(record, None, state, logged=logged or reason)


def page_notes(pages: Iterable[Page]) -> tuple[str, ...]:
    numbers_of: dict[tuple[PageParser, str], list[int]] = {}
    for page in pages:
        if page.note or page.parser not in {PageParser.MINERU, PageParser.PLAIN}:
            numbers_of.setdefault((page.parser, page.note), []).append(page.number)
    notes = [
        f"{page_list(numbers)} {'not read' if parser is PageParser.NONE else f'read by {parser}'}{note and f': {note}'}"
        for (parser, note), numbers in numbers_of.items()
    ]
    return tuple(notes[:NOTES_SHOWN])


def outcome_of_error(work: DocumentWork, error: Exception) -> DocumentOutcome:
    """Return the outcome of a document that cannot be opened, or on which our own code failed.

    Raises what would hit every document alike: a full or read-only disk, an engine that does not start, a chat model that is
    gone or a budget that is used up, a stop that was asked for.
    """
    if stop_requested():
        # What broke when its children were ended is no fault of the document.
        raise StoppedError from error
    if isinstance(error, OSError) and not is_full_disk(error) and error.errno != errno.EROFS:
        return failed_outcome(work, DocumentState.FAILED, f"it cannot be read: {error.strerror or error}", for_good=False)
    if isinstance(error, OSError | MemoryError | ChatEndedError | EmbeddingError | OcrError | ParserStartError | WorkersError):
        raise error
    reason = f"an error in FlowReader ({type(error).__name__}: {error}); please report it"
    return failed_outcome(work, DocumentState.FAILED, reason, for_good=False, logged=type(error).__name__)


@contextmanager
def watch_document(work: DocumentWork) -> Iterator[Callable[[DocumentOutcome], None]]:
    """Announce that a document is being read, and when the block ends the outcome that was given.

    Where the block raises, no document came of it: it was `stopped`, or `failed` with what ends the whole run.
    """
    run, began = workplace.get().run_id, time.monotonic()
    end = DocumentEnded(run, work.document_id, work.name, state="failed", pages=0, nodes=0, seconds=0.0, error="")

    def take(outcome: DocumentOutcome) -> None:
        nonlocal end
        graph = outcome.graph
        pages, nodes = (len(graph.pages), len(graph.nodes)) if graph else (0, 0)
        end = replace(end, state=outcome.state.value, pages=pages, nodes=nodes, error=outcome.logged)

    emit(DocumentBegan(run, work.document_id, work.name))
    try:
        yield take
    except BaseException as problem:
        stopped = is_broken_off(problem)
        end = replace(end, state="stopped" if stopped else "failed", error="" if stopped else type(problem).__name__)
        raise
    finally:
        emit(replace(end, seconds=time.monotonic() - began))
