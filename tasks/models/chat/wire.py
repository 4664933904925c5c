"""The openai client with what it lacks: bounds on an answer, events that are read in linear time, and only our own headers."""

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator, Iterator
from contextlib import suppress
from importlib import metadata
from ipaddress import ip_address
from typing import cast
from urllib.parse import urlsplit

import httpx
import openai
from openai._streaming import ServerSentEvent, SSEDecoder

from tasks.models.chat.errors import ChatServerDownError, RejectedCallError
from tasks.models.endpoints import Endpoint

KEEP_ALIVE_SECONDS = 3.0
"""uvicorn, and vLLM with it, drops idle connections after 5: ours must be gone before."""
AFTER_DONE_SECONDS = 1.0
"""How long the end of a stream may take after its last event; then the connection is not used again."""
ERROR_PAGE_SECONDS = 1.0
ERROR_PAGE_BYTES = 65_536
"""So much of an error page is read; its status says the most, and must not be lost for its words."""
NO_KEY = "none"
"""In place of a key where the server wants none: the client insists on one. It is not sent."""


class Client(openai.AsyncOpenAI):
    """One connection to a server, or a few; whatever it answers comes whole or cut, and never unpacked."""

    def __init__(self, endpoint: Endpoint, *, connect_seconds: float, reply_bytes: int) -> None:
        """Raises ChatServerDownError where a proxy of the environment cannot be used."""
        self._endpoint, self._reply_bytes = endpoint, reply_bytes
        super().__init__(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or NO_KEY,
            max_retries=0,
            timeout=httpx.Timeout(None, connect=connect_seconds),
            http_client=self._transport(),
        )

    def _transport(self) -> httpx.AsyncClient:
        try:
            return httpx.AsyncClient(
                verify=_trust(),
                trust_env=not _is_this_machine(self._endpoint.base_url),
                limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
                event_hooks={"response": [self._bound]},
            )
        except (ImportError, ValueError, httpx.InvalidURL) as error:  # its words may hold the password of the proxy
            raise ChatServerDownError(
                f"a proxy of the environment cannot be used ({type(error).__name__}); set HTTP_PROXY, HTTPS_PROXY and ALL_PROXY to "
                "addresses like http://proxy:3128, or unset them"
            ) from None

    @property
    def default_headers(self) -> dict[str, str | openai.Omit]:
        """All headers of a request; the client would add others, and take keys for them, from variables of its own (OPENAI_*)."""
        key = self._endpoint.api_key
        return {
            "Accept": "application/json",
            "Accept-Encoding": "identity",
            "Authorization": f"Bearer {key}" if key else openai.Omit(),
            "Content-Type": "application/json",
            "User-Agent": f"flowreader/{metadata.version('flowreader')}",
        }

    def _validate_headers(self, *_headers: object) -> None:
        """Without this, it insists on a key."""

    def _make_sse_decoder(self) -> SSEDecoder:
        return DataLines()

    async def _bound(self, response: httpx.Response) -> None:
        """Let no more of an answer through than it may have; raise RejectedCallError where a reply is packed."""
        response.headers["content-type"] = response.headers.get("content-type", "").partition(";")[0]  # not every charset is text
        packing = response.headers.pop("content-encoding", "identity")
        stream = cast(httpx.AsyncByteStream, response.stream)
        if not response.is_success:
            page = await _error_page(stream)
            response.stream = httpx.ByteStream(page if packing == "identity" else b"")
        elif packing == "identity":
            response.stream = ReplyBytes(stream, self._reply_bytes)
        else:
            raise RejectedCallError(f"{self._endpoint.base_url} packs its replies, which was not asked for; turn that off")


@functools.cache
def _trust() -> ssl.SSLContext:
    """Return the machine's own trust store, where httpx takes one of its own; reading it takes milliseconds."""
    return ssl.create_default_context()


def _is_this_machine(base_url: str) -> bool:
    """Say whether the server is on this machine, which is never asked through a proxy."""
    host = (urlsplit(base_url).hostname or "").removesuffix(".")
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


async def _error_page(stream: httpx.AsyncByteStream) -> bytes:
    """Return what comes of it in time."""
    page = b""
    with suppress(OSError, httpx.HTTPError):  # a deadline that passed is an OSError
        async with asyncio.timeout(ERROR_PAGE_SECONDS):
            async for chunk in stream:
                page += chunk
                if len(page) >= ERROR_PAGE_BYTES:
                    break
    await stream.aclose()
    return page[:ERROR_PAGE_BYTES]


class DataLines(SSEDecoder):
    """Reads each line of data as an event; openai's own takes quadratic time, waits for empty lines and reports empty events."""

    async def aiter_bytes(self, iterator: AsyncIterator[bytes]) -> AsyncIterator[ServerSentEvent]:
        unfinished: list[bytes] = []
        async for chunk in iterator:
            lines, newline, rest = chunk.rpartition(b"\n")
            if newline:
                for event in _events(b"".join([*unfinished, lines])):
                    yield event
                unfinished = []
            unfinished.append(rest)
        for event in _events(b"".join(unfinished)):
            yield event


def _events(lines: bytes) -> Iterator[ServerSentEvent]:
    for line in map(bytes.strip, lines.split(b"\n")):
        if line.startswith(b"data:") and line != b"data:":
            yield ServerSentEvent(data=line.removeprefix(b"data:").strip().decode())


class ReplyBytes(httpx.AsyncByteStream):
    """The bytes of a reply, cut behind the limit.

    The client leaves a stream at [DONE], before its end; the end is read here, or the connection could not be used again.
    """

    def __init__(self, stream: httpx.AsyncByteStream, limit: int) -> None:
        self._stream, self._left = stream, limit
        self._chunks = aiter(stream)
        self._last = b""

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._chunks:
            self._last = chunk
            yield chunk
            self._left -= len(chunk)
            if self._left < 0:
                return

    async def aclose(self) -> None:
        if self._last.rstrip().endswith(b"[DONE]"):
            with suppress(OSError, httpx.HTTPError):
                async with asyncio.timeout(AFTER_DONE_SECONDS):
                    await anext(self._chunks, None)
        await self._stream.aclose()
