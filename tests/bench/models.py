"""`make bench-models`: what was promised of the chat model's client, measured. Prints a table, writes bench-models.json.

Parts: calls (throughput, against a scripted server in a process of its own), tokens (of Analyze and Evolve, on the documents of
tests/corpus and of ../shared/data where that is), local (what a model makes of the forty questions of tests/corpus: the one at
FLOWREADER_CHAT_BASE_URL, else the local one), unseen (of sixty of MMLongBench-Doc in ../shared/data), readers (what each reader
that it drives makes of some of the forty).
"""

import argparse
import io
import multiprocessing
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from multiprocessing.connection import Connection
from pathlib import Path

from PIL import Image
from pydantic import BaseModel, ConfigDict

from storage.records.documents import identify
from storage.runs.replies import CallCache
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.models.chat.model import open_chat
from tasks.models.endpoints import Endpoint
from tasks.settings.models import ChatLimits, ModelSettings
from tasks.settings.readers import READERS
from tests.bench import local_model, local_readers, model_tokens
from tests.bench.local_model import MMLONGBENCH
from tests.bench.measuring import Figure, Part, measure_parts, timed
from tests.chat_server import chat_server

CALLS, SECONDS, PLACES = 2000, 0.3, 64
ROUNDS = 3
PROMPT_CHARACTERS = 4000
REPLY = {
    "summary": "What the text says, in a sentence of some length that a model would write.",
    "keywords": ["one", "two", "three"],
}


class Analysis(BaseModel):
    model_config = ConfigDict(extra="forbid")

    summary: str
    keywords: list[str]


def measure_calls() -> Part:
    """Measure how much of the server's time is used; other work on the machine only takes away, so the best round counts.

    The ideal cannot be had: 2,000 calls are 31.25 rounds of 64, and 32 rounds take 97.7 % at best.
    """
    plain = [share_used(calls()) for _ in range(ROUNDS)]
    shown = share_used(calls(picture()))
    figures = [
        Figure(f"of the ideal time, {CALLS} calls, {PLACES} in flight", max(plain), "%", least=80),
        Figure("the same, a picture of 1 megapixel in each", shown, "%"),
    ]
    return figures, {"plain": plain, "pictures": shown}


def calls(*pictures: bytes) -> list[ChatCall[Analysis]]:
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
            images=pictures,
        )
        for number in range(CALLS)
    ]


def picture() -> bytes:
    """Return a page of 1 megapixel that is hard to pack, some 150 KB of JPEG."""
    stream = io.BytesIO()
    Image.effect_noise((1000, 1000), 20).convert("RGB").save(stream, "JPEG", quality=50)
    return stream.getvalue()


def share_used(work: Sequence[ChatCall[Analysis]]) -> float:
    """Ask all at once, with nothing kept from before; return the percentage of the time that the server alone would take."""
    settings = ModelSettings(limits=ChatLimits(in_flight=PLACES))
    with (
        served() as url,
        tempfile.TemporaryDirectory() as folder,
        open_chat(Endpoint(url), settings, cache=CallCache(Path(folder))) as model,
    ):
        seconds, replies = timed(partial(model.ask_all, work))
    if lost := sum(isinstance(reply, ChatError) for reply in replies):
        raise RuntimeError(f"{lost} of {len(work)} calls have no reply")
    return 100 * len(work) * SECONDS / PLACES / seconds


@contextmanager
def served() -> Iterator[str]:
    """Serve in a process of its own; give the address."""
    here, there = multiprocessing.Pipe()
    server = multiprocessing.get_context("spawn").Process(target=serve, args=(there,))
    server.start()
    try:
        yield here.recv()
    finally:
        here.send("end")
        server.join()


def serve(connection: Connection) -> None:
    with chat_server(lambda _: REPLY, seconds=SECONDS, places=PLACES, keep_requests=False) as server:
        connection.send(server.base_url)
        connection.recv()


def main() -> None:
    names = ("calls", "tokens", "local", "unseen", "readers")
    parser = argparse.ArgumentParser(prog="bench-models", description=__doc__)
    parser.add_argument("--only", action="append", choices=names, help="only this part (repeatable)")
    parser.add_argument("--folder", type=Path, help="where the documents of local and unseen stay read in")
    parser.add_argument("--reader", choices=READERS, default="flow", help="which reader local and unseen ask")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        home = (asked.folder or Path(scratch)).absolute()
        of_model = {"local": local_model.measure, "unseen": local_model.measure_unseen}
        parts = {
            "calls": measure_calls,
            "tokens": model_tokens.measure,
            **{name: partial(measure, home, asked.reader) for name, measure in of_model.items()},
            "readers": local_readers.measure,
        }
        measure_parts("bench-models", parts, asked.only or [name for name in names if name != "unseen" or MMLONGBENCH.is_dir()])


if __name__ == "__main__":
    main()
