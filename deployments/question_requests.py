"""What is asked over HTTP, checked before anything is done for it."""

from __future__ import annotations

from fastapi import Request
from pydantic import ValidationError

from flows.showing import CommandError
from tasks.ask_request import AskRequest

LARGEST_BODY = 1_000_000
MOST_QUESTIONS = 64
"""In one request: more would hold a seat for hours, and are better asked one by one."""


async def request_in(request: Request) -> AskRequest:
    """Return what is asked; raise CommandError where it is no JSON of an AskRequest, naming the field."""
    if request.headers.get("Content-Type", "").split(";")[0].strip() != "application/json":
        # What a page of the web may send without asking first is never this.
        raise CommandError(
            "a question is JSON", request.headers.get("Content-Type", ""), "send it with Content-Type: application/json"
        )
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise CommandError("a request is too large", f"over {LARGEST_BODY:,} bytes", "ask fewer questions at once")
    try:
        asked = AskRequest.model_validate_json(body)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the request"
        raise CommandError(f"{place}: {first['msg']}", str(first["input"])[:100], "deployments/README.md has the fields") from error
    if len(asked.questions) > MOST_QUESTIONS:
        raise CommandError(
            "too many questions in one request", str(len(asked.questions)), f"send at most {MOST_QUESTIONS} at a time"
        )
    return asked
