"""What may go from a shared store: notes and artifacts that no corpus of any machine names, as far as this machine can tell."""

from __future__ import annotations

from collections.abc import Collection
from pathlib import Path

from storage.artifacts import shared_name
from storage.lease import is_free
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL, StepMemo, names_in, note_of, shared_folder
from storage.object_store import ObjectStore
from storage.shared_current import shared_corpora
from storage.shared_snapshots import fetch


def bring_others(store: ObjectStore, corpora: Path, own: CorpusLocation) -> str:
    """Fetch the snapshots of the store's other corpora, so that this machine knows what they name; say in words what hinders it."""
    for name in shared_corpora(store.address):
        address = store.address.below(f"corpora/{name}")
        if name == own.name:
            continue
        if not is_free(ObjectStore(address)):
            return f"corpus {name!r} is being written on another machine"
        fetch(CorpusLocation(name, corpora / name, address), address)
    return ""


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
