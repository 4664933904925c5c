"""A completion, gathered from the events of a stream or taken from a reply in one piece; believed in nothing."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tasks.models.chat.errors import RejectedCallError

ENDLESS_WHITESPACE = 1000
"""Constrained decoding may get lost in white space, which JSON allows everywhere; no reply needs so much in a row."""
DONE = b"[DONE]"


class BrokenStreamError(ValueError):
    """What came is not the protocol: cut, garbled, or the server's own error in the middle of a reply.

    `said` is whole: the key may stand in it, and must be blotted out before it is cut and shown.
    """

    def __init__(self, message: str, said: str = "") -> None:
        super().__init__(message)
        self.said = said


@dataclass(frozen=True, slots=True)
class Completion:
    """What the model said; `problem` says why it cannot be used, whatever it says. Tokens are None where the server told none."""

    text: str
    finish_reason: str
    refusal: str
    model: str
    input_tokens: int | None
    output_tokens: int | None
    problem: str


@dataclass(slots=True)
class Gathering:
    """Collects a completion of at most `limit_bytes`, framing included; `problem` is set once nothing that follows can mend it."""

    limit_bytes: int
    in_one_piece: bool = False
    begun: bool = False
    pieces: list[str] = field(default_factory=list)
    refusal: str = ""
    finish_reason: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    problem: str = ""
    done: bool = False
    _blank: int = 0
    _taken_bytes: int = 0
    _unfinished: list[bytes] = field(default_factory=list)

    def begin(self, headers: Mapping[str, str]) -> None:
        """Take the headers of the answer, names in lower case; raise RejectedCallError where its body would be packed."""
        self.begun = True
        self.in_one_piece = headers.get("content-type", "").startswith("application/json")
        if headers.get("content-encoding", "identity") != "identity":
            raise RejectedCallError("the server packs its replies, which was not asked for; turn that off")

    def feed(self, chunk: bytes) -> bool:
        """Take the next bytes; say whether the model wrote something. Raises BrokenStreamError."""
        self._taken_bytes += len(chunk)
        if self._taken_bytes > self.limit_bytes:
            self.problem = f"it is longer than {self.limit_bytes / 1_000_000:g} MB"
            return False
        first, *others = [chunk] if self.in_one_piece else chunk.split(b"\n")
        self._unfinished.append(first)
        wrote = False
        for piece in others:
            wrote |= self.take_line(b"".join(self._unfinished))
            self._unfinished = [piece]
        return wrote

    def take_line(self, line: bytes) -> bool:
        """Take a line of a stream of events; say whether the model wrote something. Raises BrokenStreamError."""
        line = line.strip()
        if self.done or not line or line.startswith((b":", b"event:", b"id:", b"retry:")):
            return False
        if not line.startswith(b"data:"):
            raise BrokenStreamError("a line that is no event", _decoded(line))
        payload = line[5:].strip()
        if payload == DONE:
            self.done = True
            return False
        return self.take_event(payload, "delta")

    def take_event(self, payload: bytes, part: str) -> bool:
        """Take one JSON object, the words in the `part` of its choice; say whether there were any. Raises BrokenStreamError."""
        event = _object(_loads(payload))
        if event.get("error"):
            raise BrokenStreamError("the server's own error", str(event["error"]))
        self.model = _text(event.get("model")) or self.model
        self._take_usage(event.get("usage"))
        choices = event.get("choices") or []
        if not isinstance(choices, list):
            raise BrokenStreamError("choices that are no list")
        if len(choices) > 1 or any(_object(choice).get("index") not in (0, None) for choice in choices):
            self.problem = "it has more than one choice"
        return any([self._take_choice(_object(choice), part) for choice in choices])

    def completion(self) -> Completion:
        """Return what was gathered; raise BrokenStreamError where the end is missing."""
        if self.in_one_piece and not self.problem:
            self.take_event(b"".join(self._unfinished), "message")
        if not self.finish_reason and not self.problem:
            raise BrokenStreamError("it ends in the middle")
        return Completion(
            text="".join(self.pieces),
            finish_reason=self.finish_reason,
            refusal=self.refusal,
            model=self.model,
            input_tokens=self.input_tokens,
            output_tokens=self.output_tokens,
            problem=self.problem,
        )

    def _take_choice(self, choice: dict[str, Any], part: str) -> bool:
        said = _object(choice.get(part) or {})
        text, refusal = _text(said.get("content")), _text(said.get("refusal"))
        thought = _text(said.get("reasoning_content")) or _text(said.get("reasoning"))
        self.finish_reason = _text(choice.get("finish_reason")) or self.finish_reason
        self.refusal += refusal
        if text:
            self.pieces.append(text)
            self._watch_whitespace(text)
        return bool(text or refusal or thought)

    def _watch_whitespace(self, text: str) -> None:
        written = text.rstrip()
        self._blank = len(text) - len(written) + (0 if written else self._blank)
        if self._blank >= ENDLESS_WHITESPACE:
            self.problem = f"it runs on in white space, {self._blank} characters"

    def _take_usage(self, usage: Any) -> None:  # noqa: ANN401 - whatever JSON can hold
        if isinstance(usage, dict):
            self.input_tokens = _count(usage.get("prompt_tokens"), self.input_tokens)
            self.output_tokens = _count(usage.get("completion_tokens"), self.output_tokens)


def _decoded(line: bytes) -> str:
    return line.decode("utf-8", "replace")


def _loads(payload: bytes) -> Any:  # noqa: ANN401 - whatever JSON can hold
    try:
        return json.loads(payload)
    except (ValueError, RecursionError) as error:
        raise BrokenStreamError("an event that is no JSON", _decoded(payload)) from error


def _object(value: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever JSON can hold
    if not isinstance(value, dict):
        raise BrokenStreamError("something else where an object belongs", str(value))
    return value


def _text(value: Any) -> str:  # noqa: ANN401 - whatever JSON can hold
    return value if isinstance(value, str) else ""


def _count(value: Any, before: int | None) -> int | None:  # noqa: ANN401 - whatever JSON can hold
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else before
