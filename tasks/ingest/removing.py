"""Removing documents and corpora: unpublished at once, deleted when no reader can see them any more."""

import shutil
import time
from collections.abc import Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from storage.catalog.catalog import CatalogDamagedError, opened, read_documents
from storage.catalog.current import CurrentDamagedError, snapshot_numbers, snapshot_path
from storage.catalog.in_use import KEEP_SECONDS
from storage.catalog.removals import Removal, note_removals, noted_removals, removal_of
from storage.codec import storable
from storage.corpus.snapshot import UnknownCorpusError, UnknownDocumentError, open_for_reading, unknown_corpus
from storage.corpus.tidying import wait_for_readers
from storage.corpus.writer import CorpusWriter, open_for_writing
from storage.forgetting import forget_copies, forget_questions, forget_replies, forget_reports, forget_uploads
from storage.graph.store import GraphDamagedError
from storage.locations import ID_PREFIX, CorpusLocation, uploads_folder
from storage.lock import locked
from storage.object_address import is_address
from storage.runs.erasing import documents_in_answers
from storage.system import DiskFullError
from tasks.ingest.publishing import CleanedUp, clean_up, collect_garbage, wipe
from tasks.settings.ingest import IngestSettings

WAIT_SECONDS = 600.0
"""`--now` waits so long for the readers of older snapshots: no question lasts longer."""


@dataclass(frozen=True, slots=True)
class Receipt:
    """What a removal did: `gone` counts what went, `later` says what goes when; a file that was not uploaded stays."""

    document_id: str
    name: str
    snapshot: int
    gone: Mapping[str, int]
    later: str
    file_stays: bool


@dataclass(frozen=True, slots=True)
class RemovedCorpus:
    """How much a removed corpus held, and how many files only it used went; `postponed` says what they wait for, if anything."""

    documents: int
    files: int
    postponed: str


def remove_document(location: CorpusLocation, asked: str, *, now: bool, patience: float | None = None) -> Receipt:
    """Unpublish a document, named by id or file name; with `now` wait for its readers and delete what it left.

    They are waited for `patience` seconds, by default WAIT_SECONDS. Answers that quote it, or an earlier content of its file, lose
    those words at once, and again, for those that were being given, when the last reader is gone. What models replied about it, and
    to questions of this corpus, is forgotten with them, and so is what evaluations asked it. Our copy of what lies in an object
    store or was uploaded goes as well. With `now` one that was removed before may be named, of which something is left.
    Raises UnknownDocumentError, AmbiguousDocumentError, UnknownCorpusError or CorpusBusyError, and does nothing then.
    """
    patience = WAIT_SECONDS if patience is None else patience
    try:
        with open_for_reading(location) as snapshot:
            record, embedder = snapshot.find(asked, exact=True), snapshot.embedder
            counts = snapshot.counts(record.id)
    except UnknownDocumentError:
        before = _removed_before(location, asked) if now else None
        if before is None:
            raise
        return _finish_removal(location, before, asked, patience)
    with open_for_writing(location, embedder=embedder, wait_seconds=IngestSettings().work.lock_wait_seconds) as corpus:
        removal = removal_of(record)
        note_removals(location, [removal, *_earlier_contents(corpus, removal)])
        number = corpus.publish(removed=[record.id])
        forget_copies(removal.paths, location.home)
        uploads = forget_uploads(record.paths, location)
        forget_questions(location)
        cleaned = wipe(corpus, wait_seconds=patience) if now else clean_up(corpus)
    counted = {"uploads": uploads, "pages": counts.pages, "nodes": counts.nodes, "edges": counts.edges, "table_rows": counts.rows}
    gone = counted | _what_is_gone(cleaned)
    later = _what_goes_later(cleaned, now=now)
    return Receipt(record.id, record.name, number, gone, later, _file_stays(record.paths, location))


def _earlier_contents(corpus: CorpusWriter, removal: Removal) -> list[Removal]:
    """Return removals of what kept answers quote of the same file as it was before it changed."""
    known, published = documents_in_answers(corpus.location), {record.id for record in corpus.documents()}
    earlier = {document.id for document in known if document.name in removal.names} - published
    return [Removal(document, removal.moment) for document in sorted(earlier)]


def _removed_before(location: CorpusLocation, asked: str) -> Removal | None:
    """Return the removal, of which something is left, of the document with this file name or an id that begins so."""
    name, prefix = storable(asked), asked if ID_PREFIX.fullmatch(asked) else None
    named = (one for one in noted_removals(location) if name in one.names or (prefix and one.document_id.startswith(prefix)))
    return next(named, None)


