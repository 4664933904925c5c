"""What comes in over HTTP is checked here, and what is wrong with it becomes a reply: what, the value and the remedy."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from fastapi import Request
from fastapi.responses import JSONResponse
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from flows.ask_deployed import QuestionStoppedError
from flows.display.output import CommandError
from flows.service.intake import RETRY_SECONDS, FullError
from flows.service.paths import from_root
from flows.service.rest.once import SameKeyError
from flows.service.tokens import GUESSES_SECONDS, TokenCheck, TooManyTokensError, WrongTokenError
from storage.errors import ExpectedError
from tasks.address import host_of, is_this_machine
from tasks.events import QuestionRefused, Refusal, emit

HEALTH, JSON = "/health", "application/json"
LARGEST_BODY = 1_000_000

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")


class WrongHostError(CommandError):
    """The request names this machine by a name that the service does not know, or comes from a page of somebody else."""


def require_welcome(request: Request, check: TokenCheck | None) -> None:
    """Raise what the check does where there is one; where none is, WrongHostError for another machine's name.

    Raise WrongHostError, too, where a page of another origin is at work.
    """
    host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        remedy = "use the page of the query service itself, or a program"
        raise WrongHostError("the request comes from another page", origin[:100], remedy)
    if check:
        if request.url.path != HEALTH:
            check.require(request)
    elif not is_this_machine(host_of(host)):
        # A page of the web that has its own name lead to this machine is not to ask here.
        raise WrongHostError(
            "the query service is asked by a name that is not of this machine",
            host[:100],
            "ask it by 127.0.0.1 or localhost, or start it with FLOWREADER_ASK_TOKEN",
        )


async def received(request: Request, kind: str = JSON) -> bytes:
    """Return what was sent; raise CommandError where it is of another kind by its header, or too much.

    What a page of the web may send without asking first is never JSON.
    """
    if (given := request.headers.get("Content-Type", "")).split(";")[0].strip() != kind:
        raise CommandError(f"what is sent here comes as {kind}", given, f"send it with Content-Type: {kind}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise CommandError("a request is too large", f"over {LARGEST_BODY:,} bytes", "send less at once")
    return body


async def while_here(request: Request, work: Coroutine[Any, Any, R]) -> R:
    """Return what the work gives; where the client goes before, cancel it and raise ClientDisconnect."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_gone(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


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
    # Those without the token are counted together.
    if of_question and reason is not Refusal.TOKEN:
        emit(QuestionRefused(reason))
    shown = CommandError.from_error(error)
    return from_root({"what": shown.what, "value": shown.value, "remedy": shown.remedy})


def status_of(error: Exception) -> int:
    return _kind(error)[1]


REPLIES: Mapping[type[Exception], tuple[Refusal, int, Mapping[str, str] | None]] = {
    FullError: (Refusal.FULL, 503, {"Retry-After": str(RETRY_SECONDS)}),
    WrongTokenError: (Refusal.TOKEN, 401, {"WWW-Authenticate": 'Basic realm="FlowReader"'}),
    TooManyTokensError: (Refusal.TOKEN, 429, {"Retry-After": f"{GUESSES_SECONDS:.0f}"}),
    WrongHostError: (Refusal.HOST, 400, None),
    QuestionStoppedError: (Refusal.STOPPED, 503, None),
    SameKeyError: (Refusal.REQUEST, 409, None),
}
"""Why a question is refused, the status and the headers; of other errors `_kind` decides.

"Basic", for a browser asks its user then; programs need not be told how."""


def _kind(error: Exception) -> tuple[Refusal, int, Mapping[str, str] | None]:
    if type(error) in REPLIES:
        return REPLIES[type(error)]
    if not isinstance(error, ExpectedError | OSError):
        raise error
    asked_wrongly = isinstance(error, CommandError | LookupError | ValueError)
    return (Refusal.REQUEST, 400, None) if asked_wrongly else (Refusal.CANNOT, 503, None)
