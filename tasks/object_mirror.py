"""Bringing a mirror up to date: what is unchanged is listed and not fetched, copies of what vanished or changed go."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from storage.mirrored_copies import LOCK
from storage.object_address import StoreAddress
from tasks.mirror_locks import updating
from tasks.object_choice import is_mark, reason_against
from tasks.object_copies import copy_name
from tasks.object_fetching import Tell, fetch_all
from tasks.object_source import ListedObject, ObjectSource


@dataclass(frozen=True, slots=True)
class MirroredObject:
    """An object, as it is shown, with its copy; or why there is none."""

    shown: str
    copy: str
    reason: str


@dataclass(frozen=True, slots=True)
class _Mirror:
    """The folder of an address's copies."""

    address: StoreAddress
    folder: Path

    def shown(self, found: ListedObject) -> str:
        return StoreAddress(self.address.bucket, found.key).shown

    def copy_of(self, found: ListedObject) -> Path:
        """Return where the copy of an object lies, whether or not it is there."""
        return self.folder / copy_name(StoreAddress(self.address.bucket, found.key), found.tag)

    def has(self, found: ListedObject) -> bool:
        """Say whether the copy is there, whole."""
        try:
            return self.copy_of(found).stat().st_size == found.size_bytes
        except FileNotFoundError:
            return False

    def remove_all_but(self, kept: set[Path]) -> None:
        """Delete copies of what vanished or changed, and what a killed run left half written."""
        for entry in self.folder.iterdir():
            if entry not in kept and entry.name != LOCK:
                entry.unlink(missing_ok=True)


def mirrored(
    address: StoreAddress, *, wanted: Callable[[str], bool], file_megabytes: int, tell: Tell
) -> tuple[tuple[MirroredObject, ...], frozenset[str]]:
    """Bring the mirror up to date; return the objects that `wanted` takes, by address, and how every object is shown.

    `wanted` gets what globs match; where there is something to fetch, `tell` hears of it first. The caller keeps the mirrors in
    use. Raises StoreError, DiskFullError or StoppedError; what was fetched by then is kept.
    """
    with updating(address) as folder:
        mirror, source = _Mirror(address, folder), ObjectSource(address)
        listed = tuple(source.listed())
        reasons = {found.key: reason_against(found, address, most_bytes=file_megabytes << 20) for found in listed}
        chosen = [found for found in listed if not is_mark(found) and (reasons[found.key] or wanted(address.inner(found.key)))]
        missing = {found: mirror.copy_of(found) for found in chosen if not reasons[found.key] and not mirror.has(found)}
        reasons |= fetch_all(source, missing, folder, tell)
        mirror.remove_all_but({mirror.copy_of(found) for found in listed})
    objects = [MirroredObject(mirror.shown(found), str(mirror.copy_of(found)), reasons[found.key]) for found in chosen]
    return tuple(sorted(objects, key=lambda one: one.shown)), frozenset(map(mirror.shown, listed))
