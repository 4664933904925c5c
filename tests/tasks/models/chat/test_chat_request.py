"""What a call becomes before it is sent: pictures that fit, messages, the key of its reply, and about how many tokens."""

import base64
import dataclasses
import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydantic import BaseModel

from tasks.models.chat.request import (
    SHORTEST_SIDE,
    PictureError,
    call_key,
    data_url,
    first_messages,
    fit_size,
    padded_size,
    picture_tokens,
    request_of,
    second_messages,
    text_tokens,
)
from tasks.settings.models import ModelSettings
from tests.tasks.models.chat_worlds import call


def encoded(size, kind="PNG", mode="RGB", color=None):
    stream = io.BytesIO()
    Image.new(mode, size, color if color is not None else 200).save(stream, kind)
    return stream.getvalue()


def opened(url):
    return Image.open(io.BytesIO(base64.b64decode(url.partition(";base64,")[2], validate=True)))


@pytest.mark.parametrize(("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_what_fits_is_sent_as_it_is_and_what_is_too_large_is_scaled_down_in_its_shape_and_kind(kind, media):
    picture = encoded((64, 48), kind)
    assert data_url(picture, pixels=64 * 48) == f"data:{media};base64,{base64.b64encode(picture).decode()}"
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
    shown = fit_size(width, height, pixels=pixels)
    assert shown[0] * shown[1] <= max(pixels, *shown) and min(shown) >= 1
    wide = padded_size(*shown)
    assert min(wide) >= SHORTEST_SIDE and max(wide) <= 100 * min(wide)


SETTINGS = ModelSettings()
PICTURE = encoded((64, 64))


class Other(BaseModel):
    name: str


def key(asked, model="qwen", **changed):
    return call_key(asked, model=model, settings=ModelSettings.model_validate(changed))


def test_the_same_call_has_the_same_key_whatever_it_is_called():
    assert key(call()) == key(call(item="another name", purpose="evolve", check=lambda value: "no", subject="0" * 64))
    assert key(call()) == key(call(), limits={"in_flight": 1}, budget={"calls": 3}, pictures={"pixels": 5000})


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "another text"},
        {"prompt_hash": "another prompt"},
        {"images": (PICTURE,)},
        {"images": (PICTURE, PICTURE)},
        {"form": Other},
        {"max_output_tokens": 101},
        {"temperature": 0.2},
    ],
)
def test_whatever_decides_the_reply_changes_the_key(changed):
    assert key(dataclasses.replace(call(), **changed)) != key(call())


def test_the_model_and_its_parameters_change_the_key():
    shown = call(images=(PICTURE,))
    assert len({key(shown), key(shown, model="llama"), key(shown, temperature=0.5), key(shown, pictures={"pixels": 5000})}) == 4


def test_the_text_stands_before_numbered_pictures():
    (message,) = first_messages(call("look", images=(PICTURE, PICTURE)), pixels=5000)
    kinds = [part["text"] if part["type"] == "text" else part["image_url"]["url"][:22] for part in message["content"]]
    assert kinds == ["look", "Picture 1:", "data:image/png;base64,", "Picture 2:", "data:image/png;base64,"]
    assert first_messages(call("read"), pixels=5000) == [{"role": "user", "content": "read"}]


def test_the_second_question_shows_a_bounded_part_of_the_bad_reply():
    first = first_messages(call("read"), pixels=5000)
    messages = second_messages(first, "x" * 10**6 + "\ud800", "$it is not JSON")
    assert messages[0] == first[0] and len(messages[1]["content"]) == 2000
    assert "cannot be used: $it is not JSON." in messages[2]["content"]
    assert second_messages(first, "", "empty")[1]["content"] == "(nothing)"


def test_estimates_grow_with_text_and_pictures_and_are_rather_too_large():
    text, shown = call("word " * 300), call("word " * 300, images=(PICTURE, PICTURE))
    requests = [request_of(each, first_messages(each, pixels=5000), model="m", settings=SETTINGS) for each in (text, shown)]
    assert requests[0].input_tokens == text_tokens(1500, 1, SETTINGS.estimates) == 532
    assert requests[1].input_tokens == 532 + picture_tokens(2, SETTINGS) == 532 + 2 * 988


@pytest.mark.parametrize(("context_tokens", "written"), [(0, 5000), (100_000, 5000), (4096, 3891 - 1032), (900, 5000)])
def test_a_reply_gets_at_most_what_the_messages_leave_of_the_context(context_tokens, written):
    """Where they leave nothing the server says so, and what was asked together is asked in halves."""
    asked = call("q" * 3000, max_output_tokens=5000)
    messages = first_messages(asked, pixels=1)
    request = request_of(asked, messages, model="m", settings=ModelSettings(), context_tokens=context_tokens)
    assert request.output_tokens == json.loads(request.body)["max_tokens"] == written
