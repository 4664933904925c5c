"""Checks requests over HTTP: their origin, the token where there is one, and their body. Guessing the token is slowed down."""

import asyncio
import hmac
import time
from base64 import b64decode
from collections import OrderedDict
from collections.abc import Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from flows.service.refusals import describe_misfit
from storage.errors import RequestError
from tasks.address import host_of, is_this_machine
from tasks.events import QuestionRefused, RefusalReason, emit
from tasks.views.errors import RefusedError

HEALTH, JSON, FORM = "/health", "application/json", "application/x-www-form-urlencoded"
LARGEST_BODY = 1_000_000
FREE_GUESSES = 9
GUESSES_SECONDS = 60.0
MOST_ADDRESSES = 10_000
LOGIN = {"WWW-Authenticate": 'Basic realm="FlowReader"'}
"""Makes a browser ask its user; programs need no header."""
NEWS_SECONDS = 60.0
"""Between lines of the log that say how many were refused."""

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")


@dataclass
class TokenCheck:
    """Counts wrong tokens: `guesses` holds, by address, the moment of the first in a minute and their number."""

    token: str
    guesses: OrderedDict[str, tuple[float, int]] = field(default_factory=OrderedDict)
    untold: int = 0

    def require(self, request: Request) -> None:
        """Raise RefusedError for a wrong token or none, or too many from one address; the right one always passes."""
        given = request.headers.get("Authorization", "")
        if hmac.compare_digest(read_token(given).encode(), self.token.encode()):
            return
        self._count()
        if given and self.count_guess(request.client.host if request.client else "") > FREE_GUESSES:
            what = "too many wrong tokens came from this address"
            wait = f"{GUESSES_SECONDS:.0f}"
            remedy = f"wait {wait} seconds, and bring the token of the service"
            raise RefusedError(429, what, "", remedy, why=RefusalReason.TOKEN, headers={"Retry-After": wait})
        how = "with another token" if given else "without its token"
        remedy = "set FLOWREADER_ASK_TOKEN to the token that the service was started with"
        raise RefusedError(401, f"the query service takes no question {how}", "", remedy, why=RefusalReason.TOKEN, headers=LOGIN)

    def count_guess(self, address: str) -> int:
        """Return the number of wrong tokens from the address in its minute, this one included."""
        began, count = self.guesses.pop(address, (0.0, 0))
        now = time.monotonic()
        if not count or now - began > GUESSES_SECONDS:
            began, count = now, 0
        self.guesses[address] = began, count + 1
        if len(self.guesses) > MOST_ADDRESSES:
            self.guesses.popitem(last=False)
        return count + 1

    def _count(self) -> None:
        if not self.untold:
            asyncio.get_running_loop().call_later(NEWS_SECONDS, self.tell)
        self.untold += 1

    def tell(self) -> None:
        """Log how many were refused since the last line, if any."""
        requests, self.untold = self.untold, 0
        if requests:
            emit(QuestionRefused(RefusalReason.TOKEN, requests))


def read_token(authorization: str) -> str:
    """Return the token that a program brings, or the password that a browser does; "" for none."""
    scheme, _, given = authorization.partition(" ")
    match scheme.lower():
        case "bearer":
            return given
        case "basic":
            try:
                return b64decode(given).decode().partition(":")[2]
            except ValueError:
                return ""
    return ""


def require_welcome(request: Request, check: TokenCheck | None) -> None:
    """Raise RefusedError for a page of another origin, a wrong token or, where there is no `check`, another machine's name."""
    host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        remedy = "use the page of the query service itself, or a program"
        raise RefusedError(400, "the request comes from another page", origin[:100], remedy, why=RefusalReason.HOST)
    if check:
        if request.url.path != HEALTH:
            check.require(request)
    elif not is_this_machine(host_of(host)):
        # A page of the web may have its own name lead to this machine (DNS rebinding).
        what = "the request names another machine than this one"
        remedy = "use 127.0.0.1 or localhost, or start the service with FLOWREADER_ASK_TOKEN"
        raise RefusedError(400, what, host[:100], remedy, why=RefusalReason.HOST)


async def read_body(request: Request, kind: str = JSON) -> bytes:
    """Return the body; raise RequestError where its header names another kind, or it is too large.

    JSON is what a page of the web cannot send without asking first.
    """
    if (given := request.headers.get("Content-Type", "")).split(";")[0].strip() != kind:
        raise RequestError(f"the body must be {kind}", given, f"send it with Content-Type: {kind}")
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LARGEST_BODY:
            raise RequestError("a request is too large", f"over {LARGEST_BODY:,} bytes", "send less at once")
    return body


async def run_while_connected(request: Request, work: Coroutine[Any, Any, R]) -> R:
    """Return the result of the work; if the client disconnects first, cancel it and raise ClientDisconnect."""
    working, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_wait_for_disconnect(request))
    try:
        await asyncio.wait([working, leaving], return_when=asyncio.FIRST_COMPLETED)
        if not working.done():
            raise ClientDisconnect
        return working.result()
    finally:
        working.cancel()
        leaving.cancel()


async def _wait_for_disconnect(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def parse_form(form: type[T], given: bytes | Mapping[str, Any]) -> T:
    """Return the form with these values; raise RequestError, naming the field, where they do not fit."""
    try:
        return form.model_validate_json(given) if isinstance(given, bytes) else form.model_validate(given)
    except ValidationError as error:
        raise describe_misfit(error.errors()[0], "/openapi.json has the fields") from error
