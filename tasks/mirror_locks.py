"""Who works on mirrors: one process at a time brings one up to date, and none is deleted while somebody reads from it.

The locks go with the process that holds them, whatever ends it.
"""

from __future__ import annotations

import fcntl
import os
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from storage.locations import mirrors_folder
from storage.mirrored_copies import LOCK
from storage.object_address import StoreAddress, is_address
from tasks.object_copies import mirror_of
from tasks.progress import StoppedError, stop_requested

POLL_SECONDS = 0.1


@contextmanager
def copies_in_use(sources: Sequence[str]) -> Iterator[None]:
    """Have every mirror stay while the block runs, where one of the sources is an address; StoppedError where the user asks."""
    if not any(map(is_address, sources)):
        yield
        return
    with _opened(mirrors_folder()) as descriptor:
        _wait_for(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def updating(address: StoreAddress) -> Iterator[Path]:
    """Have a mirror for this process alone: a second run waits, and then finds what the first one fetched."""
    folder = mirror_of(address)
    with _opened(folder) as descriptor:
        _wait_for(descriptor, fcntl.LOCK_EX)
        # For people: the folder's name does not tell.
        os.pwrite(descriptor, f"{address.shown}\n".encode(), 0)
        yield folder


@contextmanager
def _opened(folder: Path) -> Iterator[int]:
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def _wait_for(descriptor: int, kind: int) -> None:
    while not _lock(descriptor, kind):
        if stop_requested():
            raise StoppedError
        threading.Event().wait(POLL_SECONDS)


def _lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
