"""What a writer does with a shared corpus: begin where the store is, and publish there.

Each machine keeps copies in its own folder, so all that reads or mends a corpus works on files as it does without a store. The copy
of CURRENT moves under a lock of this machine, together with the store's or after it, never before.
"""

from __future__ import annotations

from storage import catalog
from storage.artifacts import write_durably
from storage.carrying_out import drop_catalog
from storage.current import Current, CurrentDamagedError, intact, read_current, snapshot_path, written
from storage.locations import CorpusLocation
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore
from storage.shared_copy import made_one
from storage.shared_current import NOTHING, claim, move
from storage.shared_removals import announce_whole, read_removals
from storage.shared_snapshots import bring, snapshot_name
from storage.taking_over import take_over


def take_up(location: CorpusLocation, address: StoreAddress, fence: int) -> None:
    """Claim the store's CURRENT for this writer, so that none before it can move it, and begin where the store is.

    A catalog that is not of the published snapshot is replaced by it: another machine wrote since.
    """
    store = ObjectStore(address)
    with made_one(location, address):
        published = claim(location.name, store, fence)
        if published == NOTHING and read_removals(store).listed:
            # A removal of the whole corpus was killed before it was told: the list is of snapshots that nobody has any more.
            announce_whole(store, ())
        known = in_step(location, published)
        if not known:
            location.current.unlink(missing_ok=True)
            drop_catalog(location)
            if published != NOTHING:
                bring(location, store, published)
        take_over(location, store, published, writing=True)
        if not known and published != NOTHING:
            write_durably(location.catalog, snapshot_path(location, published.snapshot).read_bytes())
            write_durably(location.catalog_note, written(published))
            write_durably(location.current, written(published))


def in_step(location: CorpusLocation, published: Current) -> bool:
    """Say whether this machine's files are of that snapshot; its catalog may be ahead by a publish that was cut short."""
    try:
        noted = location.catalog_note.read_bytes()
        return noted == written(published) and read_current(location) == published and intact(location, published)
    except (FileNotFoundError, CurrentDamagedError):
        return False


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
