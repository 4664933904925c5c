"""What the corpora of this machine name, so that nothing else deletes it; and how to keep their writers out meanwhile."""

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from storage.catalog import catalog
from storage.catalog.current import snapshot_numbers, snapshot_path
from storage.locations import CorpusLocation
from storage.lock import lock_file, taken
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
    with lock_file(location.lock) as descriptor:
        yield taken(descriptor)


def in_use(locations: list[CorpusLocation]) -> tuple[set[str], set[str]]:
    """Return the documents and the artifacts that a snapshot of a corpus names."""
    return _named("SELECT id FROM documents", locations), _named("SELECT artifact FROM document_artifacts", locations)


def paths_in_use(locations: list[CorpusLocation]) -> set[str]:
    return set(map(os.fsdecode, _named("SELECT path FROM document_paths", locations)))


def _named(query: str, locations: list[CorpusLocation]) -> set[Any]:
    """Return what any snapshot of the corpora names."""
    named = set()
    for path in (snapshot_path(location, number) for location in locations for number in snapshot_numbers(location)):
        with catalog.opened(path, read_only=True) as connection:
            named |= {row[0] for row in connection.execute(query).fetchall()}
    return named


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
