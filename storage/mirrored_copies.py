"""Our copies of what lies in object stores: how their names tell of what they are copies, and how they go."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path

from storage.locations import mirrors_folder


def copy_sign(shown: str) -> str:
    """Return how the names of the copies of an object, as it is shown, begin; it has no word of it."""
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def forget_copies(signs: Iterable[str], home: Path) -> None:
    """Delete the copies with these signs below a home: who removes a document leaves no copy of it with us."""
    gone = set(signs)
    for mirror in entries(mirrors_folder(home)) if gone else ():
        for path in entries(mirror):
            if path.name.partition("-")[0] in gone:
                path.unlink(missing_ok=True)


def entries(folder: Path) -> list[Path]:
    """Return what lies in a folder; nothing where it is none, or no longer: an ingest and a clean-up do not wait for us."""
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
