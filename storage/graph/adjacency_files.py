"""The adjacency of pinned versions on the disk, next to LanceDB's tables: one folder of arrays, renamed into its place when whole.

It is derived and may be missing or altered (a corpus that is being read in, a folder of an older program): then a reader
derives its own.
"""

import os
import shutil
import stat
import tempfile
import time
import zlib
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import numpy as np

from storage.artifacts import sync_folder
from storage.codec import canonical_json
from storage.graph.adjacency import Adjacency, derive
from storage.graph.store import GraphStore
from storage.graph.tables import TableName
from storage.records.documents import EdgeKind, Modality, NodeKind, identify

NAMES = tuple(field.name for field in fields(Adjacency))
CHECKSUMS = "crc32.json"
FORMAT = identify(CHECKSUMS, *NAMES, *EdgeKind, *NodeKind, *Modality)[:8]
"""Changes with the files and with the kinds, because the files hold their codes."""


def place_of(folder: Path, versions: Mapping[str, int]) -> Path:
    """Return where the adjacency of these versions lies, whether or not it is there."""
    return folder / "adjacency" / f"{FORMAT}-{versions['nodes']}-{versions['edges']}"


def place_next_to(graph: GraphStore) -> Path:
    return place_of(graph.folder, graph.versions())


def adjacency_of(graph: GraphStore) -> Adjacency:
    """Return which nodes are linked: mapped from its files, or read out of the tables where there are none.

    Raise GraphDamagedError where the tables cannot be read.
    """
    return load(place_next_to(graph)) or derive(graph)


def keep_adjacency(graph: GraphStore) -> None:
    """Write the adjacency of the newest versions, where it is not there yet or was altered."""
    place = place_next_to(graph)
    if load(place) is None:
        save(derive(graph), place)


def save(adjacency: Adjacency, place: Path) -> None:
    """Write the arrays and their checksums; a kill leaves nothing under the place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".partial-", dir=place.parent))
    try:
        for name in NAMES:
            with (scratch / f"{name}.npy").open("wb") as stream:
                np.save(stream, getattr(adjacency, name))
                stream.flush()
                os.fsync(stream.fileno())
        with (scratch / CHECKSUMS).open("wb") as stream:
            stream.write(_checksums(scratch))
            stream.flush()
            os.fsync(stream.fileno())
        # a temporary folder is its maker's alone; a corpus may be read by others
        scratch.chmod(stat.S_IMODE(place.parent.stat().st_mode))
        shutil.rmtree(place, ignore_errors=True)  # what was altered
        scratch.rename(place)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    sync_folder(place.parent)


def _checksums(place: Path) -> bytes:
    """Return what the file of checksums says; a CRC of thirty megabytes takes eight milliseconds, a SHA-256 fifty."""
    return canonical_json({name: zlib.crc32(np.memmap(place / f"{name}.npy", np.uint8, mode="r").data) for name in NAMES})


def load(place: Path) -> Adjacency | None:
    """Map the arrays into memory; None where they are not there, or not as they were written."""
    try:
        if (place / CHECKSUMS).read_bytes() != _checksums(place):
            return None
        return Adjacency(**{name: np.load(place / f"{name}.npy", mmap_mode="r") for name in NAMES})
    except (OSError, ValueError):  # missing or empty
        return None


def drop_old(graph: GraphStore, older_than: Mapping[TableName, timedelta]) -> None:
    """Delete the files of versions that are older than this, those of the newest aside, and what killed writers left.

    A reader that has one mapped keeps it.
    """
    newest = place_next_to(graph)
    # where one table has nothing old that is pinned, a snapshot may still pin something of the other
    age = max(older_than[TableName.NODES], older_than[TableName.EDGES]).total_seconds()
    for folder in newest.parent.glob("*"):
        if folder != newest and folder.stat().st_mtime <= time.time() - age:
            shutil.rmtree(folder)
