import asyncio
import random

import pytest

from tasks.model_settings import ChatLimits
from tasks.models.chat_patience import Minute
from tests.tasks.models.chat_worlds import in_virtual_time


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


def test_without_limits_nobody_waits():
    assert {at for at, _ in sent_at(ChatLimits(), [10**6] * 1000)} == {0}


def test_no_minute_has_more_requests_than_granted():
    times = sent_at(ChatLimits(requests_per_minute=7), [1] * 50)
    assert fullest_minute(times, lambda _count: 1) == 7
    assert times[-1][0] == 7 * 60


@pytest.mark.parametrize("seed", range(5))
def test_no_minute_has_more_tokens_than_granted(seed):
    dice = random.Random(seed)
    tokens = [dice.randrange(1, 400) for _ in range(200)]
    times = sent_at(ChatLimits(tokens_per_minute=1000, requests_per_minute=100), tokens)
    assert fullest_minute(times, lambda count: count) <= 1000
    assert [count for _, count in times] == tokens


def test_tokens_that_were_not_needed_are_given_back():
    assert sent_at(ChatLimits(tokens_per_minute=1000), [500] * 10, corrected=lambda _count: 10)[-1][0] == 0


def test_a_request_larger_than_the_limit_goes_alone():
    assert [at for at, _ in sent_at(ChatLimits(tokens_per_minute=100), [5000, 5000])] == [0, 60]
