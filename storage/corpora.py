"""Which corpora there are: the folders of this machine, and where several machines share a store, what is published there too."""

from __future__ import annotations

from pathlib import Path

from storage.locations import CorpusLocation
from storage.object_address import StoreAddress


def corpora_in(folder: Path, store: StoreAddress | None = None) -> list[CorpusLocation]:
    """Return every corpus in the folder, by name, and in the store where one is given; raise StoreError where it does not answer.

    Without a store only this machine's files are meant, as they are.
    """
    names = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
    if store is not None:
        from storage.shared_current import shared_corpora

        names.update(shared_corpora(store))
    return [CorpusLocation(name, folder / name, store.below(f"corpora/{name}") if store else None) for name in sorted(names)]
