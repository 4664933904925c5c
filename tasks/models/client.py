"""One request by the openai client, its reply streamed: only so can a deadline tell a server that thinks from one that hangs.

The client has no deadline for the first word nor for the whole; these, and retries, are ours.
"""

import asyncio
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import httpx
import openai

from tasks.models.chat.request import Request
from tasks.models.chat.stream import BrokenStreamError, Completion, Gathering
from tasks.models.endpoints import Endpoint
from tasks.models.faults import SHOWN_CHARACTERS, FaultError, FaultKind, problem_of, without_key
from tasks.models.wire import Client, TooLongError, bounded, event_data
from tasks.settings.models import ModelSettings

AFTER_DONE_SECONDS = 1.0
"""How long the end of a stream may take after its last event; then the connection is not used again."""
BROKEN = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.ProtocolError, OSError)
"""What happens to a connection that there was; an error of TLS inside a stream comes as an OSError."""


class ServerClient:
    """The connections to one server; belongs to one event loop.

    Each request in flight has a client of its own: httpx's pool looks at all of its connections at every request, which with 64
    of them takes three times as long as the request.
    """

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        self._endpoint, self._settings = endpoint, settings
        self._clients: list[Client] = []
        self._idle: list[Client] = []

    async def aclose(self) -> None:
        await asyncio.gather(*(client.close() for client in self._clients))

    @contextmanager
    def _client(self) -> Iterator[Client]:
        """Lend the client that was used last, whose connection is the most likely to be open."""
        if not self._idle:
            self._idle.append(Client(self._endpoint, connect_seconds=self._settings.deadlines.connect_seconds))
            self._clients.append(self._idle[-1])
        client = self._idle.pop()
        try:
            yield client
        finally:
            self._idle.append(client)

    async def models(self) -> bytes:
        """Return the list of models; raise FaultError where asking again may help, else the error that says why not."""
        return await self._whole("/models", Request(b"", 0, 0), "answer", self._settings.deadlines.models_seconds)

    async def embeddings(self, request: Request) -> bytes:
        """Return the vectors as the server wrote them; raises what `models` raises."""
        return await self._whole("/embeddings", request, "vectors", self._settings.embeddings.reply_seconds)

    async def _whole(self, path: str, request: Request, what: str, seconds: float) -> bytes:
        with self._client() as client, self._explained(f"gave no {what} in {seconds:g} s", Gathering()):
            async with asyncio.timeout(seconds), client.answer(path, request.body) as answer:
                if not answer.is_success:
                    raise problem_of(answer, request=request, endpoint=self._endpoint)
                return b"".join([chunk async for chunk in bounded(answer, self._settings.embeddings.reply_megabytes)])

    async def complete(self, request: Request) -> Completion:
        """Return the reply; raises what `models` raises."""
        deadlines, began = self._settings.deadlines, asyncio.get_running_loop().time()
        first = min(deadlines.first_token_seconds, deadlines.total_seconds)
        gathering = Gathering(draft=request.draft)
        with self._client() as client, self._explained(f"wrote no word in {first:g} s", gathering):
            async with asyncio.timeout(first) as deadline, client.answer("/chat/completions", request.body) as answer:
                if not answer.is_success:
                    raise problem_of(answer, request=request, endpoint=self._endpoint)
                gathering.begun = True
                await self._gather(answer, gathering, deadline, began)
                gathering.time(asyncio.get_running_loop().time() - began)
        with self._explained("", gathering):
            completion = gathering.completion()
        return replace(completion, refusal=without_key(completion.refusal, self._endpoint))

    async def _gather(self, answer: httpx.Response, gathering: Gathering, deadline: asyncio.Timeout, began: float) -> None:
        """Read until the reply is whole, or cannot be mended; each word puts the deadline off."""
        clock, chunks = asyncio.get_running_loop().time, bounded(answer, self._settings.limits.reply_megabytes)
        end = began + self._settings.deadlines.total_seconds
        try:
            if answer.headers.get("content-type", "").startswith("application/json"):
                gathering.take(json.loads(b"".join([chunk async for chunk in chunks])), "message")
                return
            async for data in event_data(chunks):
                if data == "[DONE]":  # the connection can be used again once the end is read
                    deadline.reschedule(clock() + AFTER_DONE_SECONDS)
                    await anext(chunks, None)
                    return
                if gathering.take(json.loads(data), "delta"):
                    gathering.waited_seconds = gathering.waited_seconds or clock() - began
                    deadline.reschedule(min(end, clock() + self._settings.deadlines.idle_seconds))
                if gathering.reply.problem:
                    return
        except TooLongError as error:
            gathering.reply.problem = f"it is longer than {error}"

    @contextmanager
    def _explained(self, late: str, gathering: Gathering) -> Iterator[None]:
        """Turn whatever a server can do to us into a FaultError; a reply that was whole before is left alone."""
        try:
            yield
        except (OSError, httpx.HTTPError, openai.APIError, ValueError, RecursionError, TooLongError) as error:
            if gathering.reply.finish_reason and isinstance(error, (OSError, httpx.HTTPError)):
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
        if isinstance(error, TooLongError):
            return FaultKind.UNWELL, f"gave more than {error} for one request"
        what, reply = _broken_reply(error)
        shown = without_key(reply, self._endpoint)[:SHOWN_CHARACTERS]
        return FaultKind.UNWELL, f"gave a broken reply: {what}" + (f": {shown!r}" if shown else "")


def _words(error: BaseException | None) -> str:
    return str(error) or type(error).__name__


def _broken_reply(error: Exception) -> tuple[str, str]:
    """Return what is wrong with a reply, and the part of it that shows it, whole: the key may stand in it."""
    if isinstance(error, BrokenStreamError):
        return str(error), error.reply
    return "an event that is no JSON", error.doc if isinstance(error, json.JSONDecodeError) else str(error)
