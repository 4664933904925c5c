"""Removing documents and corpora: unpublished at once, deleted when no reader can see them any more."""

import shutil
import time
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass

from storage.catalog.catalog import CatalogDamagedError, documents_in
from storage.catalog.current import delete_question_files, snapshot_numbers, snapshot_path
from storage.catalog.removals import note_removals, read_removals
from storage.cleaning import owners
from storage.cleaning.garbage import KEEP_SECONDS, Garbage, collect
from storage.cleaning.snapshots import without_readers
from storage.corpus.snapshot import Snapshot, open_for_reading, unknown_corpus
from storage.corpus.writer import CorpusWriter, open_for_writing
from storage.errors import UnknownError
from storage.locations import ID_PREFIX, CorpusLocation, uploads_folder
from storage.lock import hold_lock
from storage.object_address import is_address
from storage.text import storable

WAIT_SECONDS = 600.0
"""`--now` waits this long for the readers of older snapshots: no question lasts longer."""
LOCK_SECONDS = 5.0
"""For a corpus that is being written."""
ASKED_AGAIN_SECONDS = 30 * 86_400
"""What a question left is deleted after this time, even where its snapshot stays."""


@dataclass(frozen=True, slots=True)
class CleanedUp:
    """What a clean-up deleted, and the snapshots that stay because they are young or being read.

    `answers_erased` counts the answers that lost words of removed documents.
    """

    snapshots_kept: tuple[int, ...]
    garbage: Garbage
    answers_erased: int

    @property
    def complete(self) -> bool:
        return not (self.snapshots_kept or self.garbage.postponed)


def clean_up(corpus: CorpusWriter, *, now: bool = False, wait_seconds: float = 0.0) -> CleanedUp:
    """Delete what was replaced longer ago than any question lasts, and what nothing names any more.

    `now`, and when a removal is that old, the corpus is rewritten so that no file holds a word of what was removed, once its
    readers have let go. Answers are then searched twice: at once, and when the last reader is gone, which may just have answered.
    """
    location, purging = corpus.location, now or purge_is_due(corpus.location)
    keep_seconds = 0.0 if purging else KEEP_SECONDS
    delete_question_files(location.asked, before=time.time() - ASKED_AGAIN_SECONDS)
    erased = forget_removed(corpus)
    if purging:
        kept = corpus.purge(wait_seconds=wait_seconds)
        erased += forget_removed(corpus)
        owners.forget_questions(location)
    else:
        kept = corpus.tidy(keep_seconds=keep_seconds)
    cleaned = CleanedUp(kept, collect(location, keep_seconds=keep_seconds), erased)
    if purging and cleaned.complete:
        location.purge_due.unlink(missing_ok=True)
    return cleaned


def purge_is_due(location: CorpusLocation) -> bool:
    """Say whether a document was removed so long ago that no reader can still have it open; one noted in the future counts too."""
    return location.purge_due.exists() and not 0 <= time.time() - read_removals(location).since <= KEEP_SECONDS


def forget_removed(corpus: CorpusWriter) -> int:
    """Forget the words of removed documents, and our copies of them, unless they are back; return how many answers lost words.

    A copy of what is published now at the same address stays.
    """
    removed, published = read_removals(corpus.location).paths, corpus.documents()
    shown = {path for record in published for path in record.paths}
    paths = {path for paths in removed.values() for path in paths} - shown
    return owners.forget(corpus.location, removed.keys() - {record.id for record in published}, paths)


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
class Removed:
    """A document that is to go: its paths, and how much of it is published, nothing where it was removed before."""

    document_id: str
    name: str
    paths: tuple[str, ...]
    published: Mapping[str, int]


def remove_document(location: CorpusLocation, asked: str, *, now: bool, patience: float | None = None) -> Receipt:
    """Unpublish a document, named by id or file name; with `now` wait for its readers and delete what it left.

    They are waited for `patience` seconds, by default WAIT_SECONDS. Answers that quote it, or an earlier content of its file, lose
    those words at once, and again, for those that were being given, when the last reader is gone. What models replied about it, and
    to questions of this corpus, is forgotten with them, and so is what evaluations asked it. Our copy of what lies in an object
    store or was uploaded goes as well. With `now` a document may be named that was removed before and left something.
    Raises UnknownError, AmbiguousError, UnknownCorpusError or CorpusBusyError, and does nothing then.
    """
    with open_for_reading(location) as snapshot:
        document, embedder = _find_document(snapshot, asked, now=now), snapshot.embedder
    with open_for_writing(location, embedder=embedder, wait_seconds=LOCK_SECONDS) as corpus:
        uploads = 0
        if document.published:
            note_removals(location, {document.document_id: document.paths, **_earlier_contents(corpus, document)})
            corpus.publish(removed=[document.document_id])
            uploads = owners.forget_uploads(document.paths, location)
        owners.forget_questions(location)
        cleaned = clean_up(corpus, now=now, wait_seconds=WAIT_SECONDS if patience is None else patience)
    gone = {
        "uploads": uploads,
        **document.published,
        "answer_texts": cleaned.answers_erased,
        "files": len(cleaned.garbage.artifacts),
        "bytes": cleaned.garbage.bytes_freed,
    }
    later, stays = _what_goes_later(cleaned, now=now), _file_stays(document.paths, location)
    return Receipt(document.document_id, document.name, corpus.snapshot, gone, later, stays)


