"""What may go from a shared store: notes and artifacts that no corpus of any machine names, as far as this machine can tell."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from random import uniform

from storage.artifacts import shared_name
from storage.catalog import CatalogDamagedError, StoreTooNewError
from storage.corpora import corpora_in
from storage.current import CurrentDamagedError
from storage.lease import take_lease
from storage.locations import CorpusLocation
from storage.lock import CorpusBusyError, FencedError
from storage.memo import HEXADECIMAL, StepMemo, names_in, note_of, shared_folder
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.shared_copy import StoreMismatchError
from storage.shared_current import claim, last_fence, read_published, shared_corpora
from storage.shared_fetch import fetch
from storage.shared_removals import announce_deleted, read_removals

UNUSABLE = (CatalogDamagedError, CurrentDamagedError, StoreError, StoreMismatchError, StoreTooNewError)
"""What a corpus that is no concern of the caller's may raise."""

WAIT_SECONDS = (3.0, 15.0)
"""So long a clean-up waits for all writers together, at least and at most. Several that begin in the same minute wait for each
other: who happens to wait longest goes on when the others gave up."""


@contextmanager
def kept_quiet(store: ObjectStore, corpora: Path, own: CorpusLocation) -> Iterator[str]:
    """Keep writers on all machines out of the store's other corpora, and have here what these name, while the block runs.

    Give in words what hinders it: who writes one of them, or which of them cannot be fetched; nothing is kept then. A writer that
    died or sleeps is taken over, so that it names nothing more: whether it lives is waited for, as long as a lease holds. What is
    here of a corpus that was removed from the store goes, for it would name what may go.
    """
    deadline = time.monotonic() + uniform(*WAIT_SECONDS)
    with ExitStack() as leases:
        hindered, published = "", shared_corpora(store.address)
        for name in sorted(_copies_here(store, corpora).union(published) - {own.name}):
            try:
                address = store.address.below(f"corpora/{name}")
                if name in published:
                    _keep_quiet(name, ObjectStore(address), leases, deadline)
                fetch(CorpusLocation(name, corpora / name, address), address)
            except (CorpusBusyError, FencedError):
                hindered = f"corpus {name!r} is being written on another machine"
            except UNUSABLE as error:
                hindered = f"corpus {name!r} cannot be asked what it needs: {error}"
            if hindered:
                leases.close()
                break
        yield hindered


def _copies_here(store: ObjectStore, corpora: Path) -> set[str]:
    """Return the corpora of this machine that are copies of the store's, published there or not."""
    notes = {place.name: place.store_note for place in corpora_in(corpora)}
    addresses = {name: store.address.below(f"corpora/{name}").uri for name in notes}
    return {name for name, note in notes.items() if note.is_file() and note.read_text("utf-8") == addresses[name]}


def _keep_quiet(name: str, store: ObjectStore, leases: ExitStack, deadline: float) -> None:
    """Take a corpus's lease, and CURRENT too: who slept since its last look at the lease is stopped by that.

    A corpus that was removed since it was listed is not claimed: that would bring it back.
    """
    left = max(0.0, deadline - time.monotonic())
    lease = take_lease(store, name, wait_seconds=left, known_fence=lambda: last_fence(store), dead=None)
    leases.callback(lease.release)
    if read_published(store) is not None:
        claim(name, store, lease.terms.holder.fence)


@contextmanager
def left_by_corpora(store: ObjectStore, *, named: Collection[str]) -> Iterator[set[str]]:
    """Give the documents of corpora that were removed whole of which the store may hold something, but for the `named`.

    The block deletes that; the lists name them no more afterwards.
    """
    places = [ObjectStore(store.address.below(f"corpora/{name}")) for name in store.folders("corpora/")]
    left = [(place, _left_in(place).difference(named)) for place in places]
    yield {document for _place, documents in left for document in documents}
    for place, documents in left:
        if documents:
            announce_deleted(place, documents)


def _left_in(store: ObjectStore) -> set[str]:
    # A damaged list is told of by the corpus that it belongs to.
    with suppress(CurrentDamagedError):
        return set(read_removals(store).left)
    return set()


def forget_shared(
    store: ObjectStore, memo: StepMemo, *, documents: Collection[str], artifacts: Collection[str], named: Collection[str]
) -> set[str]:
    """Delete from the store the documents' notes with all that they name, and the artifacts, but for what is named otherwise.

    Return the artifacts that went.
    """
    notes = [name for document in sorted(documents) for name in store.names(shared_folder(document))]
    found = set(artifacts)
    for name in notes:
        stored = store.read(name)
        found |= names_in((note_of(stored.data) if stored else None) or {"outputs": {}, "within": {}})
    kept = set(named).union(*(memo.artifacts_of(document) for document in memo.documents()))
    gone = {name for name in found - kept if HEXADECIMAL.fullmatch(name)}
    store.delete([*notes, *(shared_name(name) for name in sorted(gone))])
    return gone
