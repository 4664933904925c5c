"""What no corpus and no finished step needs any more: notes of steps, and artifacts. They are shared, so all corpora are asked."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage import catalog
from storage.current import snapshot_numbers, snapshot_path
from storage.locations import CorpusLocation
from storage.memo import StepMemo


@dataclass(frozen=True, slots=True)
class Garbage:
    """What was deleted; `postponed` names the corpus that stands in the way, then nothing was."""

    documents: tuple[str, ...] = ()
    artifacts: tuple[str, ...] = ()
    bytes_freed: int = 0
    postponed: str = ""


def collect(corpora: Path, memo: StepMemo, *, keep_seconds: float, own: CorpusLocation) -> Garbage:
    """Delete notes and artifacts that are older and that nothing names: no snapshot of any corpus, no other document's note.

    The caller holds the lock of `own`. While another corpus is being written nothing is deleted: its ingest may be about to name
    an artifact. Nothing is deleted either where a corpus cannot be asked what it needs.
    """
    before = time.time() - keep_seconds
    with ExitStack() as locks:
        locations = [CorpusLocation(name=entry.name, folder=entry) for entry in sorted(corpora.iterdir()) if entry.is_dir()]
        for location in locations:
            if location.folder != own.folder and not locks.enter_context(quiet(location)):
                return Garbage(postponed=location.name)
        try:
            documents, named = in_use(locations)
        except catalog.CatalogDamagedError as error:
            return Garbage(postponed=str(error))
        forgotten = forget_documents(memo, documents, before)
        named |= {name for document in memo.documents() for name in memo.artifacts_of(document)}
        deleted, size = delete_artifacts(memo, named, before)
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


def delete_artifacts(memo: StepMemo, named: set[str], before: float) -> tuple[tuple[str, ...], int]:
    """Delete old files of the store that nothing names, half-written ones among them; return their names and bytes."""
    deleted: list[str] = []
    size = 0
    for path in memo.artifacts.files():
        status = path.stat()
        if path.name not in named and status.st_mtime <= before:
            path.unlink()
            deleted.append(path.name)
            size += status.st_size
    return tuple(sorted(deleted)), size