def _find_document(snapshot: Snapshot, asked: str, *, now: bool) -> Removed:
    """Return the document with this file name or beginning of its id; with `now` also a removed one that left something."""
    try:
        record = snapshot.find(asked, exact=True)
    except UnknownError:
        prefix = asked if ID_PREFIX.fullmatch(asked) else None
        for document, paths in read_removals(snapshot.location).paths.items() if now else ():
            if storable(asked) in _names(paths) or (prefix and document.startswith(prefix)):
                return Removed(document, asked, paths, {})
        raise
    counts = snapshot.counts(record.id)
    published = {"pages": counts.pages, "nodes": counts.nodes, "edges": counts.edges, "table_rows": counts.table_rows}
    return Removed(record.id, record.name, record.paths, published)


def _names(paths: Iterable[str]) -> set[str]:
    return {storable(path).rsplit("/", 1)[-1] for path in paths}


def _earlier_contents(corpus: CorpusWriter, removed: Removed) -> dict[str, tuple[str, ...]]:
    """Return what kept answers quote of the same file as it was before it changed, by id."""
    names, published = _names(removed.paths), {record.id for record in corpus.documents()}
    known = owners.documents_in_answers(corpus.location)
    return {document.id: () for document in known if document.name in names and document.id not in published}


def _file_stays(paths: Iterable[str], location: CorpusLocation) -> bool:
    uploads = f"{uploads_folder(location.home)}/"
    return any(not path.startswith(uploads) and not is_address(path) for path in paths)


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


@dataclass(frozen=True, slots=True)
class RemovedCorpus:
    """How much a removed corpus held, and how many files only it used went; `postponed` says what they wait for, if anything."""

    documents: int
    files: int
    postponed: str


def remove_corpus(location: CorpusLocation) -> RemovedCorpus:
    """Delete a corpus, even a damaged or half removed one, the files that only it used, and models' replies about its documents.

    Our copies of what lies in object stores go with the last corpus that shows it. No command finds the corpus from the first
    moment on; readers that have it open are waited for. Its snapshots, which say what it held, stay until what models replied has
    gone, and its folder goes last: what a kill left is finished by the same call. Raises UnknownCorpusError or CorpusBusyError, and
    does nothing then.
    """
    if not location.folder.is_dir():
        raise unknown_corpus(location, "see them all with `flowreader corpora list`")
    with hold_lock(location.lock, wait_seconds=LOCK_SECONDS):
        location.current.unlink(missing_ok=True)
        with without_readers(location, wait_seconds=WAIT_SECONDS):
            known, documents = _list_known_documents(location)
            owners.forget_replies(location, known)
            owners.forget_reports(location.home, known)
            owners.forget_questions(location)
            shutil.rmtree(location.snapshots, ignore_errors=True)
        garbage = collect(location, keep_seconds=0.0)
        if not known:
            owners.forget_replies(location, garbage.documents)
        shutil.rmtree(uploads_folder(location.home) / location.name, ignore_errors=True)
        shutil.rmtree(location.folder)
    return RemovedCorpus(documents=documents, files=len(garbage.artifacts), postponed=garbage.postponed)


def _list_known_documents(location: CorpusLocation) -> tuple[set[str], int]:
    """Return the ids of all documents that snapshots, answers or removals name, and how many the newest snapshot has.

    What is damaged names none.
    """
    known, shown = {document.id for document in owners.documents_in_answers(location)} | read_removals(location).paths.keys(), 0
    for number in snapshot_numbers(location):
        with suppress(CatalogDamagedError):
            records = documents_in(snapshot_path(location, number), read_only=True)
            known, shown = known | {record.id for record in records}, len(records)
    return known, shown
