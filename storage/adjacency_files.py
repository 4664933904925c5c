"""The adjacency of pinned versions on the disk, beside LanceDB's tables: one folder of arrays, renamed into its place when whole.

It is derived and may be missing (a corpus that is being read in, a folder of an older program): then a reader derives its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
import time
from collections.abc import Mapping
from dataclasses import fields
from datetime import timedelta
from pathlib import Path

import numpy as np

from storage.adjacency import Adjacency
from storage.artifacts import sync_folder
from storage.records import EdgeKind, Modality, NodeKind, identify

FORMAT = identify(*(field.name for field in fields(Adjacency)), *EdgeKind, *NodeKind, *Modality)[:8]
"""Changes with the arrays and with the kinds, whose codes stand in them."""


def place_of(folder: Path, versions: Mapping[str, int]) -> Path:
    """Return where the adjacency of these versions lies, whether or not it is there."""
    return folder / "adjacency" / f"{FORMAT}-{versions['nodes']}-{versions['edges']}"


def save(adjacency: Adjacency, place: Path) -> None:
    """Write the arrays; a kill leaves nothing under the place."""
    place.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=".partial-", dir=place.parent))
    try:
        for field in fields(Adjacency):
            with (scratch / f"{field.name}.npy").open("wb") as stream:
                np.save(stream, getattr(adjacency, field.name))
                stream.flush()
                os.fsync(stream.fileno())
        shutil.rmtree(place, ignore_errors=True)  # what could not be loaded
        scratch.rename(place)
    except BaseException:
        shutil.rmtree(scratch, ignore_errors=True)
        raise
    sync_folder(place.parent)


def load(place: Path) -> Adjacency | None:
    """Map the arrays into memory; None where they are not there, or not whole."""
    try:
        arrays = {field.name: np.load(place / f"{field.name}.npy", mmap_mode="r") for field in fields(Adjacency)}
    except (OSError, ValueError, EOFError):
        return None
    adjacency = Adjacency(**arrays)
    return adjacency if _fits(adjacency) else None


def _fits(adjacency: Adjacency) -> bool:
    """Say whether the arrays belong together."""
    count, arcs = len(adjacency.ids), len(adjacency.heads)
    lengths = {
        len(getattr(adjacency, name))
        for name in ("rows", "by_id", "documents", "pages", "ordinals", "kinds", "modalities", "summary_words")
    }
    return lengths | {len(adjacency.meaningless), len(adjacency.starts) - 1} == {count} and (
        {len(adjacency.arc_kinds), len(adjacency.weights), int(adjacency.starts[-1])} == {arcs}
    )


def drop_others(kept: Path, older_than: timedelta) -> None:
    """Delete what was written longer ago than that, and what killed writers left; a reader that has one mapped keeps it."""
    for folder in kept.parent.glob("*"):
        if folder != kept and folder.stat().st_mtime <= time.time() - older_than.total_seconds():
            shutil.rmtree(folder)
