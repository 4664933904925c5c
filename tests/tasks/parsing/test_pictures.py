"""Pictures are weighed before they are decoded, turned upright, and written small."""

import io

import numpy as np
import pytest
from PIL import Image

from storage.records.documents import PageParser
from tasks.parsing.jobs import Job, ParseError, Work
from tasks.parsing.pictures import decode, encode, flatten, read_picture
from tasks.settings.ingest import LimitSettings, OcrSettings, ParseSettings
from tests import hostile


def noise() -> Image.Image:
    return Image.fromarray(np.random.default_rng(5).integers(0, 255, (64, 96, 3), dtype=np.uint8))


def test_few_colours_are_kept_exactly_and_photographs_are_made_small():
    drawing = Image.new("RGB", (100, 50), "white")
    drawing.paste("black", (10, 10, 40, 40))
    assert encode(drawing).startswith(b"\x89PNG")
    assert Image.open(io.BytesIO(encode(drawing))).tobytes() == drawing.tobytes()
    assert encode(noise()).startswith(b"\xff\xd8\xff") and encode(noise()) == encode(noise())


def test_a_picture_is_turned_as_its_camera_says():
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    noise().save(buffer, "JPEG", exif=exif)
    assert decode(buffer, megapixels=1).size == (64, 96)


def test_what_is_transparent_becomes_white():
    assert flatten(Image.new("RGBA", (2, 2), (255, 0, 0, 0))).getpixel((0, 0)) == (255, 255, 255)
    assert flatten(Image.new("P", (2, 2))).mode == "RGB"


@pytest.mark.parametrize("data", [b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_a_damaged_picture_is_refused(data):
    with pytest.raises(ParseError, match="picture"):
        decode(io.BytesIO(data), megapixels=1)


def test_a_large_picture_is_refused_before_it_is_decoded(tmp_path):
    with pytest.raises(ParseError, match="4000 x 4000 pixels; 15 megapixels"):
        decode(hostile.huge_png(tmp_path, side=4000), megapixels=15)


def test_a_picture_is_a_page_to_be_read_later(tmp_path):
    noise().save(tmp_path / "document", "TIFF")
    job = Job(
        work=Work.WHOLE, source=tmp_path / "document", folder=tmp_path, name="a.tif", media_type="image/tiff", cpu_seconds=1,
        wall_seconds=1, parse=ParseSettings(), ocr=OcrSettings(page_dpi=144), limits=LimitSettings(),
    )  # fmt: skip
    (page,) = read_picture(job).pages
    assert (page.parser, page.image, page.width_points, page.height_points) == (PageParser.NONE, "image-1", 48, 32)
    with Image.open(tmp_path / "image-1") as picture:
        assert picture.size == (96, 64)
