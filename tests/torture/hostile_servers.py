"""Chat servers that do what no server should, each by a seed: its ways are drawn once, which comes next at every request."""

import asyncio
import contextlib
import itertools
import json
import random
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from tests.misbehaviour import STATUSES, Misbehaviour, spoiled
from tests.scripted_answers import path_answer, whole_answer

FOR_EVER = 3600.0
STREAM = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"
JSON = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
LISTING = json.dumps({"object": "list", "data": [{"id": "scripted", "object": "model"}]}).encode()
LIES = {
    "PathAnswer": path_answer("99 GW", [{"passage": "n1", "quote": "99 GW, says nobody"}, {"passage": "n77", "quote": "so it is"}]),
    "ShortAnswer": "99 GW, says nobody",
    "WholeAnswer": whole_answer("99 GW", [{"passage": "../n1", "quote": "99 GW"}]),
    "Comparison": {"reason": "they differ", "contradict": True},
}
"""They fit their forms, and nothing that was shown proves them."""
SPOILED = [
    Misbehaviour.LENGTH,
    Misbehaviour.PROSE,
    Misbehaviour.INVALID_JSON,
    Misbehaviour.DUPLICATE_KEYS,
    Misbehaviour.NAN,
    Misbehaviour.WRONG_SCHEMA,
    Misbehaviour.EMPTY,
]


def event(delta: Mapping[str, Any], finish: str | None = None, model: str = "scripted") -> bytes:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return b"data: " + json.dumps({"model": model, "choices": [choice]}).encode() + b"\n\n"


def whole(text: str, model: str = "scripted", finish: str = "stop") -> bytes:
    return STREAM + event({"content": text}, model=model) + event({}, finish, model) + b"data: [DONE]\n\n"


Pieces = AsyncIterator[bytes]
Way = Callable[[random.Random, Any], Pieces]


async def silent(_dice: random.Random, _lie: Any) -> Pieces:
    await asyncio.sleep(FOR_EVER)
    yield b""


async def closing(_dice: random.Random, _lie: Any) -> Pieces:
    yield b""


async def half_a_head(_dice: random.Random, _lie: Any) -> Pieces:
    yield b"HTTP/1.1 200 OK\r\nContent-Ty"


async def head_without_end(dice: random.Random, _lie: Any) -> Pieces:
    yield b"HTTP/1.1 200 OK\r\n"
    for number in itertools.count():
        await asyncio.sleep(dice.uniform(0.01, 0.3))
        yield f"X-{number}: more\r\n".encode()


async def dripping(dice: random.Random, lie: Any) -> Pieces:
    for byte in whole(json.dumps(lie)):
        yield bytes([byte])
        await asyncio.sleep(dice.uniform(0.0, 0.3))


async def words_without_end(dice: random.Random, _lie: Any) -> Pieces:
    yield STREAM + event({"content": '{"facts": "'})
    field, pause = dice.choice(["content", "reasoning_content", "refusal"]), dice.choice([0.0, 0.01, 0.5])
    while True:
        yield event({field: "and so on "})
        await asyncio.sleep(pause)


async def white_space_without_end(dice: random.Random, _lie: Any) -> Pieces:
    yield STREAM + event({"content": "{"})
    while True:
        yield event({"content": " \n\t"})
        await asyncio.sleep(dice.choice([0.0, 0.01]))


async def comments_without_end(_dice: random.Random, _lie: Any) -> Pieces:
    yield STREAM
    while True:
        yield b": still here\n\n"
        await asyncio.sleep(0.05)


async def line_without_end(dice: random.Random, _lie: Any) -> Pieces:
    yield dice.choice([STREAM + b"data: ", JSON, b"HTTP/1.1 500 X\r\n\r\n"])
    while True:
        yield b"x" * 65_536
        await asyncio.sleep(0.001)


async def refusing(dice: random.Random, _lie: Any) -> Pieces:
    status, message = dice.choice([*STATUSES.values(), (502, "bad gateway"), (504, "late"), (402, "pay first"), (418, "tea")])
    after = dice.choice(["", "Retry-After: 3600\r\n", "Retry-After: 0\r\n", "Retry-After: -5\r\n", "Retry-After: soon\r\n"])
    body = json.dumps({"error": {"message": message}}).encode()
    yield f"HTTP/1.1 {status} X\r\n{after}Location: /v1\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body


