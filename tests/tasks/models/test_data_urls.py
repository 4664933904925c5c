import base64
import io

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image

from tasks.models.chat_request import SHORTEST_SIDE, PictureError, data_url, padded_size, shown_size


def encoded(size, kind="PNG", mode="RGB", color=None):
    stream = io.BytesIO()
    Image.new(mode, size, color if color is not None else 200).save(stream, kind)
    return stream.getvalue()


def opened(url):
    return Image.open(io.BytesIO(base64.b64decode(url.partition(";base64,")[2], validate=True)))


@pytest.mark.parametrize(("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_what_fits_is_sent_as_it_is(kind, media):
    picture = encoded((64, 48), kind)
    url = data_url(picture, pixels=64 * 48)
    assert url == f"data:{media};base64,{base64.b64encode(picture).decode()}"


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_what_is_too_large_is_scaled_down_in_its_shape_and_kind(kind):
    shown = opened(data_url(encoded((2000, 1000), kind), pixels=100_000))
    assert shown.format == kind and shown.size == (447, 223)


def test_other_kinds_are_sent_as_png_and_what_is_transparent_lies_on_white():
    assert opened(data_url(encoded((64, 64), "GIF", "P"), pixels=10_000)).format == "PNG"
    shown = opened(data_url(encoded((100, 100), "PNG", "RGBA", (255, 0, 0, 0)), pixels=2500))
    assert shown.mode == "RGB" and shown.getpixel((25, 25)) == (255, 255, 255)


@pytest.mark.parametrize(("size", "padded"), [((10, 10), (32, 32)), ((6400, 3), (6400, 64)), ((20, 400), (32, 400))])
def test_strips_and_specks_get_room_around_them(size, padded):
    shown = opened(data_url(encoded(size), pixels=10**6))
    assert shown.size == padded and shown.getpixel((padded[0] - 1, padded[1] - 1)) == (255, 255, 255)


@pytest.mark.parametrize(
    "picture", [b"", b"no picture", encoded((64, 64))[:60], encoded((64, 64))[:-30], encoded((900, 900), "JPEG")[:700]]
)
def test_what_is_no_picture_is_refused(picture):
    with pytest.raises(PictureError, match=f"a picture of {len(picture)} bytes cannot be read"):
        data_url(picture, pixels=1000)


@given(st.integers(1, 30_000), st.integers(1, 30_000), st.integers(3136, 10**7))
def test_no_size_has_more_pixels_than_allowed_and_none_is_a_strip(width, height, pixels):
    shown = shown_size(width, height, pixels=pixels)
    assert shown[0] * shown[1] <= max(pixels, *shown) and min(shown) >= 1
    wide = padded_size(*shown)
    assert min(wide) >= SHORTEST_SIDE and max(wide) <= 100 * min(wide)
