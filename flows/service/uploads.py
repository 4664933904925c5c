"""Keeps what is uploaded below `uploads/` in the home: in a folder for each corpus, then one for each content."""

import asyncio
import hashlib
import os
import time
from collections.abc import AsyncIterable, Callable
from contextlib import suppress
from pathlib import Path
from unicodedata import bidirectional, category

from storage.artifacts import PARTIAL, sync_folder
from storage.errors import RequestError
from storage.locations import corpus_location, uploads_folder
from storage.system import check_writable, explain_full_disk, require_room
from storage.text import printable_path
from tasks.parsing.formats import HEAD_BYTES, type_of_head
from tasks.parsing.jobs import ParseError
from tasks.settings.ask import load_settings
from tasks.settings.environment import settings_file
from tasks.settings.ingest import LimitSettings
from tasks.views.errors import RefusedError

LONGEST_NAME = 200
"""Bytes: most file systems take 255, and a displayed name may be longer than what was sent."""
DIGITS = 12
PARTIAL_SECONDS = 24 * 3600.0
"""Age at which the unfinished upload of a killed service is deleted."""


QUOTA_BYTES = 16 << 20
"""Between checks of the quota while an upload comes in."""
TURNS = {"LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Characters that change the writing direction: "fdp.exe" looks like "exe.pdf" behind one."""


async def keep_upload(
    corpus: str, name: str, stream: AsyncIterable[bytes], claim: Callable[[str], None], *, announced: str = ""
) -> Path:
    """Write the stream to a file and return its path: the same content under the same name is the same file.

    `claim` is called with the path before the file is there.

    Raise RequestError for a bad name of a file or corpus, RefusedError for what is no document or beyond
    `limits.file_megabytes` or `limits.uploads_megabytes`, DiskFullError, NotWritableError, and what the stream raises: then
    nothing of it is left.
    """
    location, kept_as, limits = corpus_location(corpus), check_name(name), load_settings(settings_file()).limits
    folder, most = uploads_folder() / location.name, limits.file_megabytes << 20
    size = int(announced) if announced.isdecimal() else 0
    require_small(size, most, kept_as)
    await asyncio.to_thread(_prepare, folder, size, limits)
    partial, digest, head, size, looked = folder / f"{PARTIAL}{os.urandom(8).hex()}", hashlib.sha256(), b"", 0, 0
    with explain_full_disk(folder, most):
        try:
            with partial.open("xb") as file:
                async for part in stream:
                    size += len(part)
                    require_small(size, most, kept_as)
                    if len(head) < HEAD_BYTES:
                        head = (head + part)[:HEAD_BYTES]
                        require_document(head, kept_as, whole=False)
                    digest.update(part)
                    await asyncio.to_thread(file.write, part)
                    if size - looked >= QUOTA_BYTES:
                        looked = size
                        await asyncio.to_thread(require_quota, 0, limits)
            require_document(head, kept_as, whole=True)
            await asyncio.to_thread(require_quota, 0, limits)
            kept = folder / digest.hexdigest()[:DIGITS] / kept_as
            claim(str(kept))
            return await asyncio.to_thread(_place, partial, kept)
        finally:
            partial.unlink(missing_ok=True)


def require_document(head: bytes, name: str, *, whole: bool) -> None:
    """Raise RefusedError where the first bytes, once they are there or the file is `whole`, are not those of a document.

    What a container holds is examined when the file is read in, in a confined process.
    """
    if whole or len(head) == HEAD_BYTES:
        try:
            type_of_head(head, name=name)
        except ParseError as error:
            what = f"{name!r} is no document: {error.reason}"
            raise RefusedError(415, what, name, "send a file of a format that is read") from error


def require_quota(more: int, limits: LimitSettings) -> None:
    """Raise RefusedError where the uploads of all corpora, unfinished ones included, and `more` bytes exceed the limit."""
    held = 0
    for folder, _folders, names in os.walk(uploads_folder()):
        for name in names:
            with suppress(FileNotFoundError):
                held += Path(folder, name).stat().st_size
    if held + more > limits.uploads_megabytes << 20:
        what = f"uploads hold {held >> 20:,} of {limits.uploads_megabytes:,} MB (limits.uploads_megabytes)"
        remedy = "remove uploaded documents, or raise the limit"
        raise RefusedError(507, what, str(limits.uploads_megabytes), remedy)


def require_small(size: int, most: int, name: str) -> None:
    if size > most:
        what = f"the file is larger than {most >> 20} MB (limits.file_megabytes)"
        raise RefusedError(413, what, name, "upload it in parts; larger files are not read")


def check_name(name: str) -> str:
    """Return the name as the catalog shows it; raise RequestError where it is none of a file in a folder."""
    shown = printable_path(name)
    misleads = any(category(sign) in ("Cc", "Zl", "Zp") or bidirectional(sign) in TURNS for sign in name)
    if not name.strip() or name.startswith(".") or {"/", "\\"} & set(name) or misleads or len(shown.encode()) > LONGEST_NAME:
        remedy = "no '/', no '\\', no '.' in front, no line break, no character that changes the direction"
        raise RequestError(
            f"{shown!r} is no name for an uploaded file",
            shown[:100],
            f"take a plain file name such as report.pdf: {remedy}, {LONGEST_NAME} bytes at most",
        )
    return shown


def _prepare(folder: Path, size: int, limits: LimitSettings) -> None:
    check_writable(folder)
    require_room(folder, size)
    for left in folder.glob(f"{PARTIAL}*"):
        with suppress(FileNotFoundError):
            if left.stat().st_mtime < time.time() - PARTIAL_SECONDS:
                left.unlink()
    require_quota(size, limits)


def _place(partial: Path, kept: Path) -> Path:
    """Move the finished file to its place, in one step that survives a power cut."""
    with partial.open("rb") as file:
        os.fsync(file.fileno())
    try:
        while not _try_to_move(partial, kept):
            pass
        sync_folder(kept.parent)
    except OSError:
        with suppress(OSError):
            kept.parent.rmdir()
        raise
    sync_folder(kept.parents[1])
    return kept


def _try_to_move(partial: Path, kept: Path) -> bool:
    """Say whether the move succeeded; its folder may go meanwhile, with another file of the same content."""
    kept.parent.mkdir(exist_ok=True)
    try:
        partial.replace(kept)
    except FileNotFoundError:
        if not partial.exists():
            raise
        return False
    return True
