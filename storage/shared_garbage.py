"""What may go from a shared store: notes and artifacts that no corpus of any machine names, as far as this machine can tell."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from storage.artifacts import shared_name
from storage.catalog import CatalogDamagedError, StoreTooNewError
from storage.current import CurrentDamagedError
from storage.lease import take_lease
from storage.locations import CorpusLocation
from storage.lock import CorpusBusyError, FencedError
from storage.memo import HEXADECIMAL, StepMemo, names_in, note_of, shared_folder
from storage.object_client import StoreError
from storage.object_store import ObjectStore
from storage.shared_copy import StoreMismatchError
from storage.shared_current import claim, last_fence, shared_corpora
from storage.shared_fetch import fetch

UNUSABLE = (CatalogDamagedError, CurrentDamagedError, StoreError, StoreMismatchError, StoreTooNewError)
"""What a corpus that is no concern of the caller's may raise."""


@contextmanager
def kept_quiet(store: ObjectStore, corpora: Path, own: CorpusLocation) -> Iterator[str]:
    """Keep writers on all machines out of the store's other corpora, and have here what these name, while the block runs.

    Give in words what hinders it: who writes one of them, or which of them cannot be fetched. A writer that died or sleeps is taken
    over, so that it names nothing more: whether it lives is waited for, as long as a lease holds.
    """
    with ExitStack() as leases:
        hindered = ""
        for name in shared_corpora(store.address):
            try:
                if name != own.name:
                    address = store.address.below(f"corpora/{name}")
                    _keep_quiet(name, ObjectStore(address), leases)
                    fetch(CorpusLocation(name, corpora / name, address), address)
            except (CorpusBusyError, FencedError):
                hindered = f"corpus {name!r} is being written on another machine"
                break
            except UNUSABLE as error:
                hindered = f"corpus {name!r} cannot be asked what it needs: {error}"
                break
        yield hindered


def _keep_quiet(name: str, store: ObjectStore, leases: ExitStack) -> None:
    """Take a corpus's lease, and CURRENT too: who slept since its last look at the lease is stopped by that."""
    lease = take_lease(store, name, wait_seconds=0.0, known_fence=lambda: last_fence(store), dead=None)
    leases.callback(lease.release)
    claim(name, store, lease.terms.holder.fence)


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
