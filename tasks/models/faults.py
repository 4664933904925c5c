"""What a failed request means: try again, give this item up, or end the run."""

import json
import re
from collections.abc import Mapping
from enum import StrEnum

import httpx

from storage.text import one_line
from tasks.models.chat.errors import ChatEndedError, ChatError, ContextTooLongError, Outcome, PicturesRejectedError
from tasks.models.chat.request import Request
from tasks.models.endpoints import Endpoint

SHOWN_CHARACTERS = 300
TOO_LONG = re.compile(r"context[_ ]length|context window|maximum model length|max_model_len", re.IGNORECASE)
OF_PICTURES = re.compile(r"\bimages?\b|image_url|multi-?modal|mmproj|vision", re.IGNORECASE)
"""What servers name that take no pictures, or fewer; llama.cpp answers 500 with it, others 404."""
DOWN_STATUSES = {502, 503, 504}


class FaultKind(StrEnum):
    """Why a request failed that may pass when it is sent again."""

    BUSY = "busy"
    """429: the server is well and has enough to do."""
    UNWELL = "unwell"
    """Another error of the server's, or a reply that was cut."""
    DOWN = "down"
    """Nothing answers, or a gateway reports that."""
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


def problem_of(answer: httpx.Response, page: bytes, *, request: Request, endpoint: Endpoint) -> Exception:
    """Return the error that the answer stands for, with the message of the server, which stands on the page."""
    status, headers = answer.status_code, answer.headers
    message = _message(page, endpoint)
    problem = f"{endpoint.base_url} answered {status}" + (f": {message}" if message else "")
    if status == 429 and "insufficient_quota" not in message:
        return FaultError(FaultKind.BUSY, problem, wait_seconds=read_retry_after(headers))
    if status in {401, 402, 403, 429}:
        return ChatEndedError(problem, remedy="check FLOWREADER_CHAT_API_KEY, its rights and its quota")
    if status in DOWN_STATUSES:
        return FaultError(FaultKind.DOWN, problem, wait_seconds=read_retry_after(headers))
    if status == 413 or (status < 500 and TOO_LONG.search(message)):  # before pictures: such a message may name what they take
        tokens = f"about {request.input_tokens} tokens to read, room for {request.output_tokens} to write"
        return ContextTooLongError(f"{problem} ({tokens}); ask with less", Outcome.TOO_LONG)
    if request.has_pictures and OF_PICTURES.search(message):
        return PicturesRejectedError(f"{problem}; serve a model that sees, or more pictures in a call", Outcome.REJECTED)
    if status in {408, 409, 425} or status >= 500:
        return FaultError(FaultKind.UNWELL, problem, wait_seconds=read_retry_after(headers))
    if status == 404 or status < 400:
        return ChatEndedError(problem, remedy="check FLOWREADER_CHAT_BASE_URL (it mostly ends in /v1) and FLOWREADER_CHAT_MODEL")
    rejected = PicturesRejectedError if request.has_pictures else ChatError
    return rejected(f"{problem}; the server takes no such request", Outcome.REJECTED)


def read_retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds that Retry-After asks for; None where it does not, or gives a date, as no server of models does."""
    try:
        seconds = float(headers.get("retry-after", ""))
    except ValueError:
        return None
    return max(0.0, seconds) if seconds < float("inf") else None


def without_key(text: str, endpoint: Endpoint) -> str:
    return text.replace(endpoint.api_key, "(the key)") if endpoint.api_key else text


def _message(body: bytes, endpoint: Endpoint) -> str:
    """Return the message of the server without the key, on one line, from JSON of the usual forms or as plain text."""
    text = body.decode("utf-8", "replace")
    try:
        reply = json.loads(text)
        error = reply.get("error", reply)
        named = [error.get("code"), error.get("message") or error.get("detail")] if isinstance(error, dict) else [error]
        text = " ".join(part for part in named if isinstance(part, str)) or text
    except (ValueError, AttributeError, RecursionError):
        pass
    return without_key(one_line(text), endpoint)[:SHOWN_CHARACTERS]  # cut before, the beginning of the key would stand
