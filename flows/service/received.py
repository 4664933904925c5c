"""What comes in over HTTP is checked here."""

import asyncio
from collections.abc import Coroutine, Mapping
from typing import Any, TypeVar

from fastapi import Request
from pydantic import BaseModel, ValidationError
from starlette.requests import ClientDisconnect

from flows.display.output import CommandError, RefusedError
from flows.service.refusals import misfit
from flows.service.tokens import TokenCheck
from tasks.address import host_of, is_this_machine

HEALTH, JSON = "/health", "application/json"
LARGEST_BODY = 1_000_000

T = TypeVar("T", bound=BaseModel)
R = TypeVar("R")


def require_welcome(request: Request, check: TokenCheck | None) -> None:
    """Raise RefusedError where a page of another origin is at work, and what the check does where there is one.

    Where none is, raise it for another machine's name.
    """
    host, origin = request.headers.get("Host", ""), request.headers.get("Origin")
    if origin is not None and origin not in (f"http://{host}", f"https://{host}"):
        remedy = "use the page of the query service itself, or a program"
        raise RefusedError(400, "the request comes from another page", origin[:100], remedy, why="host")
    if check:
        if request.url.path != HEALTH:
            check.require(request)
    elif not is_this_machine(host_of(host)):
        # A page of the web that has its own name lead to this machine is not to ask here.
        what = "the query service is asked by a name that is not of this machine"
        remedy = "ask it by 127.0.0.1 or localhost, or start it with FLOWREADER_ASK_TOKEN"
        raise RefusedError(400, what, host[:100], remedy, why="host")


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
        raise misfit(error.errors()[0], "deployments/README.md has the fields") from error
