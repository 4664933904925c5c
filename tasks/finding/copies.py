"""Our copies of what lies in object stores: a folder for each address that is read, its mirror, and in it a file for each object.

A copy's name holds its address and tag, so that no list can disagree with what lies there. One process at a time brings a mirror
up to date, and none is deleted while an ingest reads from it; its loss costs the next ingest the downloads.
The locks go with the process that holds them, whatever ends it.
"""

import fcntl
import os
import re
import shutil
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.in_use import corpora_in, paths_in_use
from storage.forgetting import LOCK, copies_unused, copy_sign, entries, opened_lock
from storage.locations import corpora_folder, home, mirrors_folder
from storage.lock import taken
from storage.object_address import StoreAddress, is_address
from tasks.progress import StoppedError, stop_requested

SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,16}$")


def mirror_of(address: StoreAddress) -> Path:
    """Return where the copies of what lies at or below an address are kept, whether or not there are any."""
    return mirrors_folder() / copy_sign(address.shown)


def copy_name(found: StoreAddress, tag: str) -> str:
    """Return what the copy of an object is called; readers want its suffix, and nothing else of it."""
    suffix = SUFFIX.search(found.key)
    return f"{copy_sign(found.shown)}-{copy_sign(tag)[:16]}{suffix[0].lower() if suffix else ''}"


def copy_in_mirrors(shown: str) -> str | None:
    """Return the youngest copy of an object as `StoreAddress.shown` names it, None where there is none."""
    ages = {str(path): modified for path in _copies(shown) if (modified := modified_at(path)) is not None}
    return max(ages, key=ages.__getitem__, default=None)


def mirrors() -> list[Path]:
    return [entry for entry in entries(mirrors_folder()) if entry.is_dir()]


def modified_at(path: Path) -> float | None:
    """Return when a file was written last, in seconds since 1970; None where it is not there, or no longer."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return None


def _copies(shown: str) -> Iterator[Path]:
    begin = f"{copy_sign(shown)}-"
    return (path for mirror in mirrors() for path in entries(mirror) if path.name.startswith(begin))


def forget_mirrors(*, keep_seconds: float) -> None:
    """Delete every mirror that was not looked at for so long and holds no copy of what any corpus shows.

    Nothing goes while an ingest reads from a mirror, nor where the catalog of a corpus cannot be read: a later clean-up does it.
    """
    if not mirrors_folder().is_dir():
        return
    with copies_unused(home()) as unused:
        idle = [mirror for mirror in mirrors() if unused and (modified_at(mirror / LOCK) or 0) <= time.time() - keep_seconds]
        try:
            paths = paths_in_use(corpora_in(corpora_folder())) if idle else set()
        except CatalogDamagedError:
            return
        shown = set(map(copy_sign, filter(is_address, paths)))
        for mirror in idle:
            if shown.isdisjoint(path.name.partition("-")[0] for path in entries(mirror)):
                # A removal of a document may be deleting its copy.
                with suppress(FileNotFoundError):
                    shutil.rmtree(mirror)


POLL_SECONDS = 0.1


@contextmanager
def copies_in_use(sources: Sequence[str]) -> Iterator[None]:
    """Have every mirror stay while the block runs, where one of the sources is an address; StoppedError where the user asks."""
    if not any(map(is_address, sources)):
        yield
        return
    with opened_lock(mirrors_folder()) as descriptor:
        _wait_for(descriptor, fcntl.LOCK_SH)
        yield


@contextmanager
def updating(address: StoreAddress) -> Iterator[Path]:
    """Have a mirror for this process alone: a second run waits, and then finds what the first one fetched."""
    folder = mirror_of(address)
    with opened_lock(folder) as descriptor:
        _wait_for(descriptor, fcntl.LOCK_EX)
        # Says what the folder is: its name is a hash.
        os.pwrite(descriptor, f"{address.shown}\n".encode(), 0)
        yield folder


def _wait_for(descriptor: int, kind: int) -> None:
    while not taken(descriptor, kind):
        if stop_requested():
            raise StoppedError
        threading.Event().wait(POLL_SECONDS)
