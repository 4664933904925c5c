"""Pictures are made small, in their own proportions; what is no PNG or JPEG of a sane size is refused."""

import base64
import io
import struct
import zlib

import pytest
from PIL import Image

from tasks.report.pictures import PictureError, shrink_picture

RULES = {"width": 100, "quality": 80, "megapixels": 1}


def drawn(size, kind="PNG", mode="RGB"):
    buffer = io.BytesIO()
    Image.new(mode, size, 200).save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_a_wide_picture_is_made_small_in_its_proportions(kind):
    picture = shrink_picture(drawn((400, 200), kind), **RULES)
    assert (picture.width, picture.height) == (100, 50)
    assert picture.address.startswith("data:image/webp;base64,")
    with Image.open(io.BytesIO(base64.b64decode(picture.address.partition(",")[2]))) as again:
        assert (again.format, again.size) == ("WEBP", (100, 50))


def test_a_small_picture_is_not_blown_up_and_a_tall_one_is_bounded():
    assert shrink_picture(drawn((40, 20)), **RULES).width == 40
    assert shrink_picture(drawn((10, 900)), **RULES).height == 300


@pytest.mark.parametrize("mode", ["L", "P", "RGBA", "1"])
def test_every_mode_of_a_picture_is_taken(mode):
    assert shrink_picture(drawn((20, 20), mode=mode), **RULES).width == 20


def test_no_other_decoder_sees_the_bytes():
    for kind in ("GIF", "BMP", "EPS"):
        with pytest.raises(PictureError, match="cannot be decoded"):
            shrink_picture(drawn((20, 20), kind), **RULES)


def test_damaged_and_huge_pictures_are_refused_in_words():
    with pytest.raises(PictureError, match="cannot be decoded"):
        shrink_picture(drawn((400, 400))[:90], **RULES)
    with pytest.raises(PictureError, match="2000 x 2000 pixels; 1 megapixels"):
        shrink_picture(drawn((2000, 2000), "JPEG"), **RULES)
    header = struct.pack(">IIBBBBB", 30_000, 30_000, 8, 2, 0, 0, 0)
    chunk = struct.pack(">I", 13) + b"IHDR" + header + struct.pack(">I", zlib.crc32(b"IHDR" + header))
    with pytest.raises(PictureError):
        shrink_picture(b"\x89PNG\r\n\x1a\n" + chunk, **RULES)
