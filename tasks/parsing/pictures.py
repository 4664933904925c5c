"""Pictures in and out: weighed before they are decoded, written small and always the same."""

import io
import warnings
from pathlib import Path

from PIL import Image, ImageOps, UnidentifiedImageError

from storage.records.documents import DocumentState, PageParser, ParsedPage
from tasks.parsing.jobs import Job, ParseError, Reading

PNG_COLOURS = 64
JPEG_QUALITY = 90
POINTS_PER_INCH = 72


def encode(picture: Image.Image) -> bytes:
    """Return a PNG where few colours make it small and sharp, else a JPEG."""
    rgb = picture if picture.mode in {"RGB", "L"} else picture.convert("RGB")
    buffer = io.BytesIO()
    if rgb.getcolors(PNG_COLOURS) is not None:
        rgb.save(buffer, "PNG", compress_level=6)
    else:
        rgb.save(buffer, "JPEG", quality=JPEG_QUALITY)
    return buffer.getvalue()


def decode(data: io.BytesIO | Path, *, megapixels: int) -> Image.Image:
    """Return the picture upright and flattened on white.

    Raises ParseError where its header says it is larger than `megapixels`, or where it is damaged.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(data) as picture:
                width, height = picture.size
                if width * height > megapixels * 1_000_000:
                    reason = f"the picture has {width} x {height} pixels; {megapixels} megapixels are allowed"
                    raise ParseError(DocumentState.FAILED, f"{reason} (limits.image_megapixels)")
                picture.load()
                return flatten(ImageOps.exif_transpose(picture))
    except UnidentifiedImageError as error:
        raise ParseError(DocumentState.FAILED, "the picture is of a kind that cannot be decoded") from error
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise ParseError(DocumentState.FAILED, f"the picture is damaged ({error})") from error


def flatten(picture: Image.Image) -> Image.Image:
    """Return the picture as grey or RGB; what was transparent is white."""
    if picture.mode in {"RGB", "L"}:
        return picture
    if picture.mode in {"RGBA", "LA", "PA"} or "transparency" in picture.info:
        layered = picture.convert("RGBA")
        ground = Image.new("RGB", layered.size, "white")
        ground.paste(layered, mask=layered.getchannel("A"))
        return ground
    return picture.convert("RGB")


def read_picture(job: Job) -> Reading:
    """Return the picture as a page without blocks, to be read by OCR; its size in points follows its resolution."""
    Image.MAX_IMAGE_PIXELS = None
    picture = decode(job.source, megapixels=job.limits.image_megapixels)
    (job.folder / "image-1").write_bytes(encode(picture))
    points = POINTS_PER_INCH / job.ocr.page_dpi
    page = ParsedPage(
        number=1,
        width_points=picture.width * points,
        height_points=picture.height * points,
        parser=PageParser.NONE,
        blocks=(),
        image="image-1",
    )
    return Reading(title="", pages=(page,))
