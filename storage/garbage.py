"""What no corpus and no finished step needs any more: notes of steps, and artifacts. They are shared, so all corpora are asked."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage import catalog
from storage.call_cache import CallCache, questions_owner
from storage.corpora import corpora_in
from storage.current import snapshot_numbers, snapshot_path
from storage.locations import CorpusLocation
from storage.memo import StepMemo
from storage.shared_garbage import bring_others, forget_shared

KEEP_SECONDS = 3600.0
"""What was replaced stays so long for its readers: longer than any question may last."""

KEEP_REPLIES_SECONDS = 30 * 86400.0
"""Replies of models about documents that no corpus has stay so long: they cost money, and an ingest whose budget was used up may
go on after days. What is removed on purpose takes its replies along at once."""


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was deleted; `postponed` says in words what stood in the way, then nothing was. `bytes_freed` counts this machine's."""

    documents: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    bytes_freed: int = 0
    postponed: str = ""


def collect(
    corpora: Path, memo: StepMemo, calls: CallCache, *, keep_seconds: float, own: CorpusLocation, gone: Collection[str] = ()
) -> Garbage:
    """Delete notes and artifacts that are older and that nothing names: no snapshot of any corpus, no other document's note.

    Replies of models that belong to no corpus any more go when nobody asked for a month.

    The caller holds the lock of `own`. While another corpus is being written nothing is deleted: its ingest may be about to name
    an artifact. Nothing is deleted either where a corpus cannot be asked what it needs. From a shared store goes what goes here,
    and what any machine noted of the documents `gone`, which were removed on purpose, unless they are back.
    """
    before = time.time() - keep_seconds
    shared = memo.artifacts.shared
    with ExitStack() as locks:
        if shared is not None and (hindered := bring_others(shared, corpora, own)):
            return Garbage(postponed=hindered)
        locations = corpora_in(corpora)
        for location in locations:
            if location.folder != own.folder and not locks.enter_context(quiet(location)):
                return Garbage(postponed=f"corpus {location.name!r} is being written")
        try:
            documents, named = in_use(locations)
        except catalog.CatalogDamagedError as error:
            return Garbage(postponed=str(error))
        forgotten = forget_documents(memo, documents, before)
        forget_replies(calls, documents | {questions_owner(location.name) for location in locations})
        deleted, size = delete_files(unnamed_files(memo, named, before))
        if shared is not None:
            unwanted = {*forgotten, *gone} - documents
            elsewhere = forget_shared(shared, memo, documents=unwanted, artifacts=deleted, named=named)
            deleted = tuple(sorted({*deleted, *elsewhere}))
    return Garbage(documents=forgotten, artifacts=deleted, bytes_freed=size)


@contextmanager
def quiet(location: CorpusLocation) -> Iterator[bool]:
    """Keep writers out of a corpus while the block runs; False where one is in."""
    descriptor = os.open(location.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield alone(descriptor)
    finally:
        os.close(descriptor)


def alone(descriptor: int) -> bool:
    """Take the lock of an open file; say whether it was free."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def in_use(locations: list[CorpusLocation]) -> tuple[set[str], set[str]]:
    """Return the documents and the artifacts that a snapshot of a corpus names."""
    documents: set[str] = set()
    artifacts: set[str] = set()
    for location in locations:
        for number in snapshot_numbers(location):
            with catalog.opened(snapshot_path(location, number), read_only=True) as connection:
                documents |= {row[0] for row in connection.execute("SELECT id FROM documents").fetchall()}
                artifacts |= {row[0] for row in connection.execute("SELECT artifact FROM document_artifacts").fetchall()}
    return documents, artifacts


def paths_in_use(locations: list[CorpusLocation]) -> set[str]:
    """Return the paths and addresses that a snapshot of a corpus shows its documents at."""
    paths: set[str] = set()
    for location in locations:
        for number in snapshot_numbers(location):
            with catalog.opened(snapshot_path(location, number), read_only=True) as connection:
                paths |= {os.fsdecode(row[0]) for row in connection.execute("SELECT path FROM document_paths").fetchall()}
    return paths


def forget_documents(memo: StepMemo, kept: set[str], before: float) -> tuple[str, ...]:
    """Drop the notes of documents that no corpus has and that nobody worked on since."""
    idle = [
        document
        for document in memo.documents()
        if document not in kept and all(path.stat().st_mtime <= before for path in memo.of_document(document).iterdir())
    ]
    for document in idle:
        memo.forget(document)
    return tuple(idle)


def forget_replies(calls: CallCache, kept: set[str]) -> None:
    """Drop the replies of documents that no corpus has, and of questions to corpora that are gone, when they are old."""
    before = time.time() - KEEP_REPLIES_SECONDS
    for subject in calls.subjects():
        if subject not in kept and calls.path(subject).stat().st_mtime <= before:
            calls.forget(subject)


def unnamed_files(memo: StepMemo, named: set[str], before: float) -> list[Path]:
    """Return the old files of the store that neither a corpus names nor a note, half-written ones among them."""
    kept = named.union(*(memo.artifacts_of(document) for document in memo.documents()))
    return [path for path in memo.artifacts.files() if path.name not in kept and path.stat().st_mtime <= before]


def delete_files(paths: list[Path]) -> tuple[tuple[str, ...], int]:
    """Delete the files; return their names and how many bytes they were."""
    size = sum(path.stat().st_size for path in paths)
    for path in paths:
        path.unlink()
    return tuple(sorted(path.name for path in paths)), size
