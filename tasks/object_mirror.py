"""Copies of the objects below an address, kept from one ingest to the next: what is unchanged is listed and not fetched.

A copy's name says of which address and tag it is, so that no list can disagree with what lies there; it is written under another
name and renamed when it is whole. A mirror may be deleted at any time: it costs the next ingest the downloads.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import re
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from storage.disk import full_disk_explained, require_room
from storage.locations import mirrors_folder
from storage.object_address import StoreAddress
from tasks.discovery import UNREADABLE
from tasks.object_source import ListedObject, ObjectSkippedError, ObjectSource
from tasks.progress import StoppedError, stop_requested

FETCHED_AT_ONCE = 8
"""A store answers in some 30 ms; more at once gains little on one machine's line."""

POLL_SECONDS = 0.1
PARTIAL = ".partial-"
LOCK = "lock"
SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,16}$")


@dataclass(frozen=True, slots=True)
class MirroredObject:
    """An object, as it is shown, with its copy; or why there is none."""

    shown: str
    copy: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Mirror:
    """The folder of an address's copies, held by this process."""

    address: StoreAddress
    folder: Path
    most_bytes: int

    def copy_of(self, found: ListedObject) -> Path:
        """Return where the copy of an object lies, whether or not it is there; readers want its suffix, and nothing else of it."""
        suffix = SUFFIX.search(found.key)
        shown = StoreAddress(self.address.bucket, found.key).shown
        return self.folder / f"{_digest(shown)}-{_digest(found.tag)[:16]}{suffix[0].lower() if suffix else ''}"

    def has(self, found: ListedObject) -> bool:
        """Say whether the copy is there, whole."""
        try:
            return self.copy_of(found).stat().st_size == found.size_bytes
        except FileNotFoundError:
            return False

    def reason_against(self, found: ListedObject) -> str:
        """Return why an object is not to be fetched, "" where it may be a document."""
        parts = found.key.split("/")
        if any(part.startswith(".") and part.strip(".") for part in parts if not part.startswith("..")):
            return "hidden; name it to have it read" if found.key != self.address.key else ""
        if not parts[-1]:
            return "its key ends in '/': the mark of a folder, not a document"
        if found.size_bytes > self.most_bytes:
            return f"larger than {self.most_bytes >> 20} MB (limits.file_megabytes)"
        return ""


def mirrored(
    address: StoreAddress, *, wanted: Callable[[str], bool], file_megabytes: int
) -> tuple[tuple[MirroredObject, ...], frozenset[str]]:
    """Bring the mirror up to date; return the objects that `wanted` takes, by address, and how every object is shown.

    `wanted` gets what globs match. Raises StoreError, DiskFullError or StoppedError; what was fetched by then is kept.
    """
    with _held(address, file_megabytes << 20) as mirror:
        store = ObjectSource(address)
        listed = tuple(store.listed())
        reasons = {found.key: mirror.reason_against(found) for found in listed}
        chosen = [found for found in listed if not _is_mark(found) and (reasons[found.key] or wanted(address.inner(found.key)))]
        missing = [found for found in chosen if not reasons[found.key] and not mirror.has(found)]
        reasons |= _fetch(mirror, store, missing)
        _remove_all_but(mirror, {mirror.copy_of(found).name for found in listed})
    shown = {found.key: StoreAddress(address.bucket, found.key).shown for found in listed}
    objects = [MirroredObject(shown[found.key], str(mirror.copy_of(found)), reasons[found.key]) for found in chosen]
    return tuple(sorted(objects, key=lambda one: one.shown)), frozenset(shown.values())


def copy_in_mirrors(shown: str) -> str | None:
    """Return the youngest copy of an object as `StoreAddress.shown` names it, None where there is none."""
    copies = sorted(mirrors_folder().glob(f"*/{_digest(shown)}-*"), key=lambda path: path.stat().st_mtime)
    return str(copies[-1]) if copies else None


def forget_copies(shown: Sequence[str]) -> None:
    """Delete the copies of objects: who removes a document leaves no copy of it with us."""
    for one in shown:
        for path in mirrors_folder().glob(f"*/{_digest(one)}-*"):
            path.unlink(missing_ok=True)


@contextmanager
def _held(address: StoreAddress, most_bytes: int) -> Iterator[_Mirror]:
    """Have the mirror for this process alone: a second run waits, and then finds what the first one fetched."""
    folder = mirrors_folder() / _digest(address.shown)
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        while not _alone(descriptor):
            if stop_requested():
                raise StoppedError
            threading.Event().wait(POLL_SECONDS)
        # For people: the folder's name does not tell.
        os.pwrite(descriptor, f"{address.shown}\n".encode(), 0)
        yield _Mirror(address, folder, most_bytes)
    finally:
        os.close(descriptor)


def _alone(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _fetch(mirror: _Mirror, store: ObjectSource, missing: Sequence[ListedObject]) -> dict[str, str]:
    """Fetch what is missing; return by key why some could not be."""
    needed_bytes = sum(found.size_bytes for found in missing)
    require_room(mirror.folder, needed_bytes)
    ending = threading.Event()

    def one(found: ListedObject) -> str:
        try:
            _fetch_one(mirror, store, found, ending)
        except ObjectSkippedError as error:
            return f"{UNREADABLE}: {error}"
        return ""

    with full_disk_explained(mirror.folder, needed_bytes), ThreadPoolExecutor(FETCHED_AT_ONCE) as pool:
        try:
            return dict(zip((found.key for found in missing), pool.map(one, missing), strict=True))
        finally:
            # After an error or Ctrl-C, what is at work ends and what waits never begins.
            ending.set()


def _fetch_one(mirror: _Mirror, store: ObjectSource, found: ListedObject, ending: threading.Event) -> None:
    """Make a copy under another name, and rename it when it is whole and on the disk."""
    descriptor, temporary = tempfile.mkstemp(prefix=PARTIAL, dir=mirror.folder)
    try:
        with os.fdopen(descriptor, "wb") as stream:
            store.fetch(found, stream, ended=ending.is_set)
            stream.flush()
            os.fsync(stream.fileno())
        Path(temporary).replace(mirror.copy_of(found))
    finally:
        Path(temporary).unlink(missing_ok=True)


def _remove_all_but(mirror: _Mirror, kept: set[str]) -> None:
    """Delete copies of what vanished or changed, and what a killed run left half written."""
    for entry in mirror.folder.iterdir():
        if entry.name not in kept and entry.name != LOCK:
            entry.unlink(missing_ok=True)


def _is_mark(found: ListedObject) -> bool:
    """Say whether an object only marks a folder, as consoles make them."""
    return found.key.endswith("/") and not found.size_bytes


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:40]
