"""The Prefect server that `make up` runs for a home: commands beside it find it here, where they are told of no other."""

from __future__ import annotations

import fcntl
import os
import time
from pathlib import Path

from storage.locations import home

TRIES, PAUSE_SECONDS = 5, 0.05
"""Whoever looks for a server holds the file for an instant."""


def take_home() -> int | None:
    """Return the open file that makes this process the only one that is up for its home; None where there is another."""
    descriptor = os.open(_file(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    for _ in range(TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            time.sleep(PAUSE_SECONDS)
        else:
            os.ftruncate(descriptor, 0)
            return descriptor
    os.close(descriptor)
    return None


def note_server(held: int, address: str) -> None:
    """Write down where the server is whose home was taken."""
    os.pwrite(held, address.encode(), 0)


def server_of_home() -> str | None:
    """Return the address of the server that is up for this home, None where nobody is up."""
    try:
        with _file().open(encoding="utf-8") as noted:
            try:
                fcntl.flock(noted, fcntl.LOCK_SH | fcntl.LOCK_NB)
            except BlockingIOError:
                return noted.read() or None
    except FileNotFoundError:
        pass
    return None


def _file() -> Path:
    return home() / "up.lock"
