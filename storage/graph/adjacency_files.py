"""The adjacency of pinned versions on the disk, next to LanceDB's tables: one folder of arrays, renamed into its place when whole.

It is derived and may be missing (a corpus that is being read in, a folder of an older program): then a reader derives its own.
What a disk altered is found by its checksum, which takes too long for a question: `load` looks at what could lead outside.
"""

import hashlib
import io
import os
import shutil
import stat
import tempfile
import time
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from storage.artifacts import sync_folder
from storage.codec import canonical_json
from storage.graph.adjacency import AGAINST, DIGEST, Adjacency, derive
from storage.graph.store import GraphStore
from storage.graph.tables import TableName
from storage.records.documents import EdgeKind, Modality, NodeKind, identify

NAMES = tuple(field.name for field in fields(Adjacency))
CHECKSUM = "checksum.json"
FORMAT = identify(CHECKSUM, *NAMES, *EdgeKind, *NodeKind, *Modality)[:8]
"""Changes with the files and with the kinds, whose codes stand in them."""

DTYPES: Mapping[str, npt.DTypeLike] = {
    "rows": np.uint64,
    "ids": DIGEST,
    "by_id": np.int32,
    "document_ids": DIGEST,
    "documents": np.int32,
    "pages": np.int32,
    "ordinals": np.int32,
    "kinds": np.uint8,
    "modalities": np.uint8,
    "meaningless": np.bool_,
    "summary_words": np.int32,
    "starts": np.int64,
    "heads": np.int32,
    "arc_kinds": np.uint8,
    "weights": np.float64,
}
HEADER_BYTES = 128
"""How an .npy file of a row of numbers begins, however many they are."""
OF_NODES = ("rows", "by_id", "documents", "pages", "ordinals", "kinds", "modalities", "meaningless", "summary_words")


def place_of(folder: Path, versions: Mapping[str, int]) -> Path:
    """Return where the adjacency of these versions lies, whether or not it is there."""
    return folder / "adjacency" / f"{FORMAT}-{versions['nodes']}-{versions['edges']}"


def place_beside(graph: GraphStore) -> Path:
    return place_of(graph.folder, graph.versions())


def adjacency_of(graph: GraphStore) -> Adjacency:
    """Return which nodes are linked: mapped from its files, or read out of the tables where there are none.

    Raise GraphDamagedError where the tables cannot be read.
    """
    return load(place_beside(graph)) or derive(graph)


def keep_adjacency(graph: GraphStore) -> None:
    """Write the adjacency of the newest versions, where it is not there yet or was altered."""
    place = place_beside(graph)
    if not intact(place):
        save(derive(graph), place)


def save(adjacency: Adjacency, place: Path) -> None:
    """Write the arrays and their checksum; a kill leaves nothing under the place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".partial-", dir=place.parent))
    try:
        for name in NAMES:
            with (scratch / f"{name}.npy").open("wb") as stream:
                np.save(stream, getattr(adjacency, name))
                stream.flush()
                os.fsync(stream.fileno())
        with (scratch / CHECKSUM).open("wb") as stream:
            stream.write(_checksum(scratch))
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


def _checksum(place: Path) -> bytes:
    """Return what the checksum's file says: one hash over all arrays."""
    hashes = []
    for name in NAMES:
        with (place / f"{name}.npy").open("rb") as stream:
            hashes.append(hashlib.file_digest(stream, "sha256").hexdigest())
    return canonical_json({"sha256": identify(*hashes)})


def intact(place: Path) -> bool:
    """Say whether the arrays are there, whole, and as they were written; reads all of them."""
    try:
        same = (place / CHECKSUM).read_bytes() == _checksum(place)
    except OSError:
        return False
    return same and load(place) is not None


