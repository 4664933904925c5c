"""What comes in over HTTP is checked here, and what is wrong with it becomes a reply: what, the value and the remedy."""

import hmac
from collections.abc import Mapping
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError

from flows.ask_deployed import QuestionStoppedError
from flows.display.output import CommandError
from flows.service.intake import RETRY_SECONDS, FullError
from storage.errors import ExpectedError
from tasks.address import host_of, is_this_machine
from tasks.events import QuestionRefused, Refusal, emit

HEALTH, JSON = "/health", "application/json"
LARGEST_BODY = 1_000_000

T = TypeVar("T", bound=BaseModel)


class WrongTokenError(CommandError):
    """The request does not bring the token that the service was started with."""


class WrongHostError(CommandError):
    """The request names this machine by a name that the service does not know."""


def require_welcome(request: Request, token: str) -> None:
    """Raise WrongTokenError where a token is asked for and not given; where none is, WrongHostError for another machine's name."""
    if token:
        given = request.headers.get("Authorization", "")
        if request.url.path != HEALTH and not hmac.compare_digest(given.encode(), f"Bearer {token}".encode()):
            how = "with another token" if given else "without its token"
            remedy = "set FLOWREADER_ASK_TOKEN to the token that the service was started with"
            raise WrongTokenError(f"the query service takes no question {how}", "", remedy)
    elif not is_this_machine(host_of(request.headers.get("Host", ""))):
        # A page of the web that has its own name lead to this machine is not to ask here.
        raise WrongHostError(
            "the query service is asked by a name that is not of this machine",
            request.headers.get("Host", "")[:100],
            "ask it by 127.0.0.1 or localhost, or start it with FLOWREADER_ASK_TOKEN",
        )


async def received(request: Request, kind: str = JSON) -> bytes:
    """Return what was sent; raise CommandError where it is of another kind by its header, or too much.

    What a page of the web may send without asking first is never JSON.
    """
    if (given := request.headers.get("Content-Type", "")).split(";")[0].strip() != kind:
        raise CommandError(f"a question comes as {kind}", given, f"send it with Content-Type: {kind}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise CommandError("a request is too large", f"over {LARGEST_BODY:,} bytes", "ask fewer questions at once")
    return body


def checked(form: type[T], given: bytes | Mapping[str, Any]) -> T:
    """Return the form that is filled in so; raise CommandError where it cannot be, naming the field."""
    try:
        return form.model_validate_json(given) if isinstance(given, bytes) else form.model_validate(given)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])) or "the request"
        raise CommandError(f"{place}: {first['msg']}", str(first["input"])[:100], "deployments/README.md has the fields") from error


def refusal(error: Exception, *, of_question: bool) -> JSONResponse:
    """Return the reply to an error, with an event where a question was refused; raise what is not expected."""
    _reason, status, headers = _kind(error)
    return JSONResponse({"error": error_of(error, of_question=of_question)}, status, headers)


def error_of(error: Exception, *, of_question: bool) -> dict[str, str]:
    """Return an error in words, and do else what `refusal` does."""
    reason, _status, _headers = _kind(error)
    if of_question:
        emit(QuestionRefused(reason))
    shown = CommandError.from_error(error)
    return {"what": shown.what, "value": shown.value, "remedy": shown.remedy}


def status_of(error: Exception) -> int:
    return _kind(error)[1]


REPLIES: Mapping[type[Exception], tuple[Refusal, int, Mapping[str, str] | None]] = {
    FullError: (Refusal.FULL, 503, {"Retry-After": str(RETRY_SECONDS)}),
    WrongTokenError: (Refusal.TOKEN, 401, {"WWW-Authenticate": "Bearer"}),
    WrongHostError: (Refusal.HOST, 400, None),
    QuestionStoppedError: (Refusal.CANNOT, 503, None),
}
"""Why a question is refused, the status and the headers; of other errors `_kind` decides."""


def _kind(error: Exception) -> tuple[Refusal, int, Mapping[str, str] | None]:
    if type(error) in REPLIES:
        return REPLIES[type(error)]
    if not isinstance(error, ExpectedError | OSError):
        raise error
    asked_wrongly = isinstance(error, CommandError | LookupError | ValueError)
    return (Refusal.REQUEST, 400, None) if asked_wrongly else (Refusal.CANNOT, 503, None)
