"""The pictures of a report: kept when a page was read, else drawn again from a checked copy of the file; made small."""

from __future__ import annotations

import base64
import hashlib
import io
import os
import tempfile
import warnings
from contextlib import ExitStack
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import BinaryIO

from PIL import Image

from storage.artifacts import ArtifactDamagedError, ArtifactStore
from storage.records.documents import DocumentRecord, DocumentState, Page
from storage.system import open_plain
from tasks.finding.plan import real_path
from tasks.parsing.jobs import PDF
from tasks.parsing.parse import ParseError, render_page
from tasks.parsing.supervisor import ParserStartError
from tasks.settings.ingest import IngestSettings

FORMATS = ("PNG", "JPEG")
"""What our parser children write; no other decoder is let near their bytes."""
SETTINGS = IngestSettings()
PICTURE_WIDTH = 1400
"""Pixels; small print stays readable on a dense screen."""
PICTURE_QUALITY = 80
"""WebP's; below 70 letters fray."""
TALLEST = 3
"""Height of a picture in multiples of the width allowed."""


class NoPictureError(LookupError):
    """A page, or an element, of which no picture can be had; the message says why, in words for the report's reader."""


@dataclass(frozen=True)
class Picture:
    data: bytes
    width: int
    height: int

    @cached_property
    def address(self) -> str:
        return f"data:image/webp;base64,{base64.b64encode(self.data).decode()}"


def shrink_picture(data: bytes) -> Picture:
    """Return the picture at most PICTURE_WIDTH pixels wide, in its own proportions.

    Raise NoPictureError where the bytes are no PNG or JPEG, are damaged, or hold more pixels than may be read.
    """
    most = SETTINGS.limits.image_megapixels
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                if picture.width * picture.height > most * 1_000_000:
                    raise NoPictureError(
                        f"the picture has {picture.width} x {picture.height} pixels; {most} megapixels are allowed"
                    )
                picture.thumbnail((PICTURE_WIDTH, PICTURE_WIDTH * TALLEST), Image.Resampling.LANCZOS)
                small = picture.convert("RGB")
    except (OSError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise NoPictureError(f"the picture cannot be decoded: {error}") from error
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=PICTURE_QUALITY, method=4)
    return Picture(buffer.getvalue(), small.width, small.height)


READ_BYTES = 1 << 20


class SourceCopies(ExitStack):
    """Copies of documents' files, made when they are first asked for and removed with the block."""

    def __init__(self, megabytes: int) -> None:
        super().__init__()
        self._most_bytes = megabytes << 20
        self._made: dict[str, Path | str] = {}

    @cached_property
    def _folder(self) -> str:
        """The folder of all copies; by its name a later parser finds what a kill left."""
        return self.enter_context(tempfile.TemporaryDirectory(prefix=f"flowreader-parse-{os.getpid()}-"))

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
            try:
                stream = open_plain(found)
            except OSError:
                continue
            with stream:
                if os.fstat(stream.fileno()).st_size > self._most_bytes:
                    reason = f"its file is larger than {self._most_bytes >> 20} MB (limits.file_megabytes)"
                    continue
                copy = Path(tempfile.mkdtemp(dir=self._folder)) / Path(found).name
                if self._copied(stream, copy) == document.id:
                    return copy
                copy.unlink()
        return reason

    def _copied(self, stream: BinaryIO, target: Path) -> str:
        """Copy the bytes, of a file that grows no more than allowed; return the hash of what was copied."""
        digest = hashlib.sha256()
        with target.open("xb") as copy:
            while copy.tell() <= self._most_bytes and (piece := stream.read(READ_BYTES)):
                digest.update(piece)
                copy.write(piece)
        return digest.hexdigest()


POINTS_PER_INCH = 72
DPI_BOUNDS = (18, 300)


def kept_picture(artifacts: ArtifactStore, name: str) -> Picture:
    """Return a kept picture, made small; raise NoPictureError where it is gone or damaged."""
    try:
        return shrink_picture(artifacts.read(name))
    except ArtifactDamagedError as error:
        raise NoPictureError("its picture is missing or damaged; ingest the document again") from error


def page_picture(artifacts: ArtifactStore, document: DocumentRecord, page: Page, copies: SourceCopies) -> Picture:
    """Return the page's picture, drawn from a copy of the file; raise NoPictureError where there is none and none can be."""
    if page.image:
        return kept_picture(artifacts, page.image)
    if document.media_type != PDF or page.width_points <= 0:
        raise NoPictureError("")
    path = copies.of(document)
    low, high = DPI_BOUNDS
    dpi = min(max(round(PICTURE_WIDTH * POINTS_PER_INCH / page.width_points), low), high)
    try:
        return shrink_picture(render_page(path, page=page.number, dpi=dpi, settings=SETTINGS))
    except ParseError as error:
        locked = error.state is DocumentState.NEEDS_PASSWORD
        raise NoPictureError("its file is encrypted, so the page cannot be drawn" if locked else error.reason) from error
    except (OSError, ParserStartError) as error:
        raise NoPictureError(f"the page cannot be drawn: {error}") from error
