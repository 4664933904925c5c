"""Finding the documents: by content, never through a link, never blocked by a pipe."""

from __future__ import annotations

import fnmatch
import functools
import hashlib
import os
import stat
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from storage.errors import RequestError
from storage.records.documents import SkippedFile, SourceFile
from storage.system import open_plain

UNREADABLE = "cannot be read"
SPECIAL = (
    (stat.S_ISFIFO, "a pipe, not a document"),
    (stat.S_ISSOCK, "a socket, not a document"),
    (stat.S_ISCHR, "a device, not a document"),
    (stat.S_ISBLK, "a device, not a document"),
)


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found: files with their hash, and what was left out and why.

    `listed` is how all objects of the object stores are shown, those left out included: it alone shows whether one is still there.
    """

    files: tuple[SourceFile, ...]
    skipped: tuple[SkippedFile, ...]
    listed: frozenset[str] = frozenset()

    @property
    def unreadable(self) -> int:
        """How many skipped files should have been read; a run with any of them failed in part."""
        return sum(item.reason.startswith(UNREADABLE) for item in self.skipped)

    def __or__(self, other: Discovery) -> Discovery:
        return Discovery(self.files + other.files, self.skipped + other.skipped, self.listed | other.listed)


def discover(roots: Sequence[Path], *, include: Sequence[str] = (), exclude: Sequence[str] = ()) -> Discovery:
    """Find every regular file under the roots, in sorted order, and hash it.

    Globs match the path below the root or the file's name. Raises RequestError where a root does not exist.
    """
    files: dict[str, SourceFile] = {}
    skipped: list[SkippedFile] = []
    for root in roots:
        for path, below, reason in _walk(root):
            try:
                if not reason and is_wanted(below, include, exclude):
                    files[path] = hash_file(path)
            except OSError as error:
                reason = f"{UNREADABLE}: {error.strerror}"
            if reason:
                skipped.append(SkippedFile(path=path, reason=reason))
    return Discovery(files=tuple(files[path] for path in sorted(files)), skipped=tuple(skipped))


def hash_file(path: str) -> SourceFile:
    """Return the file with the hash of its bytes; an unchanged file is hashed once a process."""
    status = os.stat(path, follow_symlinks=False)  # noqa: PTH116 - a Path would not take undecodable names through the cache
    return _hash_file(path, status.st_size, status.st_mtime_ns, status.st_ino)


@functools.lru_cache(maxsize=100_000)
def _hash_file(path: str, size_bytes: int, _modified: int, _inode: int) -> SourceFile:
    with open_plain(path) as stream:
        digest = hashlib.file_digest(stream, "sha256")
    return SourceFile(path=path, document_id=digest.hexdigest(), size_bytes=size_bytes)


def _walk(root: Path) -> Iterator[tuple[str, str, str]]:
    """Yield (absolute path, path below the root, reason to skip or "")."""
    # A root that the user named may itself be a link: it was meant.
    absolute = os.path.realpath(root)
    if not os.path.lexists(absolute):
        raise RequestError(f"{os.fspath(root)!r} does not exist", os.fspath(root), "name a file or a folder of documents")
    if os.path.isdir(absolute):  # noqa: PTH112
        yield from _walk_folder(absolute, absolute)
        return
    yield absolute, os.path.basename(absolute), _reason(os.lstat(absolute))  # noqa: PTH119


def _walk_folder(folder: str, root: str) -> Iterator[tuple[str, str, str]]:
    """Yield what lies below, a folder's files before its folders; a stack, because folders may be nested without end."""
    waiting = [folder]
    while waiting:
        here = waiting.pop()
        try:
            entries = sorted(os.scandir(here), key=lambda entry: entry.name)
        except OSError as error:
            yield here, os.path.relpath(here, root), f"{UNREADABLE}: {error.strerror}"
            continue
        waiting += [entry.path for entry in reversed(entries) if _is_folder(entry)]
        for entry in entries:
            if not _is_folder(entry):
                yield entry.path, os.path.relpath(entry.path, root), _reason_for(entry)


def _is_hidden(entry: os.DirEntry[str]) -> bool:
    """Two dots hide nothing: "..notes.pdf" is an odd name, not a hidden file."""
    return entry.name.startswith(".") and not entry.name.startswith("..")


def _is_folder(entry: os.DirEntry[str]) -> bool:
    return not _is_hidden(entry) and entry.is_dir(follow_symlinks=False)


def _reason_for(entry: os.DirEntry[str]) -> str:
    """Return why an entry that is not walked into is no document, "" where it may be one."""
    if _is_hidden(entry):
        return "hidden; name it to have it read"
    if entry.is_symlink():
        return "a symbolic link; name its target to have it read"
    try:
        return _reason(entry.stat(follow_symlinks=False))
    except OSError as error:
        return f"{UNREADABLE}: {error.strerror}"


def _reason(status: os.stat_result) -> str:
    return next((reason for test, reason in SPECIAL if test(status.st_mode)), "")


def is_wanted(below: str, include: Sequence[str], exclude: Sequence[str]) -> bool:
    """Say whether the globs take a path below its root, by the whole of it or by its name."""

    def matches(pattern: str) -> bool:
        return fnmatch.fnmatch(below, pattern) or fnmatch.fnmatch(os.path.basename(below), pattern)  # noqa: PTH119

    return (not include or any(map(matches, include))) and not any(map(matches, exclude))
