"""Finding documents in object stores: mirrors are brought up to date, and what they hold is found as in folders."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from storage.mirrored_copies import LOCK
from storage.object_address import StoreAddress, store_address
from storage.records import SkippedFile, SourceFile
from tasks.discovery import UNREADABLE, Discovery, hash_file, is_wanted
from tasks.object_copies import copies_in_use, copy_name, updating
from tasks.object_source import ListedObject, ObjectSource, Tell, fetch_all, is_mark, reason_against, tell_nobody


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


def discover_objects(
    addresses: Sequence[str], *, include: Sequence[str], exclude: Sequence[str], file_megabytes: int, tell: Tell = tell_nobody
) -> Discovery:
    """Find every object below the addresses, fetch what is new or changed, and hash it; larger ones are left out.

    Globs match the key below the address, or its last part; `tell` hears of what is to be fetched before it is.
    Raises AddressError, StoreError, DiskFullError or StoppedError.
    """
    found: dict[str, SourceFile | SkippedFile] = {}
    listed: frozenset[str] = frozenset()
    with copies_in_use(addresses):
        for address in map(store_address, addresses):
            objects, there = mirrored(
                address, wanted=lambda below: is_wanted(below, include, exclude), file_megabytes=file_megabytes, tell=tell
            )
            listed |= there
            found |= {one.shown: _hashed(one) for one in objects}
    skipped = [one for one in found.values() if isinstance(one, SkippedFile)]
    return Discovery(
        files=tuple(one for _, one in sorted(found.items()) if isinstance(one, SourceFile)),
        skipped=tuple(skipped),
        unreadable=sum(one.reason.startswith(UNREADABLE) for one in skipped),
        listed=listed,
    )


def _hashed(one: MirroredObject) -> SourceFile | SkippedFile:
    """Return the copy of an object as a file, or why it is none."""
    if one.reason:
        return SkippedFile(path=one.shown, reason=one.reason)
    try:
        return replace(hash_file(one.copy), address=one.shown)
    except OSError as error:
        # Another run of the same address may have found it changed or gone since.
        return SkippedFile(path=one.shown, reason=f"{UNREADABLE}: {error.strerror}")
