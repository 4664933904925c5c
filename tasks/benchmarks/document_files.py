"""Finding the file of each document that a benchmark names."""

from __future__ import annotations

import os
import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

from tasks.benchmarks.rows import BenchmarkError

ADDED_SUFFIXES = ("", ".pdf", ".html")
UNWRITABLE = re.compile(r'[/\\:*?"<>|]')
"""Signs that titles have and file names cannot; archives are unpacked with an underscore in their place."""
LISTED = 3


def find_documents(names: Iterable[str], folders: Sequence[Path], *, named_by: Path) -> dict[str, str]:
    """Return the absolute path of each document that a file names; the first folder that has it, at whatever depth, gives it.

    Raises BenchmarkError for documents that are in none of the folders, and for a name that two files of a folder bear.
    """
    wanted = list(dict.fromkeys(names))
    shelves = [_shelf(folder) for folder in folders]
    found: dict[str, str] = {}
    for name in wanted:
        path = next((path for shelf in shelves if (path := _taken(name, shelf))), None)
        if path is not None:
            found[name] = str(path.absolute())
    missing = [name for name in wanted if name not in found]
    if missing:
        some = ", ".join(map(repr, missing[:LISTED])) + (f" and {len(missing) - LISTED} more" if len(missing) > LISTED else "")
        looked = ", ".join(repr(str(folder)) for folder in folders)
        raise BenchmarkError(
            f"{len(missing)} of {len(wanted)} documents that {str(named_by)!r} names are not there: {some}; "
            f"looked in {looked}; put them there under these names"
        )
    return found


def unnamed_documents(folders: Sequence[Path], named: Mapping[str, str]) -> dict[str, str]:
    """Return the absolute paths of the other files in the folders, by their paths below them."""
    known = set(named.values())
    found = {path.relative_to(folder).as_posix(): str(path.absolute()) for folder in folders for path in _files(folder)}
    return {name: path for name, path in found.items() if path not in known and name not in named}


def _shelf(top: Path) -> dict[str, list[Path]]:
    """Return the files below a folder by their path in it and by every end of that path."""
    shelf: dict[str, list[Path]] = {}
    for path in _files(top):
        parts = path.relative_to(top).parts
        for start in range(len(parts)):
            shelf.setdefault(_key("/".join(parts[start:])), []).append(path)
    return shelf


def _files(top: Path) -> Iterator[Path]:
    """Yield the files below a folder, through links but no folder twice; what is hidden stays so."""
    seen: set[Path] = set()
    for here, folders, names in os.walk(top, followlinks=True):
        real = Path(here).resolve()
        folders[:] = [] if real in seen else sorted(folder for folder in folders if not folder.startswith("."))
        if real not in seen:
            yield from (path for name in sorted(names) if (path := Path(here, name)).is_file())
        seen.add(real)


def _taken(name: str, shelf: dict[str, list[Path]]) -> Path | None:
    """Return the one file that bears the name, as it stands or with what is usual put to it."""
    for written in dict.fromkeys((name, UNWRITABLE.sub("_", name))):
        for suffix in ADDED_SUFFIXES:
            paths = shelf.get(_key(written + suffix), [])
            highest = [path for path in paths if len(path.parts) == min(len(other.parts) for other in paths)]
            if len(highest) > 1:
                raise BenchmarkError(f"document {name!r} may be '{highest[0]}' or '{highest[1]}'; keep the one that is meant")
            if highest:
                return highest[0]
    return None


def _key(name: str) -> str:
    # One system writes an accent into the letter, another behind it.
    return unicodedata.normalize("NFC", name)
