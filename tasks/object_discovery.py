"""Finding documents in object stores: as in folders, by content and with a reason for what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from storage.object_address import store_address
from storage.records import SkippedFile, SourceFile
from tasks.discovery import UNREADABLE, Discovery, hash_file, is_wanted
from tasks.mirror_locks import copies_in_use
from tasks.object_fetching import Tell, tell_nobody
from tasks.object_mirror import MirroredObject, mirrored


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
