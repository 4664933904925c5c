"""One request by the openai client, its reply streamed: only so can a deadline tell a server that thinks from one that hangs.

The client has no deadline for the first word nor for the whole; these, and retries, are ours.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Self

import httpx
import openai

from tasks.models.chat.errors import RejectedCallError
from tasks.models.chat.faults import SHOWN_CHARACTERS, FaultError, FaultKind, problem_of, without_key
from tasks.models.chat.request import Request
from tasks.models.chat.stream import BrokenStreamError, Completion, Gathering
from tasks.models.chat.wire import Client
from tasks.models.endpoints import Endpoint
from tasks.settings.models import ModelSettings


class ServerClient:
    """The connections to one server; belongs to one event loop.

    Each request in flight has a client of its own: httpx's pool looks at all of its connections at every request, which with 64
    of them takes three times as long as the request.
    """

    def __init__(self, endpoint: Endpoint, settings: ModelSettings, *, reply_megabytes: float) -> None:
        self._endpoint, self._settings = endpoint, settings
        self._reply_bytes = int(reply_megabytes * 1_000_000)
        self._clients: list[Client] = []
        self._idle: list[Client] = []

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def close(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients))

    @contextmanager
    def _client(self) -> Iterator[Client]:
        """Lend the client that was used last, whose connection is the most likely to be open."""
        client = self._idle.pop() if self._idle else self._new_client()
        try:
            yield client
        finally:
            self._idle.append(client)

    def _new_client(self) -> Client:
        seconds = self._settings.deadlines.connect_seconds
        client = Client(self._endpoint, connect_seconds=seconds, reply_bytes=self._reply_bytes)
        self._clients.append(client)
        return client

    async def models(self) -> httpx.Response:
        """Return what /models answers, whatever its status; raise FaultError where nothing answers in time."""
        seconds = self._settings.deadlines.models_seconds
        with self._client() as client, self._explained(f"gave no answer in {seconds:g} s", Gathering()):
            async with asyncio.timeout(seconds):
                try:
                    return await client.get("/models", cast_to=httpx.Response)
                except openai.APIStatusError as error:
                    return error.response

    async def embeddings(self, request: Request) -> httpx.Response:
        """Return the answer, whatever its status; raise FaultError where none comes in time, or more than is right."""
        seconds = self._settings.embeddings.reply_seconds
        with self._client() as client, self._explained(f"gave no vectors in {seconds:g} s", Gathering()):
            async with asyncio.timeout(seconds):
                try:
                    response = await client.post("/embeddings", cast_to=httpx.Response, content=request.body)
                except openai.APIStatusError as error:
                    return error.response
        if response.num_bytes_downloaded > self._reply_bytes:
            message = f"{self._endpoint.base_url} gave more than {self._reply_bytes / 1_000_000:g} MB for one request"
            raise FaultError(FaultKind.UNWELL, message)
        return response

    async def complete(self, request: Request, *, limit_tokens: int) -> Completion:
        """Return the reply; raise FaultError where sending again may help, else the error that says why not."""
        deadlines = self._settings.deadlines
        end = asyncio.get_running_loop().time() + deadlines.total_seconds
        first = min(deadlines.first_token_seconds, deadlines.total_seconds)
        gathering = Gathering()
        with self._client() as client, self._explained(f"wrote no word in {first:g} s", gathering):
            async with asyncio.timeout(first) as deadline:
                reply = await _reply(client, request)
                if isinstance(reply, httpx.Response):
                    raise problem_of(reply, request=request, endpoint=self._endpoint, limit_tokens=limit_tokens)
                async with reply:
                    gathering.begun = True
                    await self._gather(reply, gathering, deadline, end)
        with self._explained("", gathering):
            completion = gathering.completion()
            return replace(completion, refusal=without_key(completion.refusal, self._endpoint))

    async def _gather(self, reply: openai.AsyncStream[object], gathering: Gathering, deadline: asyncio.Timeout, end: float) -> None:
        """Read until the reply is whole, or cannot be mended; a reply that was cut behind the limit has that as its problem."""
        try:
            await self._take_all(reply, gathering, deadline, end)
        except ValueError:
            if reply.response.num_bytes_downloaded <= self._reply_bytes:
                raise
        if reply.response.num_bytes_downloaded > self._reply_bytes:
            gathering.problem = gathering.problem or f"it is longer than {self._reply_bytes / 1_000_000:g} MB"

    async def _take_all(
        self, reply: openai.AsyncStream[object], gathering: Gathering, deadline: asyncio.Timeout, end: float
    ) -> None:
        """Take all that comes; each word puts the deadline off."""
        clock, idle_seconds = asyncio.get_running_loop().time, self._settings.deadlines.idle_seconds
        if reply.response.headers.get("content-type", "").startswith("application/json"):
            gathering.take(json.loads(await reply.response.aread()), "message")
            return
        async for event in reply:
            if gathering.take(event, "delta"):
                deadline.reschedule(min(end, clock() + idle_seconds))
            if gathering.problem:
                return

    @contextmanager
    def _explained(self, late: str, gathering: Gathering) -> Iterator[None]:
        """Turn whatever a server can do to us into a FaultError; a reply that was whole before is left alone."""
        try:
            yield
        except (OSError, httpx.HTTPError, openai.APIError, ValueError, RecursionError) as error:
            if isinstance(error.__cause__, RejectedCallError):
                raise error.__cause__ from None
            if gathering.finish_reason and isinstance(error, (OSError, httpx.HTTPError)):
                return
            kind, what = self._fault(error, late, gathering)
            written = round(sum(map(len, gathering.pieces)) / self._settings.estimates.characters_per_token)
            message = without_key(f"{self._endpoint.base_url} {what}", self._endpoint)
            # from None: the client's errors hold what the server wrote, and the key with it
            raise FaultError(kind, message, output_tokens=written if gathering.begun else None) from None

    def _fault(self, error: Exception, late: str, gathering: Gathering) -> tuple[FaultKind, str]:
        deadlines = self._settings.deadlines
        if isinstance(error, TimeoutError):
            slow = f"wrote for more than {deadlines.total_seconds:g} s, or no word in {deadlines.idle_seconds:g} s"
            return FaultKind.SILENT, slow if gathering.pieces else late
        if isinstance(error, openai.APITimeoutError):
            return FaultKind.DOWN, f"takes no connection in {deadlines.connect_seconds:g} s"
        cause = error.__cause__ if isinstance(error, openai.APIConnectionError) else error
        if isinstance(cause, BROKEN):
            return FaultKind.UNWELL, f"broke the connection ({_words(cause)})"
        if isinstance(error, openai.APIConnectionError):
            return FaultKind.DOWN, f"takes no connection ({_words(cause)})"
        what, reply = _broken_reply(error)
        shown = without_key(reply, self._endpoint)[:SHOWN_CHARACTERS]
        return FaultKind.UNWELL, f"gave a broken reply: {what}" + (f": {shown!r}" if shown else "")


async def _reply(client: Client, request: Request) -> openai.AsyncStream[object] | httpx.Response:
    """Return the stream, or an answer that is none; its events are plain JSON, where the client's own chunks are unchecked."""
    try:
        return await client.post(
            "/chat/completions", cast_to=object, content=request.body, stream=True, stream_cls=openai.AsyncStream[object]
        )
    except openai.APIStatusError as error:
        return error.response


BROKEN = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.ProtocolError, OSError)
"""What happens to a connection that there was; an error of TLS inside a stream comes as an OSError."""


def _words(error: BaseException | None) -> str:
    return str(error) or type(error).__name__


def _broken_reply(error: Exception) -> tuple[str, str]:
    """Return what is wrong with a reply, and the part of it that shows it, whole: the key may stand in it."""
    if isinstance(error, BrokenStreamError):
        return str(error), error.reply
    if isinstance(error, openai.APIError):
        return "the server's own error", str(error.body)
    return "an event that is no JSON", error.doc if isinstance(error, json.JSONDecodeError) else str(error)
