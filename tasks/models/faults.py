"""What a failed request means: try again, give this item up, or end the run."""

import email.utils
import json
import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum

import httpx

from tasks.models.chat.errors import ChatRefusedError, ContextTooLongError, RejectedCallError, UnknownModelError
from tasks.models.chat.request import Request
from tasks.models.endpoints import Endpoint

SHOWN_CHARACTERS = 300
TOO_LONG = re.compile(r"context[_ ]length|context window|maximum model length|max_model_len", re.IGNORECASE)
LIMIT = re.compile(r"(?:context length|model length|max_model_len)\D{0,20}?(\d{2,9})", re.IGNORECASE)
DOWN_STATUSES = {502, 503, 504}


class FaultKind(StrEnum):
    """Why a request failed that may pass when it is sent again."""

    BUSY = "busy"
    """429: the server is well and has enough to do."""
    UNWELL = "unwell"
    """Another error of the server's, or a reply that was cut."""
    DOWN = "down"
    """Nobody answers, or a gateway says so."""
    SILENT = "silent"
    """A deadline passed."""


class FaultError(Exception):
    """A failed request that may be sent again; `output_tokens` were written before it failed, None where no reply had begun."""

    def __init__(
        self, kind: FaultKind, message: str, *, wait_seconds: float | None = None, output_tokens: int | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.wait_seconds = wait_seconds
        self.output_tokens = output_tokens


def problem_of(answer: httpx.Response, *, request: Request, endpoint: Endpoint, limit_tokens: int) -> Exception:
    """Return the error that the answer stands for, with what the server said."""
    status, headers = answer.status_code, answer.headers
    said = _message(answer.content, endpoint)
    told = f"{endpoint.base_url} answered {status}" + (f": {said}" if said else "")
    if status == 429 and "insufficient_quota" not in said:
        return FaultError(FaultKind.BUSY, told, wait_seconds=asked_wait(headers))
    if status in {401, 402, 403, 429}:
        return ChatRefusedError(f"{told}; check FLOWREADER_CHAT_API_KEY, its rights and its quota")
    if status in DOWN_STATUSES:
        return FaultError(FaultKind.DOWN, told, wait_seconds=asked_wait(headers))
    if status in {408, 409, 425} or status >= 500:
        return FaultError(FaultKind.UNWELL, told, wait_seconds=asked_wait(headers))
    if status == 404 or status < 400:
        return UnknownModelError(f"{told}; check FLOWREADER_CHAT_BASE_URL (it mostly ends in /v1) and FLOWREADER_CHAT_MODEL")
    if status == 413 or TOO_LONG.search(said):
        return _too_long(told, said, request, limit_tokens)
    return RejectedCallError(f"{told}; the server takes no such request")


def asked_wait(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that Retry-After asks for, as a number or as a date; None where it does not."""
    asked = headers.get("retry-after", "").strip()
    try:
        seconds = float(asked)
    except ValueError:
        try:
            seconds = (email.utils.parsedate_to_datetime(asked) - datetime.now(UTC)).total_seconds()
        except (ValueError, TypeError):
            return None
    return max(0.0, seconds) if seconds < float("inf") else None


def without_key(text: str, endpoint: Endpoint) -> str:
    return text.replace(endpoint.api_key, "(the key)") if endpoint.api_key else text


def _too_long(told: str, said: str, request: Request, limit_tokens: int) -> ContextTooLongError:
    found = LIMIT.search(said)
    limit = limit_tokens or (int(found.group(1)) if found else 0)
    room = f", the model takes {limit} in all" if limit else ""
    return ContextTooLongError(
        f"{told} (about {request.input_tokens} tokens to read, room for {request.output_tokens} to write{room}); ask with less"
    )


def _message(body: bytes, endpoint: Endpoint) -> str:
    """Return what the server said, without the key, on one line, from JSON of the usual forms or as plain text."""
    text = body.decode("utf-8", "replace")
    try:
        told = json.loads(text)
        error = told.get("error", told)
        named = [error.get("code"), error.get("message") or error.get("detail")] if isinstance(error, dict) else [error]
        text = " ".join(part for part in named if isinstance(part, str)) or text
    except (ValueError, AttributeError, RecursionError):
        pass
    shown = "".join(sign if sign.isprintable() else " " for sign in text)
    return without_key(" ".join(shown.split()), endpoint)[:SHOWN_CHARACTERS]  # cut before, the beginning of the key would stand
