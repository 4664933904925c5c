"""One server behind the OpenAI protocol, asked by httpx: replies are streamed, bounded and read in linear time.

Only a stream lets a deadline tell a server that thinks from one that hangs.
"""

import asyncio
import functools
import json
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import replace
from importlib import metadata
from urllib.parse import urlsplit

import httpx

from tasks.address import is_this_machine
from tasks.models.chat.errors import ChatEndedError
from tasks.models.chat.request import Request
from tasks.models.chat.stream import BrokenStreamError, Completion, Gathering
from tasks.models.endpoints import Endpoint
from tasks.models.faults import SHOWN_CHARACTERS, FaultError, FaultKind, problem_of, without_key
from tasks.settings.models import ModelSettings

KEEP_ALIVE_SECONDS = 3.0
"""uvicorn, and vLLM with it, drops idle connections after 5: ours must be gone before."""
ERROR_PAGE_SECONDS = 1.0
ERROR_PAGE_BYTES = 65_536
"""So much of an error page is read; its status matters most, and must not be lost for the rest."""
AFTER_DONE_SECONDS = 1.0
"""How long the end of a stream may take after its last event; then the connection is not used again."""
BROKEN = (httpx.ReadError, httpx.WriteError, httpx.CloseError, httpx.ProtocolError, OSError)
"""What happens to a connection that there was; an error of TLS inside a stream comes as an OSError."""


class TooLongError(Exception):
    """An answer is longer than this; the message is the bound."""


class ServerClient:
    """The connections to one server; belongs to one event loop.

    Each request in flight has a client of its own: httpx's pool looks at all of its connections at every request, and with 64 of
    them that takes seven times the processor.
    """

    def __init__(self, endpoint: Endpoint, settings: ModelSettings) -> None:
        self._endpoint, self._settings = endpoint, settings
        self._clients: list[httpx.AsyncClient] = []
        self._idle: list[httpx.AsyncClient] = []

    async def aclose(self) -> None:
        await asyncio.gather(*(client.aclose() for client in self._clients))

    async def models(self) -> bytes:
        """Return the list of models; raise FaultError where asking again may help, else the error that says why not."""
        return await self._whole("/models", Request(b"", 0, 0), "answer", self._settings.deadlines.models_seconds)

    async def embeddings(self, request: Request) -> bytes:
        """Return the vectors as the server wrote them; raises what `models` raises."""
        return await self._whole("/embeddings", request, "vectors", self._settings.embeddings.reply_seconds)

    async def rerank(self, request: Request) -> bytes:
        """Return the scores of passages as the server wrote them; raises what `models` raises."""
        return await self._whole("/rerank", request, "scores", self._settings.embeddings.question_seconds)

    async def _whole(self, path: str, request: Request, what: str, seconds: float) -> bytes:
        with self._client() as client, self._explain_faults(f"gave no {what} in {seconds:g} s", Gathering()):
            async with asyncio.timeout(seconds), self._answer(client, path, request) as answer:
                return b"".join([chunk async for chunk in _read_bounded(answer, self._settings.embeddings.reply_megabytes)])

    async def complete(self, request: Request) -> Completion:
        """Return the reply; raises what `models` raises."""
        deadlines, began = self._settings.deadlines, asyncio.get_running_loop().time()
        first = min(deadlines.first_token_seconds, deadlines.total_seconds)
        gathering = Gathering(draft=request.draft)
        with self._client() as client, self._explain_faults(f"wrote no word in {first:g} s", gathering):
            async with asyncio.timeout(first) as deadline, self._answer(client, "/chat/completions", request) as answer:
                gathering.begun = True
                await self._gather(answer, gathering, deadline, began)
                gathering.time(asyncio.get_running_loop().time() - began)
        with self._explain_faults("", gathering):
            completion = gathering.completion()
        return replace(completion, refusal=without_key(completion.refusal, self._endpoint))

    @contextmanager
    def _client(self) -> Iterator[httpx.AsyncClient]:
        """Lend the client that was used last: its connection is the most likely to be open."""
        if not self._idle:
            self._idle.append(_client_of(self._endpoint, self._settings.deadlines.connect_seconds))
            self._clients.append(self._idle[-1])
        client = self._idle.pop()
        try:
            yield client
        finally:
            self._idle.append(client)

    @asynccontextmanager
    async def _answer(self, client: httpx.AsyncClient, path: str, request: Request) -> AsyncIterator[httpx.Response]:
        """Post the body, or get where there is none, and yield a success, which is not read yet; raise the problem of any other."""
        async with client.stream("POST" if request.body else "GET", path, content=request.body or None) as answer:
            if not answer.is_success:
                raise problem_of(answer, await _error_page(answer), request=request, endpoint=self._endpoint)
            yield answer

    async def _gather(self, answer: httpx.Response, gathering: Gathering, deadline: asyncio.Timeout, began: float) -> None:
        """Read until the reply is whole, or cannot be mended; each word puts the deadline off."""
        clock, chunks = asyncio.get_running_loop().time, _read_bounded(answer, self._settings.limits.reply_megabytes)
        end = began + self._settings.deadlines.total_seconds
        try:
            if answer.headers.get("content-type", "").startswith("application/json"):
                gathering.take(json.loads(b"".join([chunk async for chunk in chunks])), "message")
                return
            async for data in _event_data(chunks):
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
    def _explain_faults(self, late: str, gathering: Gathering) -> Iterator[None]:
        """Turn whatever a server can do to us into a FaultError; a reply that was whole before is left alone."""
        try:
            yield
        except (OSError, httpx.HTTPError, ValueError, RecursionError, TooLongError) as error:
            if gathering.reply.finish_reason and isinstance(error, (OSError, httpx.HTTPError)):
                return
            kind, what = self._fault(error, late, gathering)
            written = round(sum(map(len, gathering.pieces)) / self._settings.estimates.characters_per_token)
            message = without_key(f"{self._endpoint.base_url} {what}", self._endpoint)
            # from None: the first error may hold what the server wrote, and the key with it
            raise FaultError(kind, message, output_tokens=written if gathering.begun else None) from None

    def _fault(self, error: Exception, late: str, gathering: Gathering) -> tuple[FaultKind, str]:
        deadlines = self._settings.deadlines
        if isinstance(error, TimeoutError):
            slow = f"wrote for more than {deadlines.total_seconds:g} s, or no word in {deadlines.idle_seconds:g} s"
            return FaultKind.SILENT, slow if gathering.pieces else late
        if isinstance(error, httpx.ConnectTimeout):
            return FaultKind.DOWN, f"takes no connection in {deadlines.connect_seconds:g} s"
        if isinstance(error, BROKEN):
            return FaultKind.UNWELL, f"broke the connection ({str(error) or type(error).__name__})"
        if isinstance(error, (httpx.HTTPError, UnicodeError)) and not gathering.begun:  # no host can have such a name
            return FaultKind.DOWN, f"takes no connection ({str(error) or type(error).__name__})"
        if isinstance(error, TooLongError):
            return FaultKind.UNWELL, f"gave more than {error} for one request"
        what, reply = _broken_reply(error)
        shown = without_key(reply, self._endpoint)[:SHOWN_CHARACTERS]
        return FaultKind.UNWELL, f"gave a broken reply: {what}" + (f": {shown!r}" if shown else "")


