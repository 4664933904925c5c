"""Finding documents in object stores: as in folders, by content and with a reason for what is left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from storage.object_address import store_address
from storage.records import SkippedFile, SourceFile
from tasks.discovery import UNREADABLE, Discovery, hash_file, is_wanted
from tasks.object_mirror import mirrored


def discover_objects(addresses: Sequence[str], *, include: Sequence[str], exclude: Sequence[str], file_megabytes: int) -> Discovery:
    """Find every object below the addresses, fetch what is new or changed, and hash it; larger ones are left out.

    Globs match the key below the address, or its last part. Raises AddressError, StoreError, DiskFullError or StoppedError.
    """
    files: dict[str, SourceFile] = {}
    skipped: list[SkippedFile] = []
    listed: frozenset[str] = frozenset()
    for address in map(store_address, addresses):
        objects, there = mirrored(address, wanted=lambda below: is_wanted(below, include, exclude), file_megabytes=file_megabytes)
        listed |= there
        for one in objects:
            try:
                if not one.reason:
                    files[one.shown] = replace(hash_file(one.copy), address=one.shown)
                    continue
                reason = one.reason
            except OSError as error:
                # Another run of the same address may have found it changed or gone since.
                reason = f"{UNREADABLE}: {error.strerror}"
            skipped.append(SkippedFile(path=one.shown, reason=reason))
    return Discovery(
        files=tuple(files[shown] for shown in sorted(files)),
        skipped=tuple(skipped),
        unreadable=sum(one.reason.startswith(UNREADABLE) for one in skipped),
        listed=listed,
    )
