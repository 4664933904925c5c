"""What a stranger tries in an afternoon: long questions, searches without end, half requests, guessed tokens, noise.

Times are ratios of one run: of a long question to a short one, of a question beside the attack to one without it.
"""

import asyncio
import random
import re
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from itertools import count, cycle, islice
from pathlib import Path
from statistics import median
from urllib.parse import urlsplit

import httpx
import pytest

from flows.ask import ask
from storage.artifacts import PARTIAL
from storage.corpus.snapshot import open_for_reading
from storage.locations import corpus_location
from tasks.asking.request import LONGEST_QUESTION, AskRequest
from tasks.settings.readers import READERS
from tests.asking_worlds import WEIGHT
from tests.torture.conftest import ASK_TOKEN
from tests.waiting import files_below

pytestmark = pytest.mark.torture

SHORT, LONG = 100, LONGEST_QUESTION
MOST = 10.0
"""A hundred times the letters cost at most so many times the work."""
CLIENTS = 16
UPLOADS = "/api/v1/corpora/small/uploads"
RIGHT = {"Authorization": f"Bearer {ASK_TOKEN}"}


def filled(parts, length):
    """Return of parts without end as many as fit into so many characters."""
    return " ".join(islice(parts, length))[:length].rpartition(" ")[0]


def words_of(corpus):
    """Return the different words of a corpus, in an order by chance that is the same each time."""
    with open_for_reading(corpus_location(corpus)) as snapshot:
        text = " ".join(node.content for record in snapshot.documents() for node in snapshot.nodes(record.id))
    words = sorted(set(re.findall(r"[A-Za-z]{3,}", text)))
    random.Random(0).shuffle(words)
    return words


LONG_QUESTIONS = {
    "one phrase repeated": lambda length, _words: filled(cycle(["what was the cost?"]), length),
    "different words of the corpus": lambda length, words: filled(cycle(words), length),
    "one word": lambda length, _words: ("abcdefghij" * length)[:length],
    "numbers": lambda length, _words: filled((str(37 * number) for number in count(1)), length),
    "page ranges": lambda length, _words: filled((f"pages {number}-{number + 3}," for number in count(1)), length),
    "different parts": lambda length, _words: filled((f"who paid {number}?" for number in count(1)), length),
}


@pytest.fixture
def words(whole_world, monkeypatch):
    monkeypatch.setenv("FLOWREADER_HOME", str(whole_world / "home"))
    return words_of("demo")


def work_of(text, reader):
    """Return the seconds of work that a question takes, the lesser of two."""

    async def answered():
        return [answer async for answer in ask(AskRequest(questions=(text,), corpus="demo", reader=reader, fresh=True))]

    seconds = []
    for _ in range(2):
        began = time.process_time()
        assert [answer.question for answer in asyncio.run(answered())] == [text]
        seconds.append(time.process_time() - began)
    return min(seconds)


@pytest.mark.parametrize("reader", READERS)
def test_a_question_of_ten_thousand_letters_costs_at_most_ten_times_one_of_a_hundred(reader, words, tell):
    work_of(WEIGHT, reader)  # what is loaded once
    ratios = {
        what: work_of(made(LONG, words), reader) / work_of(made(SHORT, words), reader) for what, made in LONG_QUESTIONS.items()
    }
    tell(f"{reader}: " + ", ".join(f"{what} {ratio:.1f}" for what, ratio in ratios.items()))
    assert {what for what, ratio in ratios.items() if ratio > MOST} == set()


@pytest.fixture
def address(serving):
    return f"http://{serving.environment['FLOWREADER_ASK_ADDRESS']}"


def seconds_of(address, questions):
    """Return the median seconds of questions that nobody asked before."""
    seconds = []
    for number in range(questions):
        began = time.monotonic()
        asked = {"questions": [f"{WEIGHT} {number}"], "corpus": "small", "fresh": True}
        reply = httpx.post(f"{address}/ask", json=asked, headers=RIGHT, timeout=120)
        assert reply.json()["answers"][0]["citations"]
        seconds.append(time.monotonic() - began)
    return median(seconds)


def test_searches_without_end_leave_questions_their_room(address, tell):
    seconds_of(address, 2)
    alone, over, codes = seconds_of(address, 8), threading.Event(), []

    def search(number):
        with httpx.Client(headers=RIGHT, timeout=120) as client:
            while not over.is_set():
                query = f"weight of turbine {random.Random(number).random()}"
                codes.append(client.get(f"{address}/api/v1/corpora/small/search", params={"query": query}).status_code)

    with ThreadPoolExecutor(CLIENTS) as attack:
        for number in range(CLIENTS):
            attack.submit(search, number)
        try:
            beside = seconds_of(address, 8)
        finally:
            over.set()
    tell(f"a question alone {alone:.2f} s, beside {CLIENTS} clients that search {beside:.2f} s: {beside / alone:.1f} times")
    assert set(codes) <= {200, 503} and codes.count(200) > CLIENTS
    assert beside < 3.5 * alone


def test_half_requests_are_ended_and_guessed_tokens_slowed_down_but_never_the_right_one(address, tell):
    host = urlsplit(address)
    with ExitStack() as held:
        sockets = [held.enter_context(socket.create_connection((host.hostname, host.port), timeout=60)) for _ in range(20)]
        for half in sockets:
            half.sendall(b"POST /ask HTTP/1.1\r\nHost: 127")
        guesses = [
            httpx.post(f"{address}/ask", json={}, headers={"Authorization": f"Bearer {number}"}).status_code
            for number in range(370)
        ]
        assert httpx.get(f"{address}/api/v1/corpora", headers=RIGHT, timeout=60).status_code == 200
        assert [half.recv(1) for half in sockets] == [b""] * 20
    tell(f"370 guesses: {guesses.count(401)} refused, {guesses.count(429)} to wait")
    assert set(guesses) == {401, 429} and guesses.count(401) == 9 * (1 + guesses[9:].count(401) // 9)


def test_noise_named_as_a_document_is_refused_by_its_beginning_and_never_fills_the_disk(address, serving, tell):
    megabyte, uploads, held = random.Random(0).randbytes(1 << 20), Path(serving.environment["FLOWREADER_HOME"]) / "uploads", [0]

    def noise():
        for _ in range(300):
            for path in files_below(uploads):
                with suppress(FileNotFoundError):
                    held.append(path.stat().st_size if path.name.startswith(PARTIAL) else 0)
            yield megabyte

    for number in range(3):
        reply = httpx.put(f"{address}{UPLOADS}/noise{number}.pdf", content=noise(), headers=RIGHT, timeout=60)
        assert reply.status_code == 415 and "is no document" in reply.json()["error"]["what"]
    tell(f"3 times 300 MB of noise held {max(held):,} bytes of the disk at most")
    assert max(held) < 1 << 20 and not [path for path in files_below(uploads) if "noise" in path.name]
