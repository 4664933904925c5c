"""A chat server on a real loopback socket: it replies by rule, counts what it is asked, and misbehaves on request.

    with chat_server(reply=lambda request: {"summary": request.prompt[:10]}) as server:
        ... FLOWREADER_CHAT_BASE_URL=server.base_url ...
    assert server.calls == 3 and server.most_at_once <= 64

`reply` gets a ChatRequest and returns the value of the reply, or a str to say as it is; it may be called from one thread only.
`misbehave` gets the same and names a Misbehaviour, or returns None: see `at` and `sometimes`.

What a model can do is asked of it apart from all else (tasks/models/abilities.py): the server answers that by itself, as a fast
model that `sees` or not, and counts it as `probes` alone, unless it is served with `answers_probes=False`.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import random
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.misbehaviour import BREAKS, STATUSES, Misbehaviour, spoiled


@dataclass(frozen=True, slots=True)
class ChatRequest:
    """A request as the server understood it; `number` counts from 1, `text` is the whole conversation."""

    number: int
    body: Mapping[str, Any]
    headers: Mapping[str, str]

    @property
    def prompt(self) -> str:
        """The text of the first message."""
        return _text_of(self.body["messages"][0]["content"])

    @property
    def text(self) -> str:
        return "\n".join(_text_of(message["content"]) for message in self.body["messages"])

    @property
    def is_second_chance(self) -> bool:
        return len(self.body["messages"]) > 1

    @property
    def form(self) -> str:
        """The name of the form that is asked for, "" where none is."""
        return self.body["response_format"]["json_schema"]["name"] if "response_format" in self.body else ""

    @property
    def images(self) -> list[bytes]:
        parts = [part for message in self.body["messages"] for part in _parts_of(message["content"])]
        urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
        return [base64.b64decode(url.partition("base64,")[2], validate=True) for url in urls]


Reply = Callable[[ChatRequest], Any]
GLANCE = {"colour": "green", "ships": "two", "month": "January"}
WORKED = {
    "facts": "412 in 1903, 455 in 1904",
    "status": "supported",
    "whole": True,
    "answer": "+43",
    "citations": [{"passage": "n1", "quote": "412 ships"}, {"passage": "n3", "quote": "they were 455"}],
}
PROBES = {"Glance": GLANCE, "WorkerReply": WORKED}
"""What a model that can be asked in full replies to the calls by which it is met."""
Misbehave = Callable[[ChatRequest], Misbehaviour | None]


def at(plan: Mapping[int, Misbehaviour]) -> Misbehave:
    """Misbehave at the calls of these numbers, from 1."""
    return lambda request: plan.get(request.number)


def sometimes(shares: Mapping[Misbehaviour, float], seed: int) -> Misbehave:
    """Misbehave at random, each way with its share."""
    dice = random.Random(seed)

    def draw(_request: ChatRequest) -> Misbehaviour | None:
        return dice.choices([*shares, None], [*shares.values(), 1 - sum(shares.values())])[0]

    return draw


def always(misbehaviour: Misbehaviour) -> Misbehave:
    """Misbehave at every call."""
    return lambda _request: misbehaviour


def well(_request: ChatRequest) -> None:
    """Never misbehave."""


@dataclass
class ChatServer:
    """What is served, and what was asked. Only `go_away` and `come_back` may be called from other threads, and all be read."""

    reply: Reply
    misbehave: Misbehave = well
    models: tuple[str, ...] = ("scripted",)
    max_model_len: int | None = None
    api_key: str = ""
    seconds: float = 0.0
    places: int = 1000
    drip_seconds: float = 1.0
    retry_after: str = "1"
    piece_seconds: float = 0.0
    piece_length: int = 0
    breaks_after_done: bool = False
    tells_usage: bool = True
    tells_timings: bool = True
    answers_probes: bool = True
    probes: int = 0
    sees: bool = True
    read_per_second: float = 5000.0
    written_per_second: float = 100.0
    requests: list[ChatRequest] = field(default_factory=list)
    keep_requests: bool = True
    calls: int = 0
    replied: int = 0
    connections: int = 0
    listings: int = 0
    at_once: int = 0
    most_at_once: int = 0
    port: int = 0

    @property
    def base_url(self) -> str:
        return f"http://127.0.0.1:{self.port}/v1"

    def __post_init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._slots = asyncio.Semaphore(self.places)

    def come_back(self) -> None:
        """Listen, on the same port as before."""
        self._run(self._listen())

    def go_away(self) -> None:
        """Refuse connections, and break those that are open."""
        self._run(self._leave())

    def _run(self, work: Any) -> None:
        asyncio.run_coroutine_threadsafe(work, self._loop).result(60)

    async def _listen(self) -> None:
        self._server = await asyncio.start_server(self._accept, "127.0.0.1", self.port, backlog=512, limit=2**26)
        self.port = self._server.sockets[0].getsockname()[1]

    async def _leave(self) -> None:
        self._server.close()
        # One that was accepted just now begins first.
        await asyncio.sleep(0.01)
        while others := asyncio.all_tasks() - {asyncio.current_task()}:
            for task in others:
                task.cancel()
            await asyncio.wait(others)

    async def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.connections += 1
        try:
            while await self._serve_one(reader, writer):
                pass
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            with contextlib.suppress(OSError):
                writer.transport.abort()

    async def _serve_one(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        """Answer a request; say whether the connection may serve another."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, path, _ = head[0].split(" ", 2)
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        body = await reader.readexactly(int(headers.get("content-length", 0)))
        if self.api_key and headers.get("authorization") != f"Bearer {self.api_key}":
            return send(writer, 401, {"error": {"message": f"no such key: {headers.get('authorization')}"}})
        return await self._answer(writer, f"{method} {path}", headers, body)

    async def _answer(self, writer: asyncio.StreamWriter, asked: str, headers: Mapping[str, str], body: bytes) -> bool:
        if asked == "GET /v1/models":
            self.listings += 1
            return send(writer, 200, {"object": "list", "data": [self._listing(name) for name in self.models]})
        if asked != "POST /v1/chat/completions":
            return send(writer, 404, {"error": {"message": f"no {asked}"}})
        request = ChatRequest(self.calls + 1, json.loads(body), headers)
        if request.images and not self.sees:
            return send(writer, 500, {"error": {"message": "image input is not supported", "code": 500}})
        if self.answers_probes and request.form in PROBES:
            self.probes += request.form == "Glance"
            return await self._tell(
                writer, self._events(request, json.dumps(PROBES[request.form]), None), None, "text/event-stream"
            )
        self.calls += 1
        arrived, queued = self._loop.time(), self._slots.locked()
        if self.keep_requests:
            self.requests.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            async with self._slots:
                begun = self._loop.time() if queued else arrived
                return await self._converse(request, writer, begun + self.seconds)
        finally:
            self.at_once -= 1

    def _listing(self, name: str) -> dict[str, Any]:
        listed: dict[str, Any] = {"id": name, "object": "model", "owned_by": "tests"}
        return listed | ({"max_model_len": self.max_model_len} if self.max_model_len else {})

    async def _converse(self, request: ChatRequest, writer: asyncio.StreamWriter, due: float) -> bool:
        how = self.misbehave(request)
        if how in STATUSES:
            status, message = STATUSES[how]
            extra = {"Retry-After": self.retry_after} if how == Misbehaviour.BUSY_FOR_A_WHILE else {}
            extra |= {"Location": "http://127.0.0.1:9/v1"} if how == Misbehaviour.MOVED else {}
            message = message.replace("{key}", request.headers.get("authorization", ""))
            return send(writer, status, {"error": {"message": message, "type": "error", "code": status}}, extra)
        await asyncio.sleep(due - self._loop.time())
        if how == Misbehaviour.HANG:
            await asyncio.sleep(3600)
        value = self.reply(request)
        text = spoiled(value, how) if how else value if isinstance(value, str) else json.dumps(value)
        streamed = request.body.get("stream", False)
        told = self._events(request, text, how) if streamed else self._in_one_piece(request, text, how)
        done = await self._tell(writer, told, how, "text/event-stream" if streamed else "application/json")
        self.replied += done
        return done

    async def _tell(self, writer: asyncio.StreamWriter, told: AsyncIterator[bytes], how: Misbehaviour | None, kind: str) -> bool:
        writer.write(f"HTTP/1.1 200 OK\r\nContent-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        async for piece in told:
            for part in [piece[i : i + 1] for i in range(len(piece))] if how == Misbehaviour.DRIP else [piece]:
                writer.write(f"{len(part):x}\r\n".encode() + part + b"\r\n")
                if how is not None:
                    await writer.drain()
                if pause := self.drip_seconds if how == Misbehaviour.DRIP else self.piece_seconds:
                    await asyncio.sleep(pause)
        if how == Misbehaviour.RESET or self.breaks_after_done:
            await writer.drain()
            return False
        writer.write(b"0\r\n\r\n")
        await writer.drain()
        return True

    async def _events(self, request: ChatRequest, text: str, how: Misbehaviour | None) -> AsyncIterator[bytes]:
        def event(choices: list[dict[str, Any]], **more: Any) -> bytes:
            told = {"id": f"chat-{request.number}", "object": "chat.completion.chunk", "model": _name(request, how)}
            return b"data: " + json.dumps(told | {"choices": choices} | more).encode() + b"\n\n"

        def choice(delta: dict[str, Any], finish: str | None = None) -> dict[str, Any]:
            return {"index": 0, "delta": delta, "finish_reason": finish}

        yield b": begun\n\n" + event([choice({"role": "assistant", "content": ""})])
        if how == Misbehaviour.REFUSAL:
            yield event([choice({"refusal": "I would rather not."})])
        for number, piece in enumerate(_pieces(text, how, self.piece_length)):
            yield event([choice({"content": piece})])
            if number == 0 and how == Misbehaviour.HANG_LATER:
                await asyncio.sleep(3600)
            if number == 0 and how in BREAKS:
                yield BREAKS[how]
                return
        yield event([choice({}, _finish(how))])
        if self.tells_usage and request.body.get("stream_options", {}).get("include_usage"):
            yield event([], usage=_usage(request, text), **self._timings)
        yield b"data: [DONE]\n\n"

    async def _in_one_piece(self, request: ChatRequest, text: str, how: Misbehaviour | None) -> AsyncIterator[bytes]:
        said = {"role": "assistant", "content": text}
        choices = [{"index": 0, "message": said, "finish_reason": _finish(how)}]
        told = {"id": f"chat-{request.number}", "object": "chat.completion", "model": _name(request, how), "choices": choices}
        yield json.dumps(told | {"usage": _usage(request, text)} | self._timings).encode()

    @property
    def _timings(self) -> dict[str, Any]:
        """What llama.cpp tells, and no other server does."""
        told = {"prompt_per_second": self.read_per_second, "predicted_per_second": self.written_per_second}
        return {"timings": told} if self.tells_timings else {}


def _pieces(text: str, how: Misbehaviour | None, length: int) -> Iterator[str]:
    if how == Misbehaviour.WHITESPACE:
        return itertools.chain([text[:1]], itertools.repeat(" \n\t " * 5))
    size = length or max(1, len(text) // 4)
    return (text[start : start + size] for start in range(0, len(text), size))


def _name(request: ChatRequest, how: Misbehaviour | None) -> str:
    return "another-model" if how == Misbehaviour.WRONG_MODEL else request.body["model"]


def _finish(how: Misbehaviour | None) -> str:
    return "length" if how == Misbehaviour.LENGTH else "stop"


def _usage(request: ChatRequest, text: str) -> dict[str, int]:
    read, written = len(request.text) // 4 + 1000 * len(request.images), len(text) // 4
    return {"prompt_tokens": read, "completion_tokens": written, "total_tokens": read + written}


def _parts_of(content: Any) -> list[dict[str, Any]]:
    return [{"type": "text", "text": content}] if isinstance(content, str) else content


def _text_of(content: Any) -> str:
    return "\n".join(part["text"] for part in _parts_of(content) if part["type"] == "text")


def send(writer: asyncio.StreamWriter, status: int, value: Any, extra: Mapping[str, str] = {}) -> bool:
    data = value if isinstance(value, bytes) else json.dumps(value).encode()
    headers = {"Content-Type": "application/json", "Content-Length": str(len(data)), **extra}
    lines = [f"HTTP/1.1 {status} X", *(f"{name}: {told}" for name, told in headers.items())]
    writer.write("\r\n".join(lines).encode() + b"\r\n\r\n" + data)
    return True


@contextmanager
def serving(server: ChatServer) -> Iterator[ChatServer]:
    """Serve on a port of its own until the block ends."""
    thread = threading.Thread(target=server._loop.run_forever, daemon=True)
    thread.start()
    server.come_back()
    try:
        yield server
    finally:
        server.go_away()
        server._loop.call_soon_threadsafe(server._loop.stop)
        thread.join()
        server._loop.close()


def chat_server(reply: Reply, **more: Any) -> AbstractContextManager[ChatServer]:
    """Serve as long as the block takes; `more` are the fields of ChatServer."""
    return serving(ChatServer(reply, **more))
