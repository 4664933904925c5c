"""The first question of a warm process finds everything loaded."""

import asyncio
import fcntl
import os
import subprocess
import sys
import time
from contextlib import contextmanager

import pytest

from storage.catalog.current import held, read_current, snapshot_path
from storage.locations import corpus_location
from tasks.asking.opening import opened_for_reading, warm_up_questions
from tests.hung_corpus import HungCorpus


def is_free(path):
    """Whether nobody pins the snapshot."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    finally:
        os.close(descriptor)
    return True


@pytest.fixture
def published(own_home):
    location = corpus_location("small")
    return location, snapshot_path(location, read_current(location).snapshot)


def test_the_snapshot_is_pinned_inside_the_block_only(published):
    location, path = published

    async def world():
        async with opened_for_reading(location) as snapshot:
            assert snapshot.documents() and not is_free(path)
        assert is_free(path)

    asyncio.run(world())


def test_who_is_cancelled_while_the_store_is_slow_leaves_and_nothing_stays_pinned(published, monkeypatch):
    location, path = published
    slow = asyncio.Event()

    async def entered():
        async with opened_for_reading(location):
            pytest.fail("it was cancelled before")

    async def world():
        loop = asyncio.get_running_loop()
        monkeypatch.setattr("storage.corpus.snapshot.held", held_back(loop, slow))
        opening = asyncio.create_task(entered())
        await asyncio.wait_for(slow.wait(), 5)
        opening.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(opening, 1)

    asyncio.run(world())
    assert is_free(path)


def held_back(loop, slow):
    """The real pin, half a second after it was asked for."""

    @contextmanager
    def later(location):
        loop.call_soon_threadsafe(slow.set)
        time.sleep(0.5)
        with held(location) as current:
            yield current

    return later


def test_a_disk_that_hangs_leaves_the_loop_to_others(home):
    disk = HungCorpus("far")

    async def world():
        async def entered():
            async with opened_for_reading(corpus_location("far")):
                pytest.fail("nothing comes from a disk that hangs")

        opening = asyncio.create_task(entered())
        await asyncio.wait_for(disk.asked(), 20)
        await asyncio.wait_for(asyncio.sleep(0.1), 1)
        assert not opening.done()
        opening.cancel()
        disk.end()

    asyncio.run(world())


PROGRAM = """
import asyncio, sys
from flows.ask import ask
from tasks.asking.request import AskRequest
from tasks.asking.opening import warm_up_questions

async def one():
    async for answer in ask(AskRequest(questions=("What is the weight of an MT-3 without its base?",), corpus="small")):
        return answer

warm_up_questions()
before = set(sys.modules)
assert asyncio.run(one()).citations
print(len(set(sys.modules) - before))
"""


def test_a_question_loads_next_to_nothing_afterwards(asked_home):
    environment = {**os.environ, "FLOWREADER_HOME": str(asked_home)}
    done = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) < 20


def test_a_corpus_that_cannot_be_read_hinders_no_other_and_is_named(home, caplog):
    folder = corpus_location("torn").folder
    folder.mkdir(parents=True)
    (folder / "CURRENT").write_bytes(b"\xff")
    warm_up_questions()
    assert "corpus torn could not be loaded before it is asked" in caplog.text
