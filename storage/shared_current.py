"""CURRENT of a corpus in the store: which snapshot is published, and the fence of the only writer who may move it.

Moving it, by a conditional put, is the commit of a publish.
"""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass

from storage import catalog
from storage.current import Current, CurrentDamagedError
from storage.lock import FencedError
from storage.object_address import StoreAddress
from storage.object_client import StoreError
from storage.object_store import ObjectStore

NAME = "CURRENT"
ATTEMPTS = 5
NOTHING = Current(schema_version=catalog.SCHEMA_VERSION, snapshot=0, sha256="")
"""What the first writer claims before anything is published."""


@dataclass(frozen=True, slots=True)
class Published:
    """What CURRENT in the store says: the snapshot (`NOTHING` at first), the fence of who may move it, and its tag."""

    pointer: Current
    fence: int
    tag: str


def read_published(store: ObjectStore) -> Published | None:
    """Return what the store's CURRENT says, None where there is none; raise as `read_current` does where it cannot be used."""
    found = store.read(NAME)
    if found is None:
        return None
    place = store.address.below(NAME).uri
    try:
        said = json.loads(found.data)
        catalog.refuse_newer(int(said["schema_version"]), place)
        pointer = Current(schema_version=int(said["schema_version"]), snapshot=int(said["snapshot"]), sha256=str(said["sha256"]))
        return Published(pointer, int(said["fence"]), found.tag)
    except (ValueError, TypeError, KeyError) as error:
        raise CurrentDamagedError(f"{place!r} is damaged ({error!r}); put an older version of that object back") from error


def last_fence(store: ObjectStore) -> int:
    """Return the fence of the last writer that claimed the corpus, 0 where nobody did."""
    found = read_published(store)
    return found.fence if found else 0


def shared_corpora(address: StoreAddress) -> list[str]:
    """Return the names of the corpora in the store that are published, or claimed by a first writer."""
    store = ObjectStore(address)
    return [name for name in store.folders("corpora/") if store.look(f"corpora/{name}/{NAME}") is not None]


def claim(corpus: str, store: ObjectStore, fence: int) -> Current:
    """Write the fence into CURRENT and return the snapshot that it names; raise FencedError where a later writer did."""
    for _ in range(ATTEMPTS):
        found = read_published(store)
        if found is not None and found.fence > fence:
            raise fenced(corpus)
        pointer = found.pointer if found else NOTHING
        if (found is not None and found.fence == fence) or _put(store, pointer, fence, over=found.tag if found else None):
            return pointer
    raise refused(corpus)


def move(corpus: str, store: ObjectStore, pointer: Current, fence: int) -> None:
    """Point CURRENT at the snapshot; raise FencedError where another writer claimed it since, or removed it."""
    for _ in range(ATTEMPTS):
        found = read_published(store)
        if found is None or found.fence != fence:
            raise fenced(corpus)
        # The answer to an earlier attempt may have been lost on its way.
        if found.pointer == pointer or _put(store, pointer, fence, over=found.tag):
            return
    raise refused(corpus)


def _put(store: ObjectStore, pointer: Current, fence: int, *, over: str | None) -> bool:
    """Put CURRENT unless another moved it since it was read; say whether that is so."""
    return store.put(NAME, json.dumps(asdict(pointer) | {"fence": fence}).encode(), over=over) is not None


def fenced(corpus: str) -> FencedError:
    """Return the error for a writer whose claim another one overwrote."""
    return FencedError(f"another machine took corpus {corpus!r} over; this ingest publishes nothing more, run it again")


def refused(corpus: str) -> StoreError:
    """Return the error for a store that lets nobody move CURRENT."""
    return StoreError(f"the store refused {ATTEMPTS} times to move CURRENT of corpus {corpus!r}; run the same command again")
