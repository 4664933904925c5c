"""Our copies of objects in object stores: a file for each, named by its address and tag.

So no list can disagree with what lies there. What nothing names is not deleted while an ingest reads; a loss costs the next one the
download.
"""

import hashlib
import re
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from storage.locations import mirrors_folder
from storage.lock import lock_file, try_lock
from storage.object_address import StoreAddress, is_address

LOCK = "lock"
"""Shared by processes that read copies, exclusive for one that deletes unused ones."""
SUFFIX = re.compile(r"\.[A-Za-z0-9]{1,16}$")


def copy_sign(text: str) -> str:
    """Return how the names of the copies of an object, as it is shown, begin; it has no word of it."""
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:40]


def copy_name(found: StoreAddress, tag: str) -> str:
    """Return what the copy of an object is called; readers want its suffix, and nothing else of it."""
    suffix = SUFFIX.search(found.key)
    return f"{copy_sign(found.shown)}-{copy_sign(tag)[:16]}{suffix[0].lower() if suffix else ''}"


def sign_of(copy: Path) -> str:
    """Return the sign of the object that a copy is of."""
    return copy.name.partition("-")[0]


def all_copies(home: Path) -> Iterator[Path]:
    """Yield all files beside the lock: copies, what a kill left half written, and the locks of addresses."""
    return (path for path in mirrors_folder(home).glob("*") if path.name != LOCK and not path.is_dir())


def newest_copy(shown: str, home: Path) -> Path | None:
    """Return the copy of an object as `StoreAddress.shown` names it, None where there is none."""
    copies = sorted(mirrors_folder(home).glob(f"{copy_sign(shown)}-*"), key=_modified_at)
    return copies[-1] if copies and _modified_at(copies[-1]) else None


def _modified_at(path: Path) -> float:
    """Return when a file was written last, in seconds since 1970; 0 where it is not there any more."""
    try:
        return path.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def forget_copies(shown: Iterable[str], home: Path, *, but: Collection[Path] = ()) -> None:
    """Delete our copies of these objects except `but`, so that a removed document leaves none here."""
    gone = set(map(copy_sign, filter(is_address, shown)))
    for path in all_copies(home) if gone else ():
        if sign_of(path) in gone and path not in but:
            path.unlink(missing_ok=True)


@contextmanager
def copies_lock(home: Path, name: str = LOCK) -> Iterator[int]:
    """Open a lock file among the copies; a lock on it ends with the block, or with the process."""
    folder = mirrors_folder(home)
    folder.mkdir(parents=True, exist_ok=True)
    with lock_file(folder / name) as descriptor:
        yield descriptor


@contextmanager
def exclude_readers(home: Path) -> Iterator[bool]:
    """Keep every reader of copies out while the block runs; yield False where one is reading."""
    with copies_lock(home) as descriptor:
        yield try_lock(descriptor)