def load(place: Path) -> Adjacency | None:
    """Map the arrays into memory; None where they are not there, not whole, or lead outside of themselves."""
    try:
        arrays = {name: _mapped(place / f"{name}.npy", DTYPES[name]) for name in NAMES}
    except (OSError, ValueError):
        return None
    adjacency = Adjacency(**arrays)
    return adjacency if _fits(adjacency) and _leads_inside(adjacency) and _ascends(adjacency) else None


def _mapped(path: Path, dtype: npt.DTypeLike) -> np.memmap[Any, Any]:
    """Map a file's array (n,); raise OSError or ValueError where the file is not just that.

    The header is compared with the one that numpy writes, never read: numpy runs what is altered through a parser of Python.
    """
    size, width = path.stat().st_size, np.dtype(dtype).itemsize
    count = max(0, size - HEADER_BYTES) // width
    with path.open("rb") as stream:
        if size != HEADER_BYTES + count * width or stream.read(HEADER_BYTES) != _header(dtype, count):
            raise ValueError(f"{path} holds something else than its array")
    return np.memmap(path, dtype, mode="r", offset=HEADER_BYTES, shape=(count,))


def _header(dtype: npt.DTypeLike, count: int) -> bytes:
    stream = io.BytesIO()
    about = {"descr": np.lib.format.dtype_to_descr(np.dtype(dtype)), "fortran_order": False, "shape": (count,)}
    np.lib.format.write_array_header_1_0(stream, about)
    return stream.getvalue()


def _fits(adjacency: Adjacency) -> bool:
    nodes, arcs = len(adjacency.ids), len(adjacency.heads)
    return {*(len(getattr(adjacency, name)) for name in OF_NODES), len(adjacency.starts) - 1} == {nodes} and (
        {len(adjacency.arc_kinds), len(adjacency.weights), int(adjacency.starts[-1])} == {arcs}
    )


def _leads_inside(adjacency: Adjacency) -> bool:
    """Say whether every position and code names something that is there."""
    nodes, documents = len(adjacency.ids), len(adjacency.document_ids)
    most = np.iinfo(np.int32).max + 1
    return (
        _below(adjacency.by_id, nodes)
        and _below(adjacency.heads, nodes)
        and _below(adjacency.documents, documents)
        and _below(adjacency.kinds, len(NodeKind))
        and _below(adjacency.modalities, len(Modality))
        and _below(adjacency.meaningless, 2)
        and _below(adjacency.arc_kinds & (AGAINST - 1), len(EdgeKind))
        and all(_below(counts, most) for counts in (adjacency.pages, adjacency.ordinals, adjacency.summary_words))
    )


def _below(numbers: npt.NDArray[np.generic], bound: int) -> bool:
    """Say whether all numbers lie in 0..bound - 1; seen without its sign, what is negative is too large."""
    return not len(numbers) or int(numbers.view(f"u{numbers.itemsize}").max()) < bound


def _ascends(adjacency: Adjacency) -> bool:
    """Say whether the arrays that are searched are in order, and the arcs of each node follow those of the one before."""
    starts = adjacency.starts
    return (
        int(starts[0]) == 0
        and bool((starts[1:] >= starts[:-1]).all())
        and bool((adjacency.rows[1:] > adjacency.rows[:-1]).all())
        and bool((adjacency.document_ids[1:] > adjacency.document_ids[:-1]).all())
        and bool(np.isfinite(adjacency.weights).all())
    )


def drop_old(graph: GraphStore, older_than: Mapping[TableName, timedelta]) -> None:
    """Delete the files of versions that are older than this, those of the newest aside."""
    # where one table has nothing old that is pinned, a snapshot may still pin something of the other
    drop_others(place_beside(graph), max(older_than[TableName.NODES], older_than[TableName.EDGES]))


def drop_others(kept: Path, older_than: timedelta) -> None:
    """Delete what was written longer ago than that, and what killed writers left; a reader that has one mapped keeps it."""
    for folder in kept.parent.glob("*"):
        if folder != kept and folder.stat().st_mtime <= time.time() - older_than.total_seconds():
            shutil.rmtree(folder)
