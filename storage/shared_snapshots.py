"""The published snapshots of a corpus in the store: objects that never change, one for each publish."""

from __future__ import annotations

from collections.abc import Collection

from storage.artifacts import hash_bytes, write_durably
from storage.current import Current, CurrentDamagedError, file_hash, snapshot_numbers, snapshot_path
from storage.lease_terms import NAME as LEASE
from storage.locations import CorpusLocation
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore
from storage.shared_current import NAME
from storage.shared_removals import NAME as REMOVALS
from storage.shared_removals import announce_whole

SNAPSHOTS = "snapshots/"


class SnapshotMissingError(CurrentDamagedError):
    """A snapshot that is not in the store, or is not what its name says."""


def snapshot_name(pointer: Current) -> str:
    """Return the object of a snapshot: named by its content too, so that no writer puts his own over another's of that number."""
    return f"{SNAPSHOTS}{pointer.snapshot}-{pointer.sha256}.duckdb"


def bring(location: CorpusLocation, store: ObjectStore, pointer: Current) -> None:
    """Copy a snapshot out of the store, unless its copy is here and sound; raise SnapshotMissingError where that cannot be.

    What has its number here, of a corpus that was removed and made again, stays under another: it says what there was.
    """
    path = snapshot_path(location, pointer.snapshot)
    if file_hash(path) == pointer.sha256:
        return
    found = store.read(snapshot_name(pointer))
    if found is None or hash_bytes(found.data) != pointer.sha256:
        raise SnapshotMissingError(
            f"{store.address.below(snapshot_name(pointer)).uri!r}, the published snapshot, is missing or altered; "
            f"put it back, or remove corpus {location.name!r} and ingest its documents again"
        )
    if path.exists():
        path.rename(snapshot_path(location, 1 + snapshot_numbers(location)[-1]))
    write_durably(path, found.data)


def drop_unkept(location: CorpusLocation, address: StoreAddress) -> None:
    """Delete the store's snapshots of which this machine, which writes the corpus, keeps none."""
    kept = {
        snapshot_name(Current(0, number, file_hash(snapshot_path(location, number)) or "")) for number in snapshot_numbers(location)
    }
    store = ObjectStore(address)
    store.delete([name for name in store.names(SNAPSHOTS) if name not in kept])


def remove_shared(address: StoreAddress, documents: Collection[str]) -> None:
    """Delete a corpus with these documents from the store, what makes it found first, and tell the other machines.

    The lease stays, so that fences go on rising, and so does the list of removals.
    """
    store = ObjectStore(address)
    store.delete([NAME])
    announce_whole(store, documents)
    store.delete([name for name in store.names("") if name not in {LEASE, REMOVALS}])
