"""A completion, gathered from the events of a stream or taken from a reply in one piece; believed in nothing."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic_core import from_json

ENDLESS_WHITESPACE = 1000
"""Constrained decoding may get lost in white space, which JSON allows everywhere; no reply needs this much in a row."""


class BrokenStreamError(ValueError):
    """What came is not the protocol: cut, garbled, or the server's own error in the middle of a reply.

    `reply` is whole: the key may stand in it, and must be taken out before it is cut and shown.
    """

    def __init__(self, message: str, reply: str = "") -> None:
        super().__init__(message)
        self.reply = reply


@dataclass(slots=True)
class Completion:
    """A reply; `problem` says why it cannot be used, whatever its text. Tokens are None where the server counted none."""

    text: str = ""
    finish_reason: str = ""
    refusal: str = ""
    model: str = ""
    input_tokens: int | None = None
    output_tokens: int | None = None
    problem: str = ""
    read_per_second: float = 0.0
    written_per_second: float = 0.0
    """As the server counts them; else writing is timed, and reading is 0: the wait for the first word is mostly the network."""
    waited_seconds: float = field(default=0.0, compare=False)
    """Until the first word."""


DRAFT_SECONDS = 0.1
"""Between two looks at a reply that is being written: each reads all of it."""


def read_unfinished_text(text: str, name: str) -> str:
    """Return what the string of this name holds so far in a JSON object that is being written, or a string alone; "" if unknown."""
    try:
        value = from_json(text.encode("utf-8", "replace"), allow_partial="trailing-strings")
    except ValueError:
        return ""
    return _text(value.get(name) if isinstance(value, dict) else value)


LOOKED_AT_CHARACTERS = 8000
"""Of a reply that is being written: the longest that a form allows has less before the end of its answer."""


@dataclass(slots=True)
class Draft:
    """Hands a field of a reply on as it grows, each time all of it."""

    name: str
    hand_on: Callable[[str], None]
    _handed: str = ""
    _next_look: float = 0.0

    def look(self, pieces: list[str], *, at_once: bool = False) -> None:
        now = time.monotonic()
        if at_once or now >= self._next_look:
            self._next_look = now + DRAFT_SECONDS
            words = read_unfinished_text("".join(pieces)[:LOOKED_AT_CHARACTERS], self.name)
            if words not in ("", self._handed):
                self._handed = words
                self.hand_on(words)


@dataclass(slots=True)
class Gathering:
    """Collects a reply; its `problem` is set once nothing that follows can mend it."""

    reply: Completion = field(default_factory=Completion)
    begun: bool = False
    waited_seconds: float = 0.0
    """Until the first word."""
    pieces: list[str] = field(default_factory=list)
    draft: Draft | None = None
    _blank: int = 0

    def take(self, value: object, part: str) -> bool:
        """Take an event, the words in the `part` of its choice; return whether there were any. Raises BrokenStreamError."""
        event = _object(value)
        if event.get("error"):
            raise BrokenStreamError("the server's own error", str(event["error"]))
        self.reply.model = _text(event.get("model")) or self.reply.model
        self._take_usage(event.get("usage"))
        self._take_timings(event.get("timings"))
        choices = event.get("choices") or []
        if not isinstance(choices, list):
            raise BrokenStreamError("choices that are no list")
        if len(choices) > 1 or any(_object(choice).get("index") not in (0, None) for choice in choices):
            self.reply.problem = "it has more than one choice"
        return any([self._take_choice(_object(choice), part) for choice in choices])

    def completion(self) -> Completion:
        """Return what was gathered; raise BrokenStreamError where the end is missing."""
        if not self.reply.finish_reason and not self.reply.problem:
            raise BrokenStreamError("it ends in the middle")
        if self.draft:
            self.draft.look(self.pieces, at_once=True)
        return replace(self.reply, text="".join(self.pieces))

    def _take_choice(self, choice: dict[str, Any], part: str) -> bool:
        words = _object(choice.get(part) or {})
        text, refusal = _text(words.get("content")), _text(words.get("refusal"))
        thought = _text(words.get("reasoning_content")) or _text(words.get("reasoning"))
        self.reply.finish_reason = _text(choice.get("finish_reason")) or self.reply.finish_reason
        self.reply.refusal += refusal
        if text:
            self.pieces.append(text)
            self._watch_whitespace(text)
            if self.draft:
                self.draft.look(self.pieces)
        return bool(text or refusal or thought)

    def _watch_whitespace(self, text: str) -> None:
        written = text.rstrip()
        self._blank = len(text) - len(written) + (0 if written else self._blank)
        if self._blank >= ENDLESS_WHITESPACE:
            self.reply.problem = f"it runs on in white space, {self._blank} characters"

    def time(self, seconds: float) -> None:
        """Work out how fast the reply was written; `seconds` is the time from the request to the last word."""
        reply, waited = self.reply, self.waited_seconds
        reply.waited_seconds = waited
        reply.written_per_second = reply.written_per_second or _rate(reply.output_tokens, waited and seconds - waited)

    def _take_timings(self, timings: object) -> None:
        """Take llama.cpp's own timings, without the network, the queue and what it had read before."""
        if isinstance(timings, dict):
            self.reply.read_per_second = _rate(timings.get("prompt_per_second"), 1.0)
            self.reply.written_per_second = _rate(timings.get("predicted_per_second"), 1.0)

    def _take_usage(self, usage: object) -> None:
        if isinstance(usage, dict):
            self.reply.input_tokens = _count(usage.get("prompt_tokens"), self.reply.input_tokens)
            self.reply.output_tokens = _count(usage.get("completion_tokens"), self.reply.output_tokens)


def _rate(tokens: object, seconds: float) -> float:
    return tokens / seconds if isinstance(tokens, (int, float)) and 0 < tokens < 10**9 and seconds > 0 else 0.0


def _object(value: object) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise BrokenStreamError("something else where an object belongs", str(value))
    return value


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _count(value: object, before: int | None) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 10**9 else before
