"""Pictures made small enough to travel inside the page."""

from __future__ import annotations

import base64
import io
import warnings
from dataclasses import dataclass
from functools import cached_property

from PIL import Image

FORMATS = ("PNG", "JPEG")
"""What our parser children write; no other decoder is let near their bytes."""
TALLEST = 3
"""Height of a picture in multiples of the width allowed."""


class PictureError(ValueError):
    """Bytes that are no picture we may show."""


@dataclass(frozen=True)
class Picture:
    """A picture ready for the page."""

    data: bytes
    width: int
    height: int

    @cached_property
    def address(self) -> str:
        """The picture itself as an address."""
        return f"data:image/webp;base64,{base64.b64encode(self.data).decode()}"


def shrink_picture(data: bytes, *, width: int, quality: int, megapixels: int) -> Picture:
    """Return the picture at most `width` pixels wide, in its own proportions.

    Raise PictureError where the bytes are no PNG or JPEG, are damaged, or hold more than `megapixels`.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", Image.DecompressionBombWarning)
            with Image.open(io.BytesIO(data), formats=FORMATS) as picture:
                if picture.width * picture.height > megapixels * 1_000_000:
                    raise PictureError(
                        f"the picture has {picture.width} x {picture.height} pixels; {megapixels} megapixels are allowed"
                    )
                picture.thumbnail((width, width * TALLEST), Image.Resampling.LANCZOS)
                small = picture.convert("RGB")
    except (OSError, SyntaxError, EOFError, Image.DecompressionBombError) as error:
        raise PictureError(f"the picture cannot be decoded: {error}") from error
    buffer = io.BytesIO()
    small.save(buffer, "WEBP", quality=quality, method=4)
    return Picture(buffer.getvalue(), small.width, small.height)