def _finish_removal(location: CorpusLocation, removal: Removal, asked: str, patience: float) -> Receipt:
    """Wait for the readers of a removed document, and delete what it left."""
    with open_for_reading(location) as snapshot:
        embedder = snapshot.embedder
    with open_for_writing(location, embedder=embedder, wait_seconds=IngestSettings().work.lock_wait_seconds) as corpus:
        cleaned = wipe(corpus, wait_seconds=patience)
    gone = {"uploads": 0, **_what_is_gone(cleaned)}
    later = _what_goes_later(cleaned, now=True)
    return Receipt(removal.document_id, asked, corpus.snapshot, gone, later, _file_stays(removal.paths, location))


def _file_stays(paths: Iterable[str], location: CorpusLocation) -> bool:
    uploads = f"{uploads_folder(location.home)}/"
    return any(not path.startswith(uploads) and not is_address(path) for path in paths)


def _what_is_gone(cleaned: CleanedUp) -> dict[str, int]:
    return {
        "answer_texts": cleaned.answers_erased,
        "files": len(cleaned.garbage.artifacts),
        "bytes": cleaned.garbage.bytes_freed,
    }


def remove_corpus(location: CorpusLocation) -> RemovedCorpus:
    """Delete a corpus, be it damaged or half removed, the files that only it used, and what models replied about its documents.

    Our copies of what lies in object stores go with the last corpus that shows one of an address's documents.
    No command finds it from the first moment on; readers that have it open are waited for. Its folder goes last: what a kill
    left is finished by the same call. Raises UnknownCorpusError or CorpusBusyError, and does nothing then.
    """
    documents = _shown_documents(location)
    if not location.folder.is_dir():
        raise unknown_corpus(location, "see them all with `flowreader corpora list`")
    with locked(location.lock, wait_seconds=IngestSettings().work.lock_wait_seconds):
        known = sorted(_documents_known(location))
        # On a full disk nothing is noted: a corpus may be removed to make room, and only a kill needs the note.
        with suppress(DiskFullError):
            note_removals(location, [Removal(document, time.time()) for document in known])
        location.current.unlink(missing_ok=True)
        wait_for_readers(location, wait_seconds=WAIT_SECONDS)
        gone = _forget_told(location, known)
        shutil.rmtree(location.snapshots, ignore_errors=True)
        garbage = collect_garbage(location, keep_seconds=0.0, gone=gone)
        if not gone:
            forget_replies(location, garbage.documents)
        shutil.rmtree(uploads_folder(location.home) / location.name, ignore_errors=True)
        shutil.rmtree(location.folder)
    return RemovedCorpus(documents=documents, files=len(garbage.artifacts), postponed=garbage.postponed)


def _documents_known(location: CorpusLocation) -> set[str]:
    """Return the ids of all documents that the corpus's snapshots, answers or removals name, as far as they can be read."""
    known = {document.id for document in documents_in_answers(location)}
    known |= {removal.document_id for removal in noted_removals(location)}
    for number in snapshot_numbers(location):
        with suppress(CatalogDamagedError), opened(snapshot_path(location, number), read_only=True) as connection:
            known |= {record.id for record in read_documents(connection)}
    return known


def _forget_told(location: CorpusLocation, known: Collection[str]) -> list[str]:
    """Forget the words of the documents that are known or that the corpus' answers name by now; return their ids."""
    gone = sorted({document.id for document in documents_in_answers(location)}.union(known))
    forget_replies(location, gone)
    forget_questions(location)
    forget_reports(location.home, gone)
    return gone


def _shown_documents(location: CorpusLocation) -> int:
    try:
        with open_for_reading(location) as snapshot:
            return len(snapshot.documents())
    except (UnknownCorpusError, CurrentDamagedError, CatalogDamagedError, GraphDamagedError):
        return 0


def _what_goes_later(cleaned: CleanedUp, *, now: bool) -> str:
    hours = f"{KEEP_SECONDS / 3600:.0f} h"
    if cleaned.garbage.postponed:
        return f"its files stay for now: {cleaned.garbage.postponed}; the next ingest after {hours} deletes them"
    if not now:
        shown = "older snapshots, and what only they show,"
        return f"{shown} go with the first ingest after {hours}, or at once by the same command with --now"
    if cleaned.snapshots_kept:
        return f"snapshots {', '.join(map(str, cleaned.snapshots_kept))} are still being read; the next ingest deletes them"
    return "nothing of it is left in this corpus"
