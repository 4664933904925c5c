import io

import numpy as np
import pytest
from PIL import Image

from tasks.models.ocr_worker import LONGEST_SIDE, bounds, decode, pad_strip


def encoded(size, mode="RGB", kind="PNG") -> bytes:
    buffer = io.BytesIO()
    Image.new(mode, size, "white").save(buffer, kind)
    return buffer.getvalue()


@pytest.mark.parametrize(("mode", "kind"), [("RGB", "PNG"), ("L", "PNG"), ("1", "PNG"), ("P", "PNG"), ("RGB", "JPEG")])
def test_every_kind_of_picture_becomes_three_colours(mode, kind):
    assert decode(encoded((30, 20), mode, kind)).shape == (20, 30, 3)


def test_a_large_picture_is_made_smaller_in_its_shape():
    assert decode(encoded((4000, 1000))).shape == (LONGEST_SIDE // 4, LONGEST_SIDE, 3)


def test_strips_are_padded_to_a_quarter_and_pictures_are_left():
    assert pad_strip(np.zeros((1000, 10, 3), np.uint8)).shape == (1000, 250, 3)
    assert pad_strip(np.zeros((10, 1000, 3), np.uint8)).shape == (250, 1000, 3)
    assert pad_strip(np.zeros((300, 400, 3), np.uint8)).shape == (300, 400, 3)


def test_a_box_stays_inside_its_picture():
    corners = np.array([[-5, 10], [110, 10], [110, 30], [-5, 30]], dtype=np.float32)
    assert bounds(corners, 100, 40) == [0.0, 0.25, 1.0, 0.75]
