"""The right to write a corpus: the lock of this machine, and the store's lease where several machines share the corpus."""

from __future__ import annotations

import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass

from storage.held_lease import Lease
from storage.lease import take_lease, wait_for_turn
from storage.locations import CorpusLocation
from storage.lock import WriterLock, acquire, announce, read_holder, wait_until_free
from storage.object_address import StoreAddress
from storage.object_store import ObjectStore
from storage.shared_current import last_fence


@dataclass(frozen=True, slots=True)
class SharedLock:
    """Both rights, held until `release`."""

    local: WriterLock
    lease: Lease

    @property
    def fence(self) -> int:
        """The lease's fencing number, above that of every writer on any machine before."""
        return self.lease.terms.holder.fence

    def require_held(self) -> None:
        """Raise FencedError where another machine took the corpus over, StoreError where the store does not say."""
        self.lease.renew()

    def release(self) -> None:
        """Let the next writer in, on whatever machine."""
        self.lease.release()
        self.local.release()


def lock_for_writing(location: CorpusLocation, *, wait_seconds: float, known_fence: Callable[[], int]) -> WriterLock | SharedLock:
    """Take the right to write the corpus; raise CorpusBusyError where another has it for `wait_seconds` longer.

    `known_fence` is asked where the lock file of a corpus of this machine alone says nothing.
    """
    if location.store is None:
        return acquire(location.lock, wait_seconds=wait_seconds, known_fence=known_fence)
    return _lock_shared(location, location.store, wait_seconds=wait_seconds)


def wait_until_writable(location: CorpusLocation, *, wait_seconds: float) -> None:
    """Wait until nobody writes the corpus; raise CorpusBusyError where somebody does for longer. Nothing is held on return."""
    wait_until_free(location.lock, wait_seconds=wait_seconds)
    if location.store is not None:
        dead = read_holder(location.lock)
        wait_for_turn(ObjectStore(location.store), location.name, wait_seconds=wait_seconds, dead=dead)


def _lock_shared(location: CorpusLocation, address: StoreAddress, *, wait_seconds: float) -> SharedLock:
    """Take both. Whoever held this machine's lock before us has ended; a lease that it left need not be waited for."""
    deadline, store = time.monotonic() + wait_seconds, ObjectStore(address)
    ended = read_holder(location.lock)
    with ExitStack() as undone:
        local = acquire(location.lock, wait_seconds=wait_seconds, known_fence=int)
        undone.callback(local.release)
        lease = take_lease(
            store,
            location.name,
            wait_seconds=max(0.0, deadline - time.monotonic()),
            known_fence=lambda: last_fence(store),
            dead=ended,
        )
        undone.callback(lease.release)
        announce(local.descriptor, lease.terms.holder)
        undone.pop_all()
    return SharedLock(local, lease)
