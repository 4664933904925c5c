"""One request, streamed: only so can a deadline tell a server that thinks from one that hangs.

The openai package has no deadline for the first word, nor for the whole, no bound on the size of a reply, and retries of its own.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from importlib import metadata
from typing import Self
from urllib.parse import urlsplit

import h11

from tasks.models.chat.faults import SHOWN_CHARACTERS, Answered, FaultError, FaultKind, problem_of, without_key
from tasks.models.chat.request import Request
from tasks.models.chat.stream import BrokenStreamError, Completion, Gathering
from tasks.models.endpoints import ChatEndpoint
from tasks.settings.models import ModelSettings

READ_BYTES = 65_536


class ConnectionFailedError(OSError):
    """There is no connection to be had."""


class ConnectionBrokenError(OSError):
    """The connection ended, or spoke no HTTP."""


@dataclass(frozen=True, slots=True)
class Head:
    """The status and the headers of an answer, their names in lower case."""

    status: int
    headers: Mapping[str, str]


class Connection:
    """A connection; whoever leaves an answer half read must close it."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Use `open`."""
        self._reader, self._writer = reader, writer
        self._state = h11.Connection(h11.CLIENT)

    @classmethod
    async def open(cls, base_url: str, *, seconds: float) -> Self:
        """Connect; raise ConnectionFailedError where nobody takes it in time, or no host has such a name."""
        parts = urlsplit(base_url)
        trust = ssl.create_default_context() if parts.scheme == "https" else None
        port = parts.port or (443 if trust else 80)
        try:
            async with asyncio.timeout(seconds):
                return cls(*await asyncio.open_connection(parts.hostname, port, ssl=trust))
        except TimeoutError as error:
            raise ConnectionFailedError(f"takes no connection in {seconds:g} s") from error
        except UnicodeError as error:
            raise ConnectionFailedError(f"has a host name that cannot be looked up ({error})") from error
        except OSError as error:
            raise ConnectionFailedError(f"takes no connection ({error.strerror or error})") from error

    @property
    def reusable(self) -> bool:
        """Whether the last answer was read to its end and the server keeps the connection."""
        return self._state.states == {h11.CLIENT: h11.IDLE, h11.SERVER: h11.IDLE} and not self._reader.at_eof()

    def close(self) -> None:
        """Let go at once; what is on its way is lost."""
        self._writer.transport.abort()

    async def send(self, method: str, url: str, headers: Mapping[str, str], body: bytes) -> Head:
        """Send a request and return the head of its answer; raise ConnectionBrokenError.

        It does not wait until all is sent: a server may refuse a large body before it has read it.
        """
        parts = urlsplit(url)
        named = {"Host": parts.netloc, **headers, "Content-Length": str(len(body))}
        request = h11.Request(method=method, target=parts.path, headers=list(named.items()))
        pieces = [self._state.send(event) for event in (request, h11.Data(data=body), h11.EndOfMessage())]
        self._writer.write(b"".join(piece for piece in pieces if piece))
        while not isinstance(event := await self._next(), h11.Response):
            if not isinstance(event, h11.InformationalResponse):
                raise ConnectionBrokenError("closed the connection without an answer")
        return Head(event.status_code, {name.decode("latin-1"): told.decode("latin-1") for name, told in event.headers})

    async def body(self) -> AsyncIterator[bytes]:
        """Yield the body in pieces, as they come; raise ConnectionBrokenError where it is cut."""
        while isinstance(event := await self._next(), h11.Data):
            yield bytes(event.data)
        if self._state.states == {h11.CLIENT: h11.DONE, h11.SERVER: h11.DONE}:
            self._state.start_next_cycle()

    async def _next(self) -> h11.Event | type[h11.NEED_DATA] | type[h11.PAUSED]:
        """Return the next event of the answer, never NEED_DATA: then it waits for some."""
        try:
            while (event := self._state.next_event()) is h11.NEED_DATA:
                self._state.receive_data(await self._reader.read(READ_BYTES))
        except h11.RemoteProtocolError as error:
            raise ConnectionBrokenError(f"broke the connection ({error})") from error
        except OSError as error:
            raise ConnectionBrokenError(f"broke the connection ({error.strerror or error})") from error
        return event


KEEP_ALIVE_SECONDS = 3.0
"""uvicorn, and vLLM with it, drops idle connections after 5: ours must be gone before."""
AFTER_DONE_SECONDS = 1.0
"""How long the end of a stream may take after its last event; then the connection is not used again."""
ERROR_BYTES = 65_536
MODELS_BYTES = 4_000_000


class ChatTransport:
    """The connections to one server; belongs to one event loop."""

    def __init__(self, endpoint: ChatEndpoint, settings: ModelSettings) -> None:
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
