"""What finishes is gathered: nothing lost, nothing doubled, the limit kept, errors raised after what was done."""

import asyncio
from contextlib import aclosing

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tasks.ingest.batches import as_they_finish


async def gather(items, work, **limits):
    return [batch async for batch in as_they_finish(items, work, stop=lambda: None, **limits)]


@given(count=st.integers(0, 25), at_once=st.integers(1, 6), batch=st.integers(1, 7))
@settings(max_examples=30, deadline=None)
def test_every_item_comes_out_once_and_never_too_many_run(count, at_once, batch):
    running, most = 0, 0

    async def work(item):
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0)
        running -= 1
        return item

    batches = asyncio.run(gather(range(count), work, at_once=at_once, batch_seconds=60, batch_items=batch))
    assert sorted(item for part in batches for item in part) == list(range(count))
    assert most <= at_once
    assert all(len(part) >= batch for part in batches[:-1])


def test_what_waited_long_enough_is_yielded_though_others_still_run():
    async def story():
        gate = asyncio.Event()

        async def work(item):
            if item == "slow":
                await gate.wait()
            return item

        batches = as_they_finish(["quick", "slow"], work, at_once=2, batch_seconds=0.01, batch_items=10, stop=gate.set)
        assert await asyncio.wait_for(anext(batches), 60) == ["quick"]
        gate.set()
        assert await anext(batches) == ["slow"]

    asyncio.run(story())


def test_an_error_ends_the_work_after_what_finished_is_handed_over():
    async def story():
        stopped, ended = asyncio.Event(), []

        async def work(item):
            if item == "bad":
                await asyncio.sleep(0.02)
                raise OSError("no")
            if item == "long":
                await stopped.wait()
                await asyncio.sleep(0.02)
                ended.append(item)
            return item

        got = []
        finished = as_they_finish(["good", "long", "bad"], work, at_once=3, batch_seconds=60, batch_items=9, stop=stopped.set)
        with pytest.raises(OSError, match="no"):
            async for batch in finished:
                got += batch
        assert got == ["good"] and ended == ["long"]

    asyncio.run(story())


def test_a_caller_that_stops_listening_leaves_nothing_running():
    async def story():
        stopped, ended = asyncio.Event(), []

        async def work(item):
            if item == "long":
                await stopped.wait()
                ended.append(item)
            return item

        async with aclosing(
            as_they_finish(["quick", "long"], work, at_once=2, batch_seconds=0, batch_items=1, stop=stopped.set)
        ) as finished:
            assert await anext(finished) == ["quick"]
        assert ended == ["long"]

    asyncio.run(story())