def _client_of(endpoint: Endpoint, connect_seconds: float) -> httpx.AsyncClient:
    """Return a client without a deadline but for connecting; raise ChatEndedError where the proxy cannot be used."""
    headers = {
        "Accept": "application/json",
        "Accept-Encoding": "identity",
        "Content-Type": "application/json",
        "User-Agent": f"flowreader/{metadata.version('flowreader')}",
    }
    try:
        return httpx.AsyncClient(
            base_url=endpoint.base_url,
            headers=headers | ({"Authorization": f"Bearer {endpoint.api_key}"} if endpoint.api_key else {}),
            timeout=httpx.Timeout(None, connect=connect_seconds),
            verify=_trust(),
            trust_env=not is_this_machine(urlsplit(endpoint.base_url).hostname or ""),
            limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
        )
    except (ImportError, ValueError, httpx.InvalidURL) as error:  # its words may hold the password of the proxy
        raise ChatEndedError(
            f"a proxy of the environment cannot be used ({type(error).__name__})",
            remedy="set HTTP_PROXY, HTTPS_PROXY and ALL_PROXY to addresses like http://proxy:3128, or unset them",
        ) from None


@functools.cache
def _trust() -> ssl.SSLContext:
    """Return the machine's own trust store, where httpx takes one of its own; reading it takes milliseconds."""
    return ssl.create_default_context()


async def _error_page(answer: httpx.Response) -> bytes:
    """Return as much of an error page as comes in time."""
    page = b""
    with suppress(OSError, httpx.HTTPError):  # a deadline that passed is an OSError
        async with asyncio.timeout(ERROR_PAGE_SECONDS):
            async for chunk in answer.aiter_raw():
                page += chunk
                if len(page) >= ERROR_PAGE_BYTES:
                    break
    return page[:ERROR_PAGE_BYTES]


async def _read_bounded(answer: httpx.Response, megabytes: float) -> AsyncIterator[bytes]:
    """Yield the body of an answer as it comes, never unpacked; raise TooLongError where it is longer."""
    async for chunk in answer.aiter_raw():
        if answer.num_bytes_downloaded > megabytes * 1_000_000:
            raise TooLongError(f"{megabytes:g} MB")
        yield chunk


async def _event_data(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the data of each line that has some; no sign but a newline ends one, and no empty line is waited for."""
    unfinished: list[bytes] = []
    async for chunk in chunks:
        lines, newline, rest = chunk.rpartition(b"\n")
        if newline:
            for data in _data(b"".join([*unfinished, lines])):
                yield data
            unfinished = []
        unfinished.append(rest)
    for data in _data(b"".join(unfinished)):
        yield data


def _data(lines: bytes) -> list[str]:
    stripped = (line.strip() for line in lines.split(b"\n"))
    return [line.removeprefix(b"data:").strip().decode() for line in stripped if line.startswith(b"data:") and line != b"data:"]


def _broken_reply(error: Exception) -> tuple[str, str]:
    """Return what is wrong with a reply, and the whole part of it that shows this: it may hold the key."""
    if isinstance(error, BrokenStreamError):
        return str(error), error.reply
    return "an event that is no JSON", error.doc if isinstance(error, json.JSONDecodeError) else str(error)
