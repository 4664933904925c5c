"""What can go wrong with a chat server, and what it then sends."""

import json
from collections.abc import Callable
from enum import StrEnum
from typing import Any


class Misbehaviour(StrEnum):
    """What can go wrong between the question and the reply."""

    BUSY = "429"
    BUSY_FOR_A_WHILE = "429 with Retry-After"
    ERROR = "500"
    UNAVAILABLE = "503"
    TOO_LONG = "400, context too long"
    BAD_REQUEST = "400"
    UNAUTHORISED = "401"
    MOVED = "302"
    HANG = "hang before the first byte"
    HANG_LATER = "hang after the first word"
    DRIP = "one byte at a time"
    RESET = "reset in mid-reply"
    CUT = "stream ends in mid-reply"
    ERROR_EVENT = "an error in the stream"
    LENGTH = "finish_reason=length"
    PROSE = "prose around JSON"
    INVALID_JSON = "invalid JSON"
    WRONG_SCHEMA = "wrong schema"
    UNKNOWN_IDS = "unknown ids"
    REFUSAL = "refusal"
    WHITESPACE = "whitespace without end"
    WRONG_MODEL = "wrong model name"


STATUSES = {
    Misbehaviour.BUSY: (429, "slow down"),
    Misbehaviour.BUSY_FOR_A_WHILE: (429, "slow down"),
    Misbehaviour.ERROR: (500, "internal error"),
    Misbehaviour.UNAVAILABLE: (503, "no engine"),
    Misbehaviour.TOO_LONG: (
        400,
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens. Please reduce the length.",
    ),
    Misbehaviour.BAD_REQUEST: (400, "response_format is not supported"),
    Misbehaviour.UNAUTHORISED: (401, "no such key: {key}"),
    Misbehaviour.MOVED: (302, ""),
}

BREAKS = {
    Misbehaviour.RESET: b"data: {",
    Misbehaviour.CUT: b"\n",
    Misbehaviour.ERROR_EVENT: b'data: {"error": {"message": "the engine died", "code": 500}}\n\n',
}
"""What comes after the first word, and nothing behind it."""


def spoiled(value: Any, how: Misbehaviour) -> str:
    """Return the words of the reply, with what is wrong with them."""
    text = value if isinstance(value, str) else json.dumps(value)
    return {
        Misbehaviour.LENGTH: text[: len(text) // 2],
        Misbehaviour.PROSE: f"Certainly! Here it is:\n```json\n{text}\n```",
        Misbehaviour.INVALID_JSON: text[:-1] + ",}",
        Misbehaviour.WRONG_SCHEMA: json.dumps({"unasked": value}),
        Misbehaviour.UNKNOWN_IDS: json.dumps(_leaves(value, lambda name, leaf: "nobody" if _names_something(name) else leaf)),
        Misbehaviour.REFUSAL: "",
    }.get(how, text)


def _leaves(value: Any, change: Callable[[str, Any], Any], name: str = "") -> Any:
    if isinstance(value, dict):
        return {key: _leaves(inner, change, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [_leaves(inner, change, name) for inner in value]
    return change(name, value)


def _names_something(name: str) -> bool:
    return name.lower().endswith(("id", "ids", "node", "nodes", "source", "target"))
