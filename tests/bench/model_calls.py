"""Calls to a chat server that takes 300 ms and allows 64 at once: how much of its time is used, and what errors cost."""

import asyncio
import io
import resource
import statistics
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from PIL import Image
from pydantic import BaseModel, ConfigDict

from storage.kept_replies import CallCache
from storage.records import identify
from tasks.model_settings import ChatLimits, ModelSettings
from tasks.models.chat import open_chat
from tasks.models.chat_call import ChatCall, ModelCall
from tasks.models.chat_errors import ChatError, Outcome
from tasks.models.chat_request import first_messages, request_of
from tasks.models.chat_transport import Connection
from tasks.models.endpoints import ChatEndpoint
from tests.bench.measuring import Figure, Part, at_least, at_most, middle
from tests.bench.served_model import served_model

CALLS, SECONDS, PLACES = 2000, 0.3, 64
ROUNDS = 3
PROMPT_CHARACTERS = 4000


class Analysis(BaseModel):
    """The form that is asked for."""

    model_config = ConfigDict(extra="forbid")

    summary: str
    keywords: list[str]


def calls(count: int, pictures: Sequence[bytes] = ()) -> list[ChatCall[Analysis]]:
    """Return calls with different texts, each with these pictures."""
    text = ("The sales of the third quarter grew by four percent in the north. " * 100)[:PROMPT_CHARACTERS]
    return [
        ChatCall(
            purpose="analyze",
            subject=identify("document"),
            item=f"node {number}",
            prompt=f"{number}: {text}",
            prompt_hash=identify("prompt"),
            form=Analysis,
            max_output_tokens=200,
            images=tuple(pictures),
        )
        for number in range(count)
    ]


def measure() -> Part:
    """Measure throughput with and without pictures, memory, the cost of errors, and a second run from the cache.

    The ideal cannot be had: 2,000 calls are 31.25 rounds of 64, and 32 rounds take 97.7 % at best. What bare connections reach,
    which send a request and read its reply unseen, is what the machine and the scripted server leave of it.
    """
    runs = [(bare_share(), asked(calls(CALLS)), asked(calls(CALLS), in_flight=PLACES + 8)) for _ in range(ROUNDS)]
    plain, queued = [run for _, run, _ in runs], [run for _, _, run in runs]
    shown = asked(calls(CALLS, [picture()]))
    stormy = asked(calls(CALLS), errors=0.1)
    figures = [
        at_least(f"of the ideal time, {CALLS} calls, {PLACES} in flight", 100 * best(plain), unit="%", bound=95, goal=97),
        Figure("the same, median of the rounds", f"{100 * middle([run['share'] for run in plain]):.2f} %"),
        Figure("the same, bare connections, best and median", both([share for share, _, _ in runs])),
        Figure(f"the same, {PLACES + 8} in flight, best and median", both([run["share"] for run in queued])),
        Figure("the same, a picture of 1 megapixel in each", f"{100 * shown['share']:.2f} %"),
        at_most("memory grown from a quarter of the calls on", min(run["grown"] for run in plain), unit="MB", bound=8),
        at_most("CPU of the client a call", middle([run["cpu"] for run in plain]), unit="ms", bound=SECONDS / PLACES * 1000),
        at_most("requests a call at 10 % 429 and 10 % 500", stormy["requests"] / CALLS, unit="", bound=1.3),
        at_most("calls lost at 10 % 429 and 10 % 500", stormy["lost"], unit="", bound=0),
        at_most("calls of a second run", max(run["again"] for run in plain), unit="", bound=0),
    ]
    return Part(
        figures, {"plain": plain, "bare": [share for share, _, _ in runs], "queued": queued, "pictures": shown, "errors": stormy}
    )


def best(runs: Sequence[dict[str, Any]]) -> float:
    """Return the share of the least disturbed round: other work on the machine only takes away."""
    return max(run["share"] for run in runs)


def both(shares: Sequence[float]) -> str:
    """Return the best and the median share."""
    return f"{100 * max(shares):.2f} %, {100 * middle(shares):.2f} %"


def bare_share() -> float:
    """Return the share of the ideal that connections reach which do nothing but send and read."""
    asked_for = calls(1)[0]
    body = request_of(asked_for, first_messages(asked_for, pixels=1), model="scripted", settings=ModelSettings()).body

    async def ask(url: str, left: Iterator[int]) -> None:
        connection = await Connection.open(url, seconds=5)
        for _ in left:
            await connection.send("POST", f"{url}/chat/completions", {"Content-Type": "application/json"}, body)
            async for _piece in connection.body():
                pass
        connection.close()

    async def together(url: str) -> float:
        began, left = time.perf_counter(), iter(range(CALLS))
        await asyncio.gather(*(ask(url, left) for _ in range(PLACES)))
        return CALLS * SECONDS / PLACES / (time.perf_counter() - began)

    with served_model(seconds=SECONDS, places=PLACES) as served:
        return asyncio.run(together(served.base_url))


def asked(work: Sequence[ChatCall[Analysis]], *, errors: float = 0.0, in_flight: int = PLACES) -> dict[str, Any]:
    """Ask all at once, and once more from the cache; return what was measured."""
    settings, heard = ModelSettings(limits=ChatLimits(in_flight=in_flight)), list[ModelCall]()
    with (
        served_model(seconds=SECONDS, places=PLACES, errors=errors) as served,
        tempfile.TemporaryDirectory() as folder,
        open_chat(ChatEndpoint(served.base_url), settings, cache=CallCache(Path(folder)), listener=heard.append) as model,
        sampled() as memory,
    ):
        began, spent = time.perf_counter(), cpu_seconds()
        replies = model.ask_all(work)
        seconds, cpu = time.perf_counter() - began, cpu_seconds() - spent
        requests = sum(ended.attempts for ended in heard)
        taken = [ended.seconds for ended in heard if ended.outcome == Outcome.OK]
        model.ask_all([call for call, reply in zip(work, replies, strict=True) if not isinstance(reply, ChatError)])
        again = sum(ended.attempts for ended in heard) - requests
    return {
        "seconds": seconds,
        "share": len(work) * SECONDS / PLACES / seconds,
        "cpu": 1000 * cpu / len(work),
        "grown": max(memory[len(memory) // 4 :]) - memory[len(memory) // 4],
        "requests": requests,
        "lost": len(work) - len(taken),
        "again": again,
        "median_call": statistics.median(taken),
        **served.told,
    }


def cpu_seconds() -> float:
    """Return the CPU time of this process."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


@contextmanager
def sampled() -> Iterator[list[float]]:
    """Give the memory of this process in megabytes, ten times a second."""
    found, ended = [resident()], threading.Event()

    def sample() -> None:
        while not ended.wait(0.1):
            found.append(resident())

    thread = threading.Thread(target=sample)
    thread.start()
    try:
        yield found
    finally:
        ended.set()
        thread.join()


def resident() -> float:
    """Return the resident memory of this process, in megabytes."""
    pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    return pages * resource.getpagesize() / 1e6


def picture() -> bytes:
    """Return a page of 1 megapixel that is hard to pack, some 150 KB of JPEG."""
    stream = io.BytesIO()
    Image.effect_noise((1000, 1000), 20).convert("RGB").save(stream, "JPEG", quality=50)
    return stream.getvalue()
