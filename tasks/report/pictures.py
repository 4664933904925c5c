"""The pictures of a report, made small: of pages, and of elements that were kept when they were read."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from functools import cached_property

from PIL import Image

from storage.artifacts import ArtifactStore, home_artifacts
from storage.records.documents import DocumentRecord, Page
from tasks.readers.page_pictures import NoPictureError, SourceCopies, page_bytes
from tasks.settings.ingest import IngestSettings

FORMATS = ("PNG", "JPEG")
"""What our parser children write; no other decoder is let near their bytes."""
SETTINGS = IngestSettings()
NO_PICTURES = "documents of this format have no pictures of pages"
PICTURE_WIDTH = 1400
"""Pixels; small print stays readable on a dense screen."""
PICTURE_QUALITY = 80
"""WebP's; below 70 letters fray."""
TALLEST = 3
"""Height of a picture in multiples of the width allowed."""
POINTS_PER_INCH = 72
DPI_BOUNDS = (18, 300)


@dataclass(frozen=True)
class Picture:
    data: bytes
    width: int
    height: int

    @cached_property
    def address(self) -> str:
        return f"data:image/webp;base64,{base64.b64encode(self.data).decode()}"


def shrink_picture(data: bytes, width: int = PICTURE_WIDTH) -> Picture:
    """Return the picture at most `width` pixels wide, in its own proportions.

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
                picture.thumbnail((width, width * TALLEST), Image.Resampling.LANCZOS)
                small = picture.convert("RGB")
    except (OSError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise NoPictureError(f"the picture cannot be decoded: {error}") from error
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=PICTURE_QUALITY, method=4)
    return Picture(buffer.getvalue(), small.width, small.height)


def page_picture(
    artifacts: ArtifactStore, document: DocumentRecord, page: Page, copies: SourceCopies, width: int = PICTURE_WIDTH
) -> Picture:
    """Return the page's picture, made small; raise NoPictureError where there is none and none can be drawn."""
    low, high = DPI_BOUNDS
    dpi = min(max(round(width * POINTS_PER_INCH / max(page.width_points, 1.0)), low), high)
    return shrink_picture(page_bytes(artifacts, document, page, copies, dpi=dpi), width)


def draw_page(document: DocumentRecord, page: Page, width: int = PICTURE_WIDTH) -> tuple[Picture | None, str]:
    """Return the picture of one page, or why there is none."""
    with SourceCopies(SETTINGS.limits.file_megabytes) as copies:
        try:
            return page_picture(home_artifacts(), document, page, copies, width), ""
        except NoPictureError as error:
            return None, str(error) or NO_PICTURES
