"""A call as the body of a request, and the key of its reply in the cache."""

import base64
import io
import json
import math
from dataclasses import dataclass
from pathlib import Path
from string import Template
from typing import Any

from PIL import Image
from pydantic import BaseModel

from storage.artifacts import hash_bytes
from storage.codec import canonical_json
from storage.records.documents import identify
from tasks.models.chat.call import ChatCall
from tasks.models.chat.stream import Draft
from tasks.settings.models import ChatEstimates, ModelSettings

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
            if kind in MEDIA_TYPES and opened.size == fit_size(*opened.size, pixels=pixels) == padded_size(*opened.size):
                opened.verify()
                return _url(kind, picture)
            fitted = _fit(opened, pixels)
    except (OSError, SyntaxError, ValueError, EOFError, Image.DecompressionBombError) as error:
        raise PictureError(f"a picture of {len(picture)} bytes cannot be read: {error}") from error
    kind = kind if kind in MEDIA_TYPES else "PNG"
    stream = io.BytesIO()
    fitted.save(stream, kind, quality=JPEG_QUALITY)
    return _url(kind, stream.getvalue())


def fit_size(width: int, height: int, *, pixels: int) -> tuple[int, int]:
    """Return the largest size of the same shape with at most `pixels` pixels, no side under 1."""
    scale = min(1.0, math.sqrt(pixels / (width * height)))
    return max(1, int(width * scale)), max(1, int(height * scale))


def padded_size(width: int, height: int) -> tuple[int, int]:
    """Return the size with room around a strip or a speck, so that the model takes it."""
    return max(width, SHORTEST_SIDE, -(-height // WIDEST_RATIO)), max(height, SHORTEST_SIDE, -(-width // WIDEST_RATIO))


def _fit(opened: Image.Image, pixels: int) -> Image.Image:
    """Scale down, lay on white where it is transparent or too narrow."""
    size = fit_size(*opened.size, pixels=pixels)
    opened.draft("RGB", size)
    shown = opened.convert("RGBA").resize(size, Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", padded_size(*size), "white")
    sheet.paste(shown, mask=shown)
    return sheet


def _url(kind: str, encoded: bytes) -> str:
    return f"data:{MEDIA_TYPES[kind]};base64,{base64.b64encode(encoded).decode('ascii')}"


ESTIMATED_SHARE = 0.95
"""Of a context is filled by estimates."""
SHOWN_OF_A_BAD_REPLY = 2000
"""Characters of an unusable reply that the model is shown again."""
MEND_REPLY = (Path(__file__).parents[2] / "prompts" / "mend_reply.md").read_text("utf-8")

Message = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Request:
    """The body of a POST, how many tokens it takes at most, as far as can be known before, and what hands its draft on."""

    body: bytes
    input_tokens: int
    output_tokens: int
    draft: Draft | None = None
    has_pictures: bool = False


def call_key(call: ChatCall[Any], *, model: str, settings: ModelSettings) -> str:
    """Return what decides the reply, as one hash: model, text, pictures, form and parameters."""
    return identify(
        "chat",
        model,
        call.prompt,
        call.prompt_hash,
        len(call.images),
        *(hash_bytes(image) for image in call.images),
        settings.pictures.pixels if call.images else 0,
        canonical_json(_schema(call.form)).decode(),
        MEND_REPLY,
        call.max_output_tokens,
        repr(_temperature(call, settings)),
        *([settings.repeat] if settings.repeat else []),
    )


def _temperature(call: ChatCall[Any], settings: ModelSettings) -> float:
    return settings.temperature if call.temperature is None else call.temperature


def first_messages(call: ChatCall[Any], *, pixels: int) -> list[Message]:
    """Return the conversation that asks; the text stands first: what prompts begin with in common a server reads only once.

    Raises PictureError.
    """
    parts: list[Message] = [{"type": "text", "text": call.prompt}]
    for number, image in enumerate(call.images, start=1):
        parts.append({"type": "text", "text": f"Picture {number}:"})
        parts.append({"type": "image_url", "image_url": {"url": data_url(image, pixels=pixels)}})
    told = [{"role": "system", "content": call.system}] if call.system else []
    return [*told, {"role": "user", "content": parts if call.images else call.prompt}]


def second_messages(first: list[Message], reply: str, complaint: str) -> list[Message]:
    """Return the conversation that asks once more, with the reply that did not fit and the complaint about it."""
    sendable = reply[:SHOWN_OF_A_BAD_REPLY].encode("utf-8", "replace").decode()  # no JSON reader takes half signs
    answer = {"role": "assistant", "content": sendable or "(nothing)"}
    return [*first, answer, {"role": "user", "content": Template(MEND_REPLY).substitute(complaint=complaint).strip()}]


def request_of(
    call: ChatCall[Any], messages: list[Message], *, model: str, settings: ModelSettings, context_tokens: int = 0
) -> Request:
    """Return the request; where it is known how many tokens the model has, the reply gets what the messages leave."""
    texts = sum(len(message["content"]) for message in messages if isinstance(message["content"], str))
    texts += len(call.prompt) if call.images else 0
    read = text_tokens(texts, len(messages), settings.estimates) + picture_tokens(len(call.images), settings)
    left = int(context_tokens * ESTIMATED_SHARE) - read
    written = min(call.max_output_tokens, left) if left > 0 else call.max_output_tokens
    body = {
        "model": model,
        "messages": messages,
        "max_tokens": written,
        "temperature": _temperature(call, settings),
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": call.form.__name__, "schema": _schema(call.form), "strict": True},
        },
    }
    return Request(
        body=json.dumps(body).encode("ascii"),
        input_tokens=read,
        output_tokens=written,
        has_pictures=bool(call.images),
    )


def text_tokens(characters: int, messages: int, estimates: ChatEstimates) -> int:
    """Estimate the tokens of a text with this number of characters; rather too many."""
    return round(characters / estimates.characters_per_token) + messages * estimates.tokens_per_message


def picture_tokens(pictures: int, settings: ModelSettings) -> int:
    """Return the most tokens that this number of pictures has."""
    return pictures * (settings.pictures.pixels // settings.pictures.pixels_per_token + 8)


_schemas: dict[type[BaseModel], dict[str, Any]] = {}


def _schema(form: type[BaseModel]) -> dict[str, Any]:
    """Return the JSON schema of a form, made once: that takes longer than a look into the cache."""
    if form not in _schemas:
        _schemas[form] = form.model_json_schema()
    return _schemas[form]
