"""The removals from a corpus that several machines share: a list in the store, beside CURRENT, by numbers that only rise.

It stands there before a removal is acknowledged, and each machine takes over what it has not carried out yet. It holds ids and
hashes, no word. The oldest go when there are many; a machine that missed those is told so by `cut`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, replace

from storage.codec import CodecError, from_json, to_json
from storage.current import CurrentDamagedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.removals import Removal

NAME = "removals"
KEPT = 1000
"""So many removals stay in the list: some 300 kB, read only by who fetches a snapshot, which has megabytes."""
ATTEMPTS = 5


@dataclass(frozen=True, slots=True)
class Listed:
    """A removal and its number."""

    number: int
    removal: Removal


@dataclass(frozen=True, slots=True)
class Removals:
    """The list. `last` is the newest number, of whatever; `whole` that with which the whole corpus was removed, before all listed.

    `cut` is the highest number that is not listed any more. What was removed up to `purged` has left all files in the store, but
    for what steps made of the documents `left` by corpora that were removed whole: any machine's next clean-up deletes that.
    """

    last: int = 0
    whole: int = 0
    cut: int = 0
    purged: int = 0
    listed: tuple[Listed, ...] = ()
    left: tuple[str, ...] = ()

    @property
    def says_removed(self) -> bool:
        """Whether the last that it says is that the whole corpus was removed."""
        return self.whole == self.last > 0


def read_removals(store: ObjectStore) -> Removals:
    """Return the list; raise CurrentDamagedError where it cannot be used."""
    return _read(store)[0]


def announce(store: ObjectStore, removal: Removal) -> int:
    """Put a removal on the list and return its number; raise StoreError where the store does not take it. By a writer only."""

    def added(before: Removals) -> Removals:
        listed = (*before.listed, Listed(before.last + 1, removal))
        cut = listed[-KEPT - 1].number if len(listed) > KEPT else before.cut
        return replace(before, last=before.last + 1, cut=cut, listed=listed[-KEPT:])

    return _change(store, added).last


def announce_whole(store: ObjectStore, documents: Collection[str]) -> None:
    """Put on the list that the whole corpus was removed, with these documents; raise as `announce` does."""

    def emptied(before: Removals) -> Removals:
        number = before.last + 1
        unpurged = (entry.removal.document_id for entry in before.listed if entry.number > before.purged)
        return Removals(last=number, whole=number, purged=number, left=tuple(sorted({*before.left, *unpurged, *documents})))

    _change(store, emptied)


def announce_deleted(store: ObjectStore, documents: Collection[str]) -> None:
    """Put on the list that nothing is left in the store of these documents; raise as `announce` does."""
    _change(store, lambda before: replace(before, left=tuple(left for left in before.left if left not in documents)))


def announce_purged(store: ObjectStore, number: int) -> None:
    """Put on the list that nothing in the store holds words of what was removed up to this number; raise as `announce` does."""
    _change(store, lambda before: replace(before, purged=max(before.purged, min(number, before.last))))


def _change(store: ObjectStore, changed: Callable[[Removals], Removals]) -> Removals:
    """Put a changed list over the one that is there, and return it."""
    for _ in range(ATTEMPTS):
        before, tag = _read(store)
        after = changed(before)
        if after == before:
            return after
        data = to_json(after)
        if store.put(NAME, data, over=tag) is not None:
            return after
        # The answer to our own put may have been lost on its way.
        found = store.read(NAME)
        if found is not None and found.data == data:
            return after
    raise StoreError(f"the store refused {ATTEMPTS} times to change {store.address.below(NAME).uri!r}; run the same command again")


def _read(store: ObjectStore) -> tuple[Removals, str | None]:
    """Return the list and its tag; an empty one where there is none."""
    found = store.read(NAME)
    if found is None:
        return Removals(), None
    try:
        return from_json(Removals, found.data), found.tag
    except CodecError as error:
        place = store.address.below(NAME).uri
        raise CurrentDamagedError(f"{place!r} is damaged ({error}); put an older version of that object back") from error
