"""A lease in the hand of this process: renewed by a thread of its own, and lost for good where another one took it over."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from dataclasses import dataclass, field, replace

from storage.lease_terms import NAME, Terms, read_terms
from storage.lock import FencedError
from storage.object_client import StoreError
from storage.object_store import ObjectStore

RENEWALS = 3
"""So often a lease is renewed in its time: two renewals may be lost."""
ATTEMPTS = 5
LOGGER = logging.getLogger(__name__)


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
