"""What the corpora of this machine name, so that nothing else deletes it; and how to keep their writers out meanwhile."""

import fcntl
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from storage.catalog import catalog
from storage.catalog.current import snapshot_numbers, snapshot_path
from storage.locations import CorpusLocation
from storage.memo import StepMemo


def corpora_in(folder: Path) -> list[CorpusLocation]:
    """Return every corpus in the folder, by name."""
    names = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
    return [CorpusLocation(name, folder / name) for name in sorted(names)]


KEEP_SECONDS = 3600.0
"""What was replaced stays so long for its readers: longer than any question may last."""


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
    paths: set[str] = set()
    for location in locations:
        for number in snapshot_numbers(location):
            with catalog.opened(snapshot_path(location, number), read_only=True) as connection:
                paths |= {os.fsdecode(row[0]) for row in connection.execute("SELECT path FROM document_paths").fetchall()}
    return paths


def unnamed_files(memo: StepMemo, named: set[str], before: float) -> list[Path]:
    """Return the old files of the store that neither a corpus names nor a note, half-written ones among them."""
    kept = named.union(*(memo.artifacts_of(document) for document in memo.documents()))
    return [path for path in memo.artifacts.files() if path.name not in kept and is_older(path, before)]


def is_older(path: Path, moment: float) -> bool:
    """Say whether the file was last written before the moment (seconds since 1970); one that just went is not."""
    with suppress(FileNotFoundError):
        return path.stat().st_mtime <= moment
    return False


def delete_files(paths: Iterable[Path]) -> tuple[tuple[str, ...], int]:
    """Delete the files, but for those that go meanwhile; return the names of what was deleted, and how many bytes that was."""
    deleted: list[tuple[str, int]] = []
    for path in paths:
        with suppress(FileNotFoundError):
            size = path.stat().st_size
            path.unlink()
            deleted.append((path.name, size))
    return tuple(sorted(name for name, _ in deleted)), sum(size for _, size in deleted)
