"""Which corpora there are."""

from __future__ import annotations

from pathlib import Path

from storage.locations import CorpusLocation


def corpora_in(folder: Path) -> list[CorpusLocation]:
    """Return every corpus in the folder, by name."""
    names = {entry.name for entry in folder.iterdir() if entry.is_dir()} if folder.is_dir() else set()
    return [CorpusLocation(name, folder / name) for name in sorted(names)]
