"""The JSON of an answer: what `--json` says, what is kept, and what the query service sends. Here no database is loaded."""

import json
import math
from collections.abc import Mapping
from typing import Any, TypeVar

from pydantic import ValidationError
from pydantic_core import PydanticSerializationError

from storage.codec import CodecError, adapter
from storage.records.answers import Answer
from storage.text import storable

T = TypeVar("T", bound=Answer)


def answer_json(answer: Answer) -> dict[str, Any]:
    """Return the answer as plain JSON values that any UTF-8 stream takes; raise CodecError for what JSON has no word for."""
    try:
        plain = adapter(type(answer)).dump_python(answer, mode="json", warnings="error")
    except PydanticSerializationError as error:
        raise CodecError(f"answer {answer.answer_id[:12]} is not writable as JSON: {error}") from error
    return {name: writable(value) for name, value in plain.items()} if _is_odd(plain) else plain


def _is_odd(value: Mapping[str, Any]) -> bool:
    """Say whether something in it needs a close look: most answers need none, and to walk through all their pages takes long."""
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except ValueError:
        return True
    return False


def writable(value: Any) -> Any:  # noqa: ANN401 - whatever JSON can hold
    """Return the value with lone surrogates as escapes; raise CodecError for NaN and infinity."""
    if isinstance(value, str):
        return value if value.isascii() else storable(value)
    if isinstance(value, dict):
        return {name: writable(inner) for name, inner in value.items()}
    if isinstance(value, list):
        return [writable(inner) for inner in value]
    if isinstance(value, float) and not math.isfinite(value):
        raise CodecError(f"an answer holds the number {value}, which JSON cannot", remedy="mend whatever computed it")
    return value


def answer_from_json(value: Mapping[str, Any], kind: type[T]) -> T:
    """Return the answer; fields that only a newer FlowReader knows are left out. Raise CodecError where parts are missing.

    One that was kept before there were threads stands alone.
    """
    alone = {"asked_as": value.get("question"), "follows": None, "thread": value.get("answer_id")}
    try:
        return adapter(kind).validate_python({**alone, **value})
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise CodecError(f"no answer this FlowReader can read: {place}: {first['msg']}", remedy="ask the question again") from error
