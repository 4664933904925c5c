"""One request, streamed: only so can a deadline tell a server that thinks from one that hangs.

The openai package has no deadline for the first word, nor for the whole, no bound on the size of a reply, and retries of its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from importlib import metadata

from tasks.model_settings import ModelSettings
from tasks.models.chat_connection import Connection, ConnectionBrokenError, ConnectionFailedError, Head
from tasks.models.chat_faults import SHOWN_CHARACTERS, Answered, FaultError, FaultKind, problem_of, without_key
from tasks.models.chat_request import Request
from tasks.models.chat_stream import BrokenStreamError, Completion, Gathering
from tasks.models.endpoints import ChatEndpoint

KEEP_ALIVE_SECONDS = 3.0
"""uvicorn, and vLLM with it, drops idle connections after 5: ours must be gone before."""
AFTER_DONE_SECONDS = 1.0
"""How long the end of a stream may take after its last event; then the connection is not used again."""
ERROR_BYTES = 65_536
MODELS_BYTES = 4_000_000


class ChatTransport:
    """The connections to one server; belongs to one event loop."""

    def __init__(self, endpoint: ChatEndpoint, settings: ModelSettings) -> None:
        """Prepare; nothing is sent."""
        self._endpoint, self._settings = endpoint, settings
        self._headers = {
            "Content-Type": "application/json",
            "Accept-Encoding": "identity",
            "User-Agent": f"flowreader/{metadata.version('flowreader')}",
        }
        if endpoint.api_key:
            self._headers["Authorization"] = f"Bearer {endpoint.api_key}"
        self._idle: list[tuple[float, Connection]] = []

    def close(self) -> None:
        """Close the connections that no request uses."""
        while self._idle:
            self._idle.pop()[1].close()

    async def models(self) -> Answered:
        """Return what /models answers; raise FaultError where nothing answers in time."""
        seconds = self._settings.deadlines.models_seconds
        with self._explained(f"said nothing for {seconds:g} s", Gathering(0)):
            async with asyncio.timeout(seconds), self._answer("GET", "models", b"") as (head, body):
                return await _answered(head, body, MODELS_BYTES)

    async def complete(self, request: Request, *, limit_tokens: int) -> Completion:
        """Return the reply; raise FaultError where sending again may help, else the error that says why not."""
        deadlines = self._settings.deadlines
        end = asyncio.get_running_loop().time() + deadlines.total_seconds
        first = min(deadlines.first_token_seconds, deadlines.total_seconds)
        gathering = Gathering(int(self._settings.limits.reply_megabytes * 1_000_000))
        with self._explained(f"wrote no word in {first:g} s", gathering):
            async with (
                asyncio.timeout(first) as deadline,
                self._answer("POST", "chat/completions", request.body) as (head, body),
            ):
                if head.status != 200:
                    answered = await _answered(head, body, ERROR_BYTES)
                    raise problem_of(answered, request=request, endpoint=self._endpoint, limit_tokens=limit_tokens)
                gathering.begin(head.headers)
                await self._gather(body, gathering, deadline, end)
        with self._explained("", gathering):
            completion = gathering.completion()
            return replace(completion, refusal=without_key(completion.refusal, self._endpoint))

    async def _gather(self, body: AsyncIterator[bytes], gathering: Gathering, deadline: asyncio.Timeout, end: float) -> None:
        """Read until the reply is whole, or cannot be mended; each word puts the deadline off."""
        clock, idle_seconds = asyncio.get_running_loop().time, self._settings.deadlines.idle_seconds
        async for chunk in body:
            if gathering.feed(chunk):
                deadline.reschedule(min(end, clock() + idle_seconds))
            if gathering.problem:
                return
            if gathering.done:
                deadline.reschedule(clock() + AFTER_DONE_SECONDS)
                await anext(body, None)  # the end of the body: only then may the connection be used again
                return

    @asynccontextmanager
    async def _answer(self, method: str, path: str, body: bytes) -> AsyncIterator[tuple[Head, AsyncIterator[bytes]]]:
        """Send, over the connection that was used last; the answer is read inside the block."""
        connection = await self._connection()
        try:
            head = await connection.send(method, f"{self._endpoint.base_url}/{path}", self._headers, body)
            yield head, connection.body()
        finally:
            if connection.reusable:
                self._idle.append((asyncio.get_running_loop().time(), connection))
            else:
                connection.close()

    async def _connection(self) -> Connection:
        now = asyncio.get_running_loop().time()
        while self._idle:
            since, connection = self._idle.pop()
            if connection.reusable and now - since < KEEP_ALIVE_SECONDS:
                return connection
            connection.close()
        return await Connection.open(self._endpoint.base_url, seconds=self._settings.deadlines.connect_seconds)

    @contextmanager
    def _explained(self, hung: str, gathering: Gathering) -> Iterator[None]:
        """Turn whatever a connection can do to us into a FaultError; a reply that was whole before is left alone."""
        try:
            yield
        except ConnectionFailedError as error:
            raise self._fault(FaultKind.DOWN, str(error), gathering) from error
        except TimeoutError as error:
            if not gathering.done:
                deadlines = self._settings.deadlines
                slow = f"wrote for more than {deadlines.total_seconds:g} s, or no word in {deadlines.idle_seconds:g} s"
                raise self._fault(FaultKind.SILENT, slow if gathering.pieces else hung, gathering) from error
        except ConnectionBrokenError as error:
            if not gathering.done:
                raise self._fault(FaultKind.UNWELL, str(error), gathering) from error
        except BrokenStreamError as error:
            said = without_key(error.said, self._endpoint)[:SHOWN_CHARACTERS]
            what = f"gave a broken reply: {error}" + (f": {said!r}" if said else "")
            raise self._fault(FaultKind.UNWELL, what, gathering) from error

    def _fault(self, kind: FaultKind, what: str, gathering: Gathering) -> FaultError:
        written = round(sum(map(len, gathering.pieces)) / self._settings.estimates.characters_per_token)
        message = without_key(f"{self._endpoint.base_url} {what}", self._endpoint)
        return FaultError(kind, message, output_tokens=written if gathering.begun else None)


async def _answered(head: Head, body: AsyncIterator[bytes], limit: int) -> Answered:
    """Return the answer with the first bytes of its body; an error page may be as long as it likes."""
    read = bytearray()
    async for chunk in body:
        read += chunk
        if len(read) > limit:
            break
    return Answered(head.status, head.headers, bytes(read[:limit]))
