"""The folder of this machine that is a copy of a corpus in the store: of which store, and one process at a time that changes it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager

from storage.artifacts import write_durably
from storage.locations import CorpusLocation
from storage.object_address import StoreAddress


class StoreMismatchError(RuntimeError):
    """A folder that holds a corpus of this machine alone, or a copy of another store's."""


@contextmanager
def made_one(location: CorpusLocation, address: StoreAddress) -> Iterator[None]:
    """Keep the other processes of this machine from moving its CURRENT; raise StoreMismatchError where it is not of this store."""
    location.folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(location.fetch_lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        require_copy_of(location, address)
        yield
    finally:
        os.close(descriptor)


def require_copy_of(location: CorpusLocation, address: StoreAddress) -> None:
    """Raise StoreMismatchError where the folder holds a corpus that is not a copy of this store's; note on a new one that it is."""
    if location.store_note.exists():
        noted = location.store_note.read_text("utf-8")
        if noted == address.uri:
            return
        what = f"is a copy of {noted!r}"
    elif location.current.exists() or location.catalog.exists():
        what = "is of this machine alone"
    else:
        write_durably(location.store_note, address.uri.encode())
        return
    raise StoreMismatchError(
        f"corpus {location.name!r} in {str(location.home)!r} {what}, not of {address.uri!r}; "
        "take another FLOWREADER_HOME, another --corpus NAME, or the FLOWREADER_STORE that it is of"
    )
