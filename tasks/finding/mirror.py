"""Finding documents in object stores: mirrors are brought up to date, and what they hold is found as in folders."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from storage.forgetting import LOCK
from storage.object_address import StoreAddress, store_address
from storage.records.documents import SkippedFile, SourceFile
from tasks.finding.copies import copies_in_use, copy_name, updating
from tasks.finding.files import UNREADABLE, Discovery, hash_file, is_wanted
from tasks.finding.objects import ObjectSource, Tell, fetch_all, is_mark, reason_against, tell_nobody


def discover_objects(
    addresses: Sequence[str], *, include: Sequence[str], exclude: Sequence[str], file_megabytes: int, tell: Tell = tell_nobody
) -> Discovery:
    """Find every object below the addresses, fetch what is new or changed, and hash it; larger ones are left out.

    Globs match the key below the address, or its last part; `tell` hears of what is to be fetched before it is.
    Raises AddressError, StoreError, DiskFullError or StoppedError; what was fetched by then is kept.
    """
    found: dict[str, SourceFile | SkippedFile] = {}
    listed: set[str] = set()
    with copies_in_use(addresses):
        for address in map(store_address, addresses):
            objects = _mirrored(
                address, wanted=lambda below: is_wanted(below, include, exclude), file_megabytes=file_megabytes, tell=tell
            )
            listed |= objects.keys()
            found |= {shown: _hashed(shown, *chosen) for shown, chosen in objects.items() if chosen}
    return Discovery(
        files=tuple(one for _, one in sorted(found.items()) if isinstance(one, SourceFile)),
        skipped=tuple(one for one in found.values() if isinstance(one, SkippedFile)),
        listed=frozenset(listed),
    )


def _mirrored(
    address: StoreAddress, *, wanted: Callable[[str], bool], file_megabytes: int, tell: Tell
) -> dict[str, tuple[Path, str] | None]:
    """Bring the mirror up to date; return by how it is shown the copy of each object, and why there is none, "" where there is.

    None stands for one that `wanted` does not take, which gets what globs match. The caller keeps the mirrors in use.
    """
    with updating(address) as folder:
        source = ObjectSource(address)
        names = {found: StoreAddress(address.bucket, found.key) for found in source.listed()}
        copies = {found: folder / copy_name(name, found.tag) for found, name in names.items()}
        reasons = {found.key: reason_against(found, address, most_bytes=file_megabytes << 20) for found in copies}
        chosen = {found for found in copies if not is_mark(found) and (reasons[found.key] or wanted(address.inner(found.key)))}
        missing = {
            found: copy
            for found, copy in copies.items()
            if found in chosen and not reasons[found.key] and not _is_whole(copy, found.size_bytes)
        }
        reasons |= fetch_all(source, missing, folder, tell)
        # What vanished or changed goes, and what a killed run left half written.
        for entry in set(folder.iterdir()).difference(copies.values(), [folder / LOCK]):
            entry.unlink(missing_ok=True)
    shown = {name.shown: (copies[found], reasons[found.key]) if found in chosen else None for found, name in names.items()}
    return dict(sorted(shown.items()))


def _is_whole(copy: Path, size_bytes: int) -> bool:
    try:
        return copy.stat().st_size == size_bytes
    except FileNotFoundError:
        return False


def _hashed(shown: str, copy: Path, reason: str) -> SourceFile | SkippedFile:
    """Return the copy of an object as a file, or why it is none."""
    if reason:
        return SkippedFile(path=shown, reason=reason)
    try:
        return replace(hash_file(str(copy)), address=shown)
    except OSError as error:
        # Another run of the same address may have found it changed or gone since.
        return SkippedFile(path=shown, reason=f"{UNREADABLE}: {error.strerror}")
