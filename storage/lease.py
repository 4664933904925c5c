"""The right to write a corpus that several machines share: one object in the store, which its holder renews while it lives.

Who finds it unrenewed for longer than its time takes it over, with the fence one higher. That time is measured by the watcher's own
monotonic clock, from the moment it first saw the object as it is: no clock of one machine is ever compared with another's. Every
step is a conditional put, so of two that try at once one wins.
"""

from __future__ import annotations

import json
import logging
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace

from storage.lock import CorpusBusyError, FencedError, Holder, busy_words, signature
from storage.object_address import StoreAddress
from storage.object_client import StoreError
from storage.object_store import ObjectStore, Stored

NAME = "lease"
GOOD_SECONDS = 15.0
"""A lease holds so long without being renewed: a dead driver is succeeded within that, and a store may be gone for as long."""
RENEWALS = 3
"""So often it is renewed in its time: two renewals may be lost."""
LOOKS = 15
"""So often a watcher looks in that time."""
DRIFT = 1.1
"""A watcher waits so much longer, for clocks run unlike each other; none by a tenth."""
ATTEMPTS = 5
LOGGER = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Terms:
    """What stands in the object. `beat` counts renewals, so that each is another object; `free` says that the holder let go."""

    holder: Holder
    good_seconds: float
    beat: int = 0
    free: bool = False

    def written(self) -> bytes:
        """Return the terms as the object's bytes."""
        return json.dumps(asdict(self)).encode()


def read_terms(data: bytes) -> Terms | None:
    """Return what an object says, None where it is no lease."""
    try:
        said = json.loads(data)
        return Terms(Holder(**said["holder"]), float(said["good_seconds"]), int(said["beat"]), bool(said["free"]))
    except (ValueError, TypeError, KeyError):
        return None


@dataclass(slots=True)
class Lease:
    """A lease that this process renews until `release` or its death."""

    store: ObjectStore
    corpus: str
    terms: Terms
    _tag: str
    _lost: FencedError | None = None
    _turn: threading.Lock = field(default_factory=threading.Lock)
    _ended: threading.Event = field(default_factory=threading.Event)

    def renew(self) -> None:
        """Renew the lease now; raise FencedError where another took it over, StoreError where the store does not answer."""
        with self._turn:
            self._put(replace(self.terms, beat=self.terms.beat + 1))

    def release(self) -> None:
        """Let the next writer in at once. The object stays, so that the fence goes on rising."""
        self._ended.set()
        with self._turn, suppress(FencedError):
            try:
                self._put(replace(self.terms, free=True))
            except StoreError as error:
                LOGGER.warning("the lease of corpus %r could not be given back and ends by itself: %s", self.corpus, error)

    def keep(self) -> threading.Thread:
        """Renew the lease from a thread of its own until it is released or lost."""
        thread = threading.Thread(target=self._keep, name=f"lease of {self.corpus}", daemon=True)
        thread.start()
        return thread

    def _keep(self) -> None:
        while not self._ended.wait(self.terms.good_seconds / RENEWALS):
            try:
                self.renew()
            except StoreError as error:
                LOGGER.warning("the lease of corpus %r could not be renewed, it is tried again: %s", self.corpus, error)
            except FencedError as error:
                LOGGER.warning("%s", error)
                return

    def _put(self, terms: Terms) -> None:
        """Put new terms over ours; where they were refused, read: the answer to an earlier put of ours may have been lost."""
        if self._lost is not None:
            raise self._lost
        data = terms.written()
        for _ in range(ATTEMPTS):
            tag = self.store.put(NAME, data, over=self._tag)
            found = None if tag else self.store.read(NAME)
            if found is not None and found.data == data:
                tag = found.tag
            if tag is not None:
                self._tag, self.terms = tag, terms
                return
            there = read_terms(found.data) if found else None
            if found is None or there is None or there.holder != terms.holder:
                self._lost = taken_over(self.corpus, there)
                raise self._lost
            self._tag = found.tag
        raise StoreError(f"the lease of corpus {self.corpus!r} was refused {ATTEMPTS} times; run the same command again")


def taken_over(corpus: str, by: Terms | None) -> FencedError:
    """Return the error for who lost a lease; `by` is what stands there instead."""
    who = f"process {by.holder.pid} on {by.holder.host} took corpus {corpus!r} over" if by else f"corpus {corpus!r} was removed"
    return FencedError(f"{who}; this ingest publishes nothing more, run it again")


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


def is_free(store: ObjectStore) -> bool:
    """Say whether nobody holds a lease: whoever held one gave it back."""
    found = store.read(NAME)
    terms = read_terms(found.data) if found else None
    return terms is None or terms.free
