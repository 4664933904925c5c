"""The files that pages are drawn from: each found once, copied and checked, so that none changes between hash and drawing."""

from __future__ import annotations

import hashlib
import os
import stat
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

from storage.records import DocumentRecord
from tasks.planning import real_path

READ_BYTES = 1 << 20


class NoPictureError(LookupError):
    """A page, or an element, of which no picture can be had; the message says why, in words for the report's reader."""


class SourceCopies:
    """Copies of documents' files, made when they are first asked for and removed with the block."""

    def __init__(self, megabytes: int) -> None:
        """Copy files of at most so many megabytes."""
        self._most_bytes = megabytes << 20
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._made: dict[str, Path | str] = {}

    def __enter__(self) -> SourceCopies:
        """Begin without a copy: many reports need none."""
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """Remove the copies."""
        if self._folder is not None:
            self._folder.cleanup()

    def of(self, document: DocumentRecord) -> Path:
        """Return a copy with the document's very bytes; raise NoPictureError, every time, where there is none."""
        if document.id not in self._made:
            try:
                self._made[document.id] = self._copy(document)
            except OSError as error:
                self._made[document.id] = f"the page cannot be drawn: {error}"
        made = self._made[document.id]
        if isinstance(made, str):
            raise NoPictureError(made)
        return made

    def _copy(self, document: DocumentRecord) -> Path | str:
        """Copy the first of the document's paths, as the catalog shows them, that still has its bytes; say why none has."""
        reason = "its file was moved or changed since it was read, so the page cannot be drawn"
        for found in filter(None, map(real_path, document.paths)):
            with _opened(found) as stream:
                if stream is None:
                    continue
                if os.fstat(stream.fileno()).st_size > self._most_bytes:
                    reason = f"its file is larger than {self._most_bytes >> 20} MB (limits.file_megabytes)"
                    continue
                copy = self._place() / Path(found).name
                if self._copied(stream, copy) == document.id:
                    return copy
                copy.unlink()
        return reason

    def _place(self) -> Path:
        """Return an empty folder; the first makes the one around them, by whose name a later parser finds what a kill left."""
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix=f"flowreader-parse-{os.getpid()}-")
        return Path(tempfile.mkdtemp(dir=self._folder.name))

    def _copied(self, stream: BinaryIO, target: Path) -> str:
        """Copy the bytes, of a file that grows no more than allowed; return the hash of what was copied."""
        digest = hashlib.sha256()
        with target.open("xb") as copy:
            while copy.tell() <= self._most_bytes and (piece := stream.read(READ_BYTES)):
                digest.update(piece)
                copy.write(piece)
        return digest.hexdigest()


@contextmanager
def _opened(path: str) -> Iterator[BinaryIO | None]:
    """Open a plain file, no link and nothing that waits for a writer; None where there is none that may be read."""
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError:
        yield None
        return
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        yield None
        return
    with os.fdopen(descriptor, "rb") as stream:
        yield stream
