"""Pictures as data URLs: no server ever fetches an address for us."""

from __future__ import annotations

import base64
import io
import math

from PIL import Image

MEDIA_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}
"""What every server reads; other formats are written as PNG."""
JPEG_QUALITY = 90
SHORTEST_SIDE = 32
WIDEST_RATIO = 100
"""Qwen-VL refuses pictures with a side under 28 pixels, or more than 200 times as long as wide."""


class PictureError(ValueError):
    """Bytes that are no picture."""


def data_url(picture: bytes, *, pixels: int) -> str:
    """Return the encoded picture as a data URL of at most about `pixels` pixels; raise PictureError where it cannot be read.

    What fits is sent as it is.
    """
    try:
        with Image.open(io.BytesIO(picture)) as opened:
            kind = opened.format or ""
            if kind in MEDIA_TYPES and opened.size == shown_size(*opened.size, pixels=pixels) == padded_size(*opened.size):
                opened.verify()
                return _url(kind, picture)
            fitted = _fit(opened, pixels)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise PictureError(f"a picture of {len(picture)} bytes cannot be read: {error}") from error
    kind = kind if kind in MEDIA_TYPES else "PNG"
    stream = io.BytesIO()
    fitted.save(stream, kind, quality=JPEG_QUALITY)
    return _url(kind, stream.getvalue())


def shown_size(width: int, height: int, *, pixels: int) -> tuple[int, int]:
    """Return the largest size of the same shape with at most so many pixels, no side under 1."""
    scale = min(1.0, math.sqrt(pixels / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))


def padded_size(width: int, height: int) -> tuple[int, int]:
    """Return the size with room around a strip or a speck, so that the model takes it."""
    return max(width, SHORTEST_SIDE, -(-height // WIDEST_RATIO)), max(height, SHORTEST_SIDE, -(-width // WIDEST_RATIO))


def _fit(opened: Image.Image, pixels: int) -> Image.Image:
    """Scale down, lay on white where it is transparent or too narrow."""
    size = shown_size(*opened.size, pixels=pixels)
    opened.draft("RGB", size)
    shown = opened.convert("RGBA").resize(size, Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", padded_size(*size), "white")
    sheet.paste(shown, mask=shown)
    return sheet


def _url(kind: str, encoded: bytes) -> str:
    return f"data:{MEDIA_TYPES[kind]};base64,{base64.b64encode(encoded).decode('ascii')}"
