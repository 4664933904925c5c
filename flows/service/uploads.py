"""Keeps what is uploaded below `uploads/` in the home: in a folder for each corpus, then one for each content."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from pathlib import Path

from flows.display.output import CommandError
from storage.artifacts import PARTIAL, sync_folder
from storage.locations import corpus_location, uploads_folder
from storage.system import check_writable, full_disk_explained, require_room
from tasks.finding.plan import displayed
from tasks.settings.ingest import LimitSettings

LONGEST_NAME = 200
"""Bytes: most file systems take 255, and a name that is displayed may be longer than what was sent."""
DIGITS = 12
PARTIAL_SECONDS = 24 * 3600.0
"""What a killed service had begun to keep is deleted after so long."""


class TooLargeError(CommandError):
    """More is sent than is read."""


async def keep_upload(
    corpus: str, name: str, stream: AsyncIterable[bytes], claim: Callable[[str], None], *, announced: str = ""
) -> Path:
    """Keep what is streamed, and return where: the same content under the same name is the same file.

    `claim` is called before it is there.

    Raise CommandError for a name that is no plain file name, LocationError for one that no corpus may have, TooLargeError beyond
    `limits.file_megabytes`, DiskFullError, NotWritableError, and whatever the stream raises: then nothing of it is left.
    """
    location, kept_as = corpus_location(corpus), plain_name(name)
    folder, most = uploads_folder() / location.name, LimitSettings().file_megabytes << 20
    size = int(announced) if announced.isdecimal() else 0
    require_small(size, most, kept_as)
    await asyncio.to_thread(_prepare, folder, size)
    partial, digest, size = folder / f"{PARTIAL}{os.urandom(8).hex()}", hashlib.sha256(), 0
    with full_disk_explained(folder, most):
        try:
            with partial.open("xb") as file:
                async for part in stream:
                    size += len(part)
                    require_small(size, most, kept_as)
                    digest.update(part)
                    await asyncio.to_thread(file.write, part)
            kept = folder / digest.hexdigest()[:DIGITS] / kept_as
            claim(str(kept))
            return await asyncio.to_thread(_place, partial, kept)
        finally:
            partial.unlink(missing_ok=True)


def require_small(size: int, most: int, name: str) -> None:
    if size > most:
        what = f"the file is larger than {most >> 20} MB (limits.file_megabytes)"
        raise TooLargeError(what, name, "upload it in parts; larger files are not read")


def plain_name(name: str) -> str:
    """Return the name as the catalog shows it; raise CommandError where it is none of a file in a folder."""
    shown = displayed(name)
    if not name.strip() or name.startswith(".") or {"/", "\\", "\0"} & set(name) or len(shown.encode()) > LONGEST_NAME:
        raise CommandError(
            f"{shown!r} is no name for an uploaded file",
            shown[:100],
            f"take a plain file name such as report.pdf: no '/', no '\\', no '.' in front, {LONGEST_NAME} bytes at most",
        )
    return shown


def _prepare(folder: Path, size: int) -> None:
    check_writable(folder)
    require_room(folder, size)
    for left in folder.glob(f"{PARTIAL}*"):
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < time.time() - PARTIAL_SECONDS:
                left.unlink()


def _place(partial: Path, kept: Path) -> Path:
    """Put what was written where it stays, in one step that survives a power cut."""
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    try:
        while not _moved(partial, kept):
            pass
        sync_folder(kept.parent)
    except OSError:
        with suppress(OSError):
            kept.parent.rmdir()
        raise
    sync_folder(kept.parents[1])
    return kept


def _moved(partial: Path, kept: Path) -> bool:
    """Say whether the file is where it stays; its folder may go meanwhile, with another file of the same content."""
    kept.parent.mkdir(exist_ok=True)
    try:
        partial.replace(kept)
    except FileNotFoundError:
        if not partial.exists():
            raise
        return False
    return True
