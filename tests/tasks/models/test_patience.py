import asyncio
import random

import pytest

from tasks.models.chat.errors import ChatEndedError
from tasks.models.faults import FaultError, FaultKind
from tasks.models.patience import Breaker, Minute, Patience
from tasks.settings.models import ChatLimits, ChatRetries
from tests.tasks.models.chat_worlds import in_virtual_time


def tried(kind, retries, **more):
    """How many requests a fault that stays gets, and how long that takes."""

    async def work():
        patience, requests = Patience(retries), 1
        while await patience.after(FaultError(kind, "", **more)):
            requests += 1
        return requests

    return in_virtual_time(work())


def test_a_failing_request_is_sent_so_many_times_with_growing_waits():
    requests, seconds = tried(FaultKind.UNWELL, ChatRetries(attempts=6, first_wait_seconds=1, longest_wait_seconds=4))
    assert requests == 6
    assert (1 + 2 + 4 + 4 + 4) / 10 <= seconds <= 1 + 2 + 4 + 4 + 4


def test_a_silent_server_is_asked_less_often():
    assert tried(FaultKind.SILENT, ChatRetries(attempts=6, silent_attempts=2))[0] == 2
    assert tried(FaultKind.SILENT, ChatRetries(attempts=1, silent_attempts=2))[0] == 1


def test_a_busy_server_is_waited_for_by_the_clock_however_often():
    requests, seconds = tried(FaultKind.BUSY, ChatRetries(attempts=2, busy_seconds=600, longest_wait_seconds=2))
    assert requests > 100 and 600 <= seconds <= 602


def test_retry_after_is_heeded_within_bounds():
    retries = ChatRetries(attempts=2, retry_after_seconds=60, first_wait_seconds=0.5)
    assert 7 <= tried(FaultKind.UNWELL, retries, wait_seconds=7.0)[1] <= 7.5
    assert 60 <= tried(FaultKind.UNWELL, retries, wait_seconds=86400.0)[1] <= 60.5


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


def test_all_wait_until_the_server_is_back_and_only_one_asks():
    probe, asked = server(DOWN, DOWN, None)

    async def work():
        breaker = Breaker(RETRIES, probe)
        for _ in range(6):
            breaker.note_failure()
        await asyncio.gather(*(breaker.wait() for _ in range(50)))
        assert not breaker.given_up
        breaker.note_failure()
        await breaker.wait()

    assert in_virtual_time(work())[1] == 7 and asked == [1, 3, 7]


def test_who_is_cut_off_while_asking_leaves_the_rest_of_the_time_to_the_next():
    probe, asked = server(DOWN)

    async def work():
        breaker = Breaker(RETRIES, probe)
        for _ in range(3):
            breaker.note_failure()
        for seconds in (40, 40):
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(seconds):
                    await breaker.wait()
        with pytest.raises(ChatEndedError, match="nobody there, for 100 s"):
            await breaker.wait()
        assert breaker.given_up

    assert in_virtual_time(work())[1] == asked[-1] == 100


def sent_at(limits, tokens, corrected=lambda count: count):
    """When each of the requests goes, all of them wanted at once."""

    async def work():
        minute, times = Minute(limits), []

        async def one(count):
            sent = await minute.admit(count)
            sent.tokens = corrected(count)
            times.append((sent.at, count))

        await asyncio.gather(*(one(count) for count in tokens))
        return times

    return in_virtual_time(work())[0]


def fullest_minute(times, weight):
    return max(sum(weight(count) for at, count in times if start <= at < start + 60) for start, _ in times)


def test_no_minute_has_more_requests_or_tokens_than_granted():
    dice = random.Random(5)
    tokens = [dice.randrange(1, 400) for _ in range(200)]
    times = sent_at(ChatLimits(tokens_per_minute=1000, requests_per_minute=6), tokens)
    assert fullest_minute(times, lambda count: count) <= 1000 and fullest_minute(times, lambda _count: 1) == 6
    assert [count for _, count in times] == tokens


def test_tokens_that_were_not_needed_are_given_back():
    assert sent_at(ChatLimits(tokens_per_minute=1000), [500] * 10, corrected=lambda _count: 10)[-1][0] == 0


def test_a_request_larger_than_the_limit_goes_alone():
    assert [at for at, _ in sent_at(ChatLimits(tokens_per_minute=100), [5000, 5000])] == [0, 60]
