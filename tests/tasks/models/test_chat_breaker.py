import asyncio
from itertools import pairwise

import pytest

from tasks.model_settings import ChatRetries
from tasks.models.chat_errors import ChatServerDownError, UnknownModelError
from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_patience import Breaker
from tests.tasks.models.chat_worlds import in_virtual_time

RETRIES = ChatRetries(failures_until_pause=3, down_seconds=100, longest_wait_seconds=8)
DOWN = FaultError(FaultKind.DOWN, "nobody there")


def server(*answers):
    """A probe that gives these answers one after the other, the last for ever; and the times at which it was asked."""
    asked = []

    async def probe():
        asked.append(asyncio.get_running_loop().time())
        answer = answers[min(len(asked), len(answers)) - 1]
        if answer:
            raise answer

    return probe, asked


def test_few_failures_and_failures_between_replies_stop_nobody():
    async def work():
        breaker = Breaker(RETRIES, server(None)[0])
        for _ in range(10):
            breaker.failed(DOWN)
            breaker.failed(DOWN)
            breaker.succeeded()
            await breaker.wait()
        await breaker.close()

    assert in_virtual_time(work())[1] == 0


def test_all_wait_until_the_server_is_back_and_only_one_asks():
    probe, asked = server(DOWN, DOWN, None)

    async def work():
        breaker = Breaker(RETRIES, probe)
        for _ in range(6):
            breaker.failed(DOWN)
        await asyncio.gather(*(breaker.wait() for _ in range(50)))
        assert not breaker.given_up
        breaker.failed(DOWN)
        await breaker.wait()
        await breaker.close()

    assert in_virtual_time(work())[1] == 7 and asked == [1, 3, 7]


def test_a_server_that_stays_away_ends_all_calls_also_later_ones():
    probe, asked = server(DOWN)

    async def work():
        breaker = Breaker(RETRIES, probe)
        for _ in range(3):
            breaker.failed(DOWN)
        ended = await asyncio.gather(*(breaker.wait() for _ in range(5)), return_exceptions=True)
        assert breaker.given_up
        with pytest.raises(ChatServerDownError):
            await breaker.wait()
        await breaker.close()
        return ended

    ended, seconds = in_virtual_time(work())
    assert all(isinstance(error, ChatServerDownError) for error in ended) and seconds == 100
    assert str(ended[0]).startswith("nobody there, for 100 s; what is done is kept")
    assert max(later - sooner for sooner, later in pairwise(asked)) == 8


def test_a_server_that_comes_back_without_our_model_ends_all_calls():
    async def work():
        breaker = Breaker(RETRIES, server(UnknownModelError("it has another"))[0])
        for _ in range(3):
            breaker.failed(DOWN)
        with pytest.raises(UnknownModelError, match="it has another"):
            await breaker.wait()

    assert in_virtual_time(work())[1] == 1


def test_a_closed_breaker_asks_no_more():
    probe, asked = server(DOWN)

    async def work():
        breaker = Breaker(RETRIES, probe)
        for _ in range(3):
            breaker.failed(DOWN)
        await asyncio.sleep(2)
        await breaker.close()
        await asyncio.sleep(50)

    in_virtual_time(work())
    assert asked == [1]
