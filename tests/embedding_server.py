"""A server of vectors and of a reranker's scores on a real loopback socket: by rule; it counts requests, and misbehaves on request.

    with embedding_server() as server:
        ... FLOWREADER_EMBED_BASE_URL=server.base_url ...
    assert server.most_at_once <= 8

`behave` gets the body of a request and returns an Answer or a Fault: `well` answers all texts in order, `altered` does otherwise.
"""

import asyncio
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from tasks.settings.models import ModelSettings
from tests.chat_server import ChatServer, send, serving


class Fault(StrEnum):
    """What can happen to a connection."""

    HANG = "no answer"
    RESET = "closed without an answer"
    CUT = "closed in the middle of the vectors"


@dataclass(frozen=True, slots=True)
class Answer:
    """A status, and a value sent as JSON, or bytes as they are."""

    status: int
    value: Any
    headers: dict[str, str] = field(default_factory=dict)


Behave = Callable[[dict[str, Any]], Answer | Fault]


def vector(text: str) -> list[float]:
    """Three numbers by which a text is known again; not of length 1."""
    return [float(len(text)), float(sum(map(ord, text)) % 97 + 1), 2.0]


def well(request: dict[str, Any]) -> Answer:
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(request["input"])]
    return Answer(
        200, {"object": "list", "model": request["model"], "data": data, "usage": {"prompt_tokens": 1, "total_tokens": 1}}
    )


def ranks(request: dict[str, Any]) -> Answer:
    """Score each passage by its length, the longest first."""
    lengths = sorted(((len(text), place) for place, text in enumerate(request["documents"])), reverse=True)
    return Answer(200, {"results": [{"index": place, "relevance_score": length} for length, place in lengths]})


def altered(change: Callable[[list[dict[str, Any]]], list[dict[str, Any]]], **more: Any) -> Behave:
    """Answer well, but for the data, and what else is named."""

    def behave(request: dict[str, Any]) -> Answer:
        told = well(request).value
        return Answer(200, told | {"data": change(told["data"])} | more)

    return behave


def in_turn(*behaviours: Behave | Answer | Fault) -> Behave:
    """Behave in each of these ways once, and well from then on."""
    left = list(behaviours)

    def behave(request: dict[str, Any]) -> Answer | Fault:
        how = left.pop(0) if left else well
        return how(request) if callable(how) else how

    return behave


@dataclass
class EmbeddingServer(ChatServer):
    """A server whose `requests` are the bodies that came."""

    behave: Behave = well
    models: Answer = field(default_factory=lambda: Answer(200, {"object": "list", "data": [{"id": "m", "max_model_len": 2048}]}))

    async def _answer(self, writer: asyncio.StreamWriter, asked: str, _headers: Any, body: bytes) -> bool:
        if asked == "GET /v1/models":
            return send(writer, self.models.status, self.models.value)
        assert asked in {"POST /v1/embeddings", "POST /v1/rerank"}
        request = json.loads(body)
        self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await asyncio.sleep(self.seconds)
            return await self._behave(writer, request)
        finally:
            self.at_once -= 1

    async def _behave(self, writer: asyncio.StreamWriter, request: dict[str, Any]) -> bool:
        how = self.behave(request)
        if how is Fault.HANG:
            await asyncio.sleep(3600)
        if how is Fault.CUT:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n{")
            await writer.drain()
        return isinstance(how, Answer) and send(writer, how.status, how.value, how.headers)


def embedding_server(behave: Behave = well, **more: Any) -> AbstractContextManager[EmbeddingServer]:
    """Serve as long as the block takes; `more` are the fields of EmbeddingServer."""
    return serving(EmbeddingServer(behave, behave=behave, **more))


def impatient(retries=(), **embeddings):
    """Settings with short waits between tries."""
    short = {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.02, "attempts": 4, "busy_seconds": 5.0}
    return ModelSettings(
        deadlines={"models_seconds": 60.0},
        retries=short | dict(retries),
        embeddings={"texts_per_request": 4, "in_flight": 3} | embeddings,
    )
