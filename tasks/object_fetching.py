"""Fetching objects into files: several at once, each whole or not at all.

A copy is written under another name and renamed when it is whole.
"""

from __future__ import annotations

import os
import tempfile
import threading
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from storage.disk import full_disk_explained, require_room
from tasks.discovery import UNREADABLE
from tasks.object_source import ListedObject, ObjectSkippedError, ObjectSource

FETCHED_AT_ONCE = 8
"""A store answers in some 30 ms; more at once gains little on one machine's line."""
PARTIAL = ".partial-"


@dataclass(frozen=True, slots=True)
class Ahead:
    """What is about to be fetched from below an address, as that is shown."""

    shown: str
    objects: int
    size_bytes: int


Tell = Callable[[Ahead], None]


def tell_nobody(_ahead: Ahead) -> None:
    """Hear it where nobody waits for it."""


def fetch_all(source: ObjectSource, wanted: Mapping[ListedObject, Path], folder: Path, tell: Tell) -> dict[str, str]:
    """Fetch each object to its path in the folder; return by key why some could not be, "" for the others.

    `tell` hears of it before. Raises StoreError, DiskFullError or StoppedError; what was fetched by then is kept.
    """
    if not wanted:
        return {}
    needed_bytes = sum(found.size_bytes for found in wanted)
    require_room(folder, needed_bytes)
    tell(Ahead(source.address.shown, len(wanted), needed_bytes))
    ending = threading.Event()

    def one(found: ListedObject) -> str:
        try:
            _fetch_one(source, found, wanted[found], ending)
        except ObjectSkippedError as error:
            return f"{UNREADABLE}: {error}"
        return ""

    with full_disk_explained(folder, needed_bytes), ThreadPoolExecutor(FETCHED_AT_ONCE) as pool:
        try:
            return dict(zip((found.key for found in wanted), pool.map(one, wanted), strict=True))
        finally:
            # After an error or Ctrl-C, what is at work ends and what waits never begins.
            ending.set()


def _fetch_one(source: ObjectSource, found: ListedObject, target: Path, ending: threading.Event) -> None:
    """Make a copy under another name, and rename it when it is whole and on the disk."""
    descriptor, temporary = tempfile.mkstemp(prefix=PARTIAL, dir=target.parent)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            source.fetch(found, stream, ended=ending.is_set)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(target)
    finally:
        Path(temporary).unlink(missing_ok=True)