async def busy_for_ever(_dice: random.Random, _lie: Any) -> Pieces:
    yield b"HTTP/1.1 429 X\r\nRetry-After: 3600\r\nContent-Length: 0\r\n\r\n"


async def other_things(dice: random.Random, lie: Any) -> Pieces:
    yield dice.choice([
        whole(json.dumps(lie), model="another-model"),
        whole(json.dumps(lie), finish="content_filter"),
        JSON + b"<html>It works!</html>",
        JSON + b"[" * 100_000,
        STREAM + b"data: {not JSON\n\n",
        STREAM + event({"content": "{"}),
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nxyz",
        b"SSH-2.0-OpenSSH_9.6\r\n",
        bytes(dice.randrange(256) for _ in range(500)),
    ])  # fmt: skip


async def spoiling(dice: random.Random, lie: Any) -> Pieces:
    yield whole(spoiled(lie, dice.choice(SPOILED)))


async def lying(dice: random.Random, lie: Any) -> Pieces:
    await asyncio.sleep(dice.choice([0.0, 0.0, 0.5, 5.0]))
    yield whole(json.dumps(lie))


WAYS: tuple[Way, ...] = (
    silent,
    closing,
    half_a_head,
    head_without_end,
    dripping,
    words_without_end,
    white_space_without_end,
    comments_without_end,
    line_without_end,
    refusing,
    busy_for_ever,
    other_things,
    spoiling,
    lying,
)


class HostileServer:
    """Has one to three ways; most list their models like any other, and some leave for good after so many calls."""

    def __init__(self, seed: int) -> None:
        self.dice = random.Random(seed)
        self.ways = [WAYS[seed % len(WAYS)], *self.dice.sample(WAYS, self.dice.choice([0, 0, 1, 2]))]
        self.lists = self.dice.random() < 0.8
        self.leaves_after = self.dice.choice([None, None, 1, 3])
        self.calls = 0
        self.connections: set[asyncio.Task[None] | None] = set()

    @property
    def name(self) -> str:
        ways = ", ".join(way.__name__ for way in self.ways)
        return (
            f"{ways}{'' if self.lists else '; at the listing too'}{f'; leaves after {self.leaves_after}' * bool(self.leaves_after)}"
        )

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        self.connections.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(
                (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length")), 0
            )
            body = json.loads(await reader.readexactly(length)) if length else {}
            if not body and self.lists:
                writer.write(JSON + LISTING)
                await writer.drain()
            else:
                async with asyncio.TaskGroup() as both:
                    way = both.create_task(self._misbehave(writer, body))
                    gone = both.create_task(reader.read())
                    await asyncio.wait([way, gone], return_when=asyncio.FIRST_COMPLETED)
                    way.cancel()
                    gone.cancel()
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError, ExceptionGroup):
            pass
        finally:
            self.connections.discard(task)
            with contextlib.suppress(OSError):
                writer.close()

    async def _misbehave(self, writer: asyncio.StreamWriter, body: Mapping[str, Any]) -> None:
        self.calls += bool(body)
        if self.leaves_after is not None and self.calls >= self.leaves_after:
            self.listening.close()
        form = body["response_format"]["json_schema"]["name"] if body else ""
        async for piece in self.dice.choice(self.ways)(self.dice, LIES.get(form, {})):
            writer.write(piece)
            await writer.drain()


@contextmanager
def hostile_server(seed: int) -> Iterator[tuple[str, HostileServer]]:
    """Give the address and the server; everything of it is gone after the block."""
    server, loop = HostileServer(seed), asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, daemon=True)
    thread.start()

    def run(work: Awaitable[Any]) -> Any:
        return asyncio.run_coroutine_threadsafe(work, loop).result(10)

    async def leave() -> None:
        server.listening.close()
        left = [task for task in server.connections if task is not None]
        for task in left:
            task.cancel()
        if left:
            await asyncio.wait(left)

    server.listening = run(asyncio.start_server(server.serve, "127.0.0.1", 0))
    port = server.listening.sockets[0].getsockname()[1]
    try:
        yield f"http://127.0.0.1:{port}/v1", server
    finally:
        run(leave())
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()
