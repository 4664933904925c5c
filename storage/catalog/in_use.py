"""What the corpora of this machine name, so that nothing else deletes it; and how to keep their writers out meanwhile."""

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from storage.catalog import catalog
from storage.catalog.current import snapshot_numbers, snapshot_path
from storage.errors import RequestError
from storage.locations import USUAL_CORPUS, CorpusLocation
from storage.lock import lock_file, try_lock


def corpora_in(folder: Path) -> list[CorpusLocation]:
    """Return every corpus in the folder, by name."""
    names = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
    return [CorpusLocation(name, folder / name) for name in sorted(names)]


def unnamed_corpus(there: Sequence[str]) -> str:
    """Return the corpus that is meant where none is named: the only one there is; raise RequestError where there are several."""
    if len(there) > 1:
        raise RequestError("there are several corpora, and none is named", "corpus", f"take one of {', '.join(there)}")
    return there[0] if there else USUAL_CORPUS


@contextmanager
def without_writers(location: CorpusLocation) -> Iterator[bool]:
    """Keep writers out of a corpus while the block runs; False where one is in."""
    with lock_file(location.lock) as descriptor:
        yield try_lock(descriptor)


def in_use(locations: list[CorpusLocation]) -> tuple[set[str], set[str]]:
    """Return the documents and the artifacts that a snapshot of a corpus names."""
    documents, artifacts = _query_snapshots(locations, "SELECT id FROM documents", "SELECT artifact FROM document_artifacts")
    return documents, artifacts


def paths_in_use(locations: list[CorpusLocation]) -> set[str]:
    (paths,) = _query_snapshots(locations, "SELECT path FROM document_paths")
    return set(map(os.fsdecode, paths))


def _query_snapshots(locations: list[CorpusLocation], *queries: str) -> list[set[Any]]:
    """Return what any snapshot of the corpora names, by query."""
    named: list[set[Any]] = [set() for _ in queries]
    for path in (snapshot_path(location, number) for location in locations for number in snapshot_numbers(location)):
        with catalog.open_database(path, read_only=True) as connection:
            for found, query in zip(named, queries, strict=True):
                found.update(row[0] for row in connection.execute(query).fetchall())
    return named
