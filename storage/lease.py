"""The right to write a corpus that several machines share: one object in the store, which its holder renews while it lives.

Who finds it unrenewed for longer than its time takes it over, with the fence one higher. That time is measured by the watcher's own
monotonic clock, from the moment it first saw the object as it is: no clock of one machine is ever compared with another's. Every
step is a conditional put, so of two that try at once one wins.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from storage.held_lease import Lease
from storage.lease_terms import NAME, Terms, read_terms
from storage.lock import CorpusBusyError, Holder, busy_words, signature
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore, Stored

GOOD_SECONDS = 15.0
"""A lease holds so long without being renewed: a dead driver is succeeded within that, and a store may be gone for as long."""
LOOKS = 15
"""So often a watcher looks in that time."""
DRIFT = 1.1
"""A watcher waits so much longer, for clocks run unlike each other; none by a tenth."""

SEEN: dict[StoreAddress, tuple[str, float]] = {}
"""Of each lease that this process waited for: its tag, which never returns, and since when it is this one (monotonic clock)."""


def unchanged_seconds(store: ObjectStore, tag: str) -> float:
    """Return for how long this process knows the lease to be as it is."""
    now = time.monotonic()
    if SEEN.get(store.address, ("", now))[0] != tag:
        SEEN[store.address] = tag, now
    return now - SEEN[store.address][1]


def wait_for_turn(store: ObjectStore, corpus: str, *, wait_seconds: float, dead: Holder | None) -> Stored | None:
    """Wait until the lease may be taken; return the object as it is then, None where there is none. `dead` is known to have ended.

    Raise CorpusBusyError where somebody holds it for `wait_seconds` longer and was seen to live: a holder that renews nothing is
    watched until its time is over.
    """
    deadline, first = time.monotonic() + wait_seconds, ""
    while (found := store.read(NAME)) is not None:
        terms = read_terms(found.data)
        if terms is None or terms.free or terms.holder == dead:
            return found
        if unchanged_seconds(store, found.tag) > terms.good_seconds * DRIFT:
            return found
        first = first or found.tag
        if found.tag != first and time.monotonic() >= deadline:
            raise CorpusBusyError(busy_words(corpus, terms.holder))
        time.sleep(terms.good_seconds / LOOKS)
    return None


def take_lease(
    store: ObjectStore, corpus: str, *, wait_seconds: float, known_fence: Callable[[], int], dead: Holder | None
) -> Lease:
    """Take the corpus's lease with a fence above all before it, and keep it; raise CorpusBusyError as `wait_for_turn` does.

    `known_fence` is asked where the object says nothing.
    """
    deadline = time.monotonic() + wait_seconds
    while True:
        left = max(0.0, deadline - time.monotonic())
        found = wait_for_turn(store, corpus, wait_seconds=left, dead=dead)
        before = read_terms(found.data) if found else None
        fence = 1 + (before.holder.fence if before else known_fence())
        taken = _sign(store, corpus, Terms(signature(fence), GOOD_SECONDS), over=found)
        if taken is not None:
            return taken


def _sign(store: ObjectStore, corpus: str, terms: Terms, *, over: Stored | None) -> Lease | None:
    """Put the terms in the place of what was seen; None where another was faster."""
    data = terms.written()
    tag = store.put(NAME, data, over=over.tag if over else None)
    if tag is None:
        found = store.read(NAME)
        tag = found.tag if found and found.data == data else None
    if tag is None:
        return None
    lease = Lease(store, corpus, terms, tag)
    lease.keep()
    return lease
