"""Our copies of what lies in object stores: how their names tell of what they are copies, and how they go."""

import hashlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.catalog.in_use import alone
from storage.locations import mirrors_folder
from storage.object_address import is_address

LOCK = "lock"
"""In the folder of mirrors it is held by who reads from any, in a mirror by who brings that up to date."""


def copy_sign(shown: str) -> str:
    """Return how the names of the copies of an object, as it is shown, begin; it has no word of it."""
    return hashlib.sha256(shown.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def forget_copies(shown: Iterable[str], home: Path) -> None:
    """Delete the copies of these objects below a home: who removes a document leaves no copy of it with us."""
    gone = set(map(copy_sign, filter(is_address, shown)))
    for mirror in entries(mirrors_folder(home)) if gone else ():
        for path in entries(mirror):
            if path.name.partition("-")[0] in gone:
                path.unlink(missing_ok=True)


@contextmanager
def copies_unused(home: Path) -> Iterator[bool]:
    """Keep every reader of mirrors out while the block runs; False where one is in."""
    with opened_lock(mirrors_folder(home)) as descriptor:
        yield alone(descriptor)


@contextmanager
def opened_lock(folder: Path) -> Iterator[int]:
    """Open the lock of a folder, which is made where there is none; what is taken of it ends with the block."""
    folder.mkdir(parents=True, exist_ok=True)
    descriptor = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def entries(folder: Path) -> list[Path]:
    """Return what lies in a folder; nothing where it is none, or no longer: an ingest and a clean-up do not wait for us."""
    try:
        return list(folder.iterdir())
    except (FileNotFoundError, NotADirectoryError):
        return []
