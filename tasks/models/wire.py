"""The openai client with what it lacks: bounds on an answer, events that are read in linear time, and only our own headers."""

import asyncio
import functools
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from importlib import metadata
from typing import cast
from urllib.parse import urlsplit

import httpx
import openai

from tasks.address import is_this_machine
from tasks.models.chat.errors import ChatServerDownError, RejectedCallError
from tasks.models.endpoints import Endpoint

KEEP_ALIVE_SECONDS = 3.0
"""uvicorn, and vLLM with it, drops idle connections after 5: ours must be gone before."""
ERROR_PAGE_SECONDS = 1.0
ERROR_PAGE_BYTES = 65_536
"""So much of an error page is read; its status matters most, and must not be lost for the rest."""
NO_KEY = "none"
"""In place of a key where the server wants none: the client insists on one. It is not sent."""


class Client(openai.AsyncOpenAI):
    """One connection to a server, or a few."""

    def __init__(self, endpoint: Endpoint, *, connect_seconds: float) -> None:
        """Raises ChatServerDownError where a proxy of the environment cannot be used."""
        self._endpoint = endpoint
        super().__init__(
            base_url=endpoint.base_url,
            api_key=endpoint.api_key or NO_KEY,
            max_retries=0,
            timeout=httpx.Timeout(None, connect=connect_seconds),
            http_client=self._transport(),
        )

    @asynccontextmanager
    async def answer(self, path: str, body: bytes) -> AsyncIterator[httpx.Response]:
        """Post the body, or get where there is none, and yield the answer, whatever its status; a success is not read yet.

        Raises RejectedCallError where a reply is compressed: it is never unpacked.
        """
        send = functools.partial(self.post, content=body) if body else self.get
        try:
            response = cast(httpx.Response, await send(path, cast_to=httpx.Response, stream=True))
        except openai.APIStatusError as error:
            response = error.response
        try:
            if response.is_success and response.headers.get("content-encoding", "identity") != "identity":
                raise RejectedCallError(f"{self._endpoint.base_url} packs its replies, which was not asked for; turn that off")
            yield response
        finally:
            await response.aclose()

    def _transport(self) -> httpx.AsyncClient:
        try:
            return httpx.AsyncClient(
                verify=_trust(),
                trust_env=not is_this_machine(urlsplit(self._endpoint.base_url).hostname or ""),
                limits=httpx.Limits(keepalive_expiry=KEEP_ALIVE_SECONDS),
                event_hooks={"response": [_bound_error_page]},
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


@functools.cache
def _trust() -> ssl.SSLContext:
    """Return the machine's own trust store, where httpx takes one of its own; reading it takes milliseconds."""
    return ssl.create_default_context()


async def _bound_error_page(response: httpx.Response) -> None:
    """Leave as much of an error page as comes in time, for the client reads all of it; nothing of one that is compressed."""
    if response.is_success:
        return
    stream, page = cast(httpx.AsyncByteStream, response.stream), b""
    with suppress(OSError, httpx.HTTPError):  # a deadline that passed is an OSError
        async with asyncio.timeout(ERROR_PAGE_SECONDS):
            async for chunk in stream:
                page += chunk
                if len(page) >= ERROR_PAGE_BYTES:
                    break
    await stream.aclose()
    packed = response.headers.pop("content-encoding", "identity") != "identity"
    response.stream = httpx.ByteStream(b"" if packed else page[:ERROR_PAGE_BYTES])
    response.headers["content-type"] = response.headers.get("content-type", "").partition(";")[0]  # not every charset is text


class TooLongError(Exception):
    """An answer is longer than this; the message is the bound."""


async def bounded(answer: httpx.Response, megabytes: float) -> AsyncIterator[bytes]:
    """Yield the body of an answer as it comes; raise TooLongError where it is longer."""
    async for chunk in answer.aiter_raw():
        if answer.num_bytes_downloaded > megabytes * 1_000_000:
            raise TooLongError(f"{megabytes:g} MB")
        yield chunk


async def event_data(chunks: AsyncIterator[bytes]) -> AsyncIterator[str]:
    """Yield the data of each line that has some: openai's reader takes quadratic time and waits for empty lines."""
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
