"""What a reader does before it reads a shared corpus: make this machine's copy that of the store, without what was removed."""

from __future__ import annotations

from contextlib import suppress

from storage.artifacts import write_durably
from storage.current import CurrentDamagedError, read_current, written
from storage.locations import CorpusLocation
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore
from storage.shared_copy import made_one
from storage.shared_current import NOTHING, Published, read_published
from storage.shared_snapshots import SnapshotMissingError, bring
from storage.taking_over import is_due, take_over


def fetch(location: CorpusLocation, address: StoreAddress) -> None:
    """Make this machine's CURRENT and snapshot those of the store; a corpus that the store does not have goes here too.

    CURRENT here moves last: a kill before that has all of it done again.
    """
    store = ObjectStore(address)
    published = read_published(store)
    with suppress(CurrentDamagedError):
        if published is not None and read_current(location) == published.pointer and not is_due(location):
            return
    if published is None and not location.folder.exists():
        return
    with made_one(location, address):
        published = brought(location, store)
        if published is None or published.pointer == NOTHING:
            location.current.unlink(missing_ok=True)
            take_over(location, store, NOTHING, writing=False)
        else:
            take_over(location, store, published.pointer, writing=False)
            write_durably(location.current, written(published.pointer))


def brought(location: CorpusLocation, store: ObjectStore) -> Published | None:
    """Return what the store's CURRENT says, with its snapshot here.

    A writer that publishes meanwhile may delete the snapshot that CURRENT named: it is damage only where CURRENT still names it.
    """
    published = read_published(store)
    while published is not None and published.pointer != NOTHING:
        try:
            bring(location, store, published.pointer)
        except SnapshotMissingError:
            missing, published = published.pointer, read_published(store)
            if published is not None and published.pointer == missing:
                raise
        else:
            return published
    return published
