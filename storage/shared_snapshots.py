"""The published snapshots of a corpus in the store, and their copies on this machine: what CURRENT in the store says is the truth.

Each machine keeps copies in its own folder, so all that reads or mends a corpus works on files as it does without a store. The copy
of CURRENT moves under a lock of this machine, together with the store's or after it, never before.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict

from storage import catalog
from storage.artifacts import hash_bytes, write_durably
from storage.current import (
    Current,
    CurrentDamagedError,
    drop_snapshot,
    file_hash,
    intact,
    read_current,
    snapshot_numbers,
    snapshot_path,
)
from storage.lease import NAME as LEASE
from storage.locations import CorpusLocation
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore
from storage.shared_current import NAME, NOTHING, claim, move, read_published

SNAPSHOTS = "snapshots/"


class StoreMismatchError(RuntimeError):
    """A folder that holds a corpus of this machine alone, or a copy of another store's."""


def fetch(location: CorpusLocation, address: StoreAddress) -> None:
    """Make this machine's CURRENT and snapshot those of the store; a corpus that the store does not have goes here too."""
    published = read_published(ObjectStore(address))
    with suppress(CurrentDamagedError):
        if published is not None and read_current(location) == published.pointer:
            return
    if published is None and not location.folder.exists():
        return
    with made_one(location, address):
        published = read_published(ObjectStore(address))
        if published is None or published.pointer == NOTHING:
            location.current.unlink(missing_ok=True)
        else:
            bring(location, ObjectStore(address), published.pointer)


def take_up(location: CorpusLocation, address: StoreAddress, fence: int) -> None:
    """Claim the store's CURRENT for this writer, so that none before it can move it, and begin where the store is.

    A catalog that is not of the published snapshot is replaced by it: another machine wrote since.
    """
    store = ObjectStore(address)
    with made_one(location, address):
        published = claim(location.name, store, fence)
        if in_step(location, published):
            return
        log = location.catalog.with_name(f"{location.catalog.name}.wal")
        for stale in (location.catalog_note, location.current, log, location.catalog):
            stale.unlink(missing_ok=True)
        if published == NOTHING:
            _drop_copies(location, but=None)
        else:
            bring(location, store, published)
            write_durably(location.catalog, snapshot_path(location, published.snapshot).read_bytes())
            write_durably(location.catalog_note, written(published))


def in_step(location: CorpusLocation, published: Current) -> bool:
    """Say whether this machine's files are of that snapshot; its catalog may be ahead by a publish that was cut short."""
    try:
        noted = location.catalog_note.read_bytes()
        return noted == written(published) and read_current(location) == published and intact(location, published)
    except (FileNotFoundError, CurrentDamagedError):
        return False


def written(pointer: Current) -> bytes:
    """Return the pointer as CURRENT has it on a disk."""
    return json.dumps(asdict(pointer)).encode()


def commit(location: CorpusLocation, address: StoreAddress, pointer: Current, data: bytes) -> None:
    """Put the snapshot into the store and point its CURRENT, then ours, at it; raise FencedError where another took over.

    The fence is the catalog's, that of the writer who made the snapshot.
    """
    store, fence = ObjectStore(address), catalog.head(location.catalog).fence
    store.put(snapshot_name(pointer), data, over=None)
    with made_one(location, address):
        move(location.name, store, pointer, fence)
        write_durably(location.current, written(pointer))
        write_durably(location.catalog_note, written(pointer))


def snapshot_name(pointer: Current) -> str:
    """Return the object of a snapshot: named by its content too, so that no writer puts his own over another's of that number."""
    return f"{SNAPSHOTS}{pointer.snapshot}-{pointer.sha256}.duckdb"


def bring(location: CorpusLocation, store: ObjectStore, pointer: Current) -> None:
    """Copy a snapshot out of the store, and point this machine's CURRENT at it; other copies go unless they are being read.

    Raise CurrentDamagedError where it is not in the store, or is not what its name says.
    """
    path = snapshot_path(location, pointer.snapshot)
    if file_hash(path) != pointer.sha256:
        found = store.read(snapshot_name(pointer))
        if found is None or hash_bytes(found.data) != pointer.sha256:
            raise CurrentDamagedError(
                f"{store.address.below(snapshot_name(pointer)).uri!r}, the published snapshot, is missing or altered; "
                f"put it back, or remove corpus {location.name!r} and ingest its documents again"
            )
        write_durably(path, found.data)
    write_durably(location.current, written(pointer))
    _drop_copies(location, but=pointer.snapshot)


def _drop_copies(location: CorpusLocation, *, but: int | None) -> None:
    """Drop the copies of other snapshots that nobody reads, and what was derived from the graph as it was here."""
    for number in snapshot_numbers(location):
        if number != but:
            drop_snapshot(location, number)
    shutil.rmtree(location.lance, ignore_errors=True)


def drop_unkept(location: CorpusLocation, address: StoreAddress) -> None:
    """Delete the store's snapshots of which this machine, which writes the corpus, keeps none."""
    kept = {
        snapshot_name(Current(0, number, file_hash(snapshot_path(location, number)) or "")) for number in snapshot_numbers(location)
    }
    store = ObjectStore(address)
    store.delete([name for name in store.names(SNAPSHOTS) if name not in kept])


def remove_shared(address: StoreAddress) -> None:
    """Delete a corpus from the store, what makes it found first; the lease stays, so that fences go on rising."""
    store = ObjectStore(address)
    store.delete([NAME])
    store.delete([name for name in store.names("") if name != LEASE])


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
