import asyncio
import threading

import pytest

from tasks.models.chat_service import on_the_loop


def test_all_work_runs_on_one_loop_in_one_thread_whoever_asks():
    async def place():
        return asyncio.get_running_loop(), threading.current_thread()

    found = {on_the_loop(place()).result(5) for _ in range(5)}
    ((loop, thread),) = found
    assert loop.is_running() and thread.daemon and thread is not threading.current_thread()


def test_work_waits_side_by_side_and_errors_come_back():
    async def meet(barrier):
        await barrier.wait()

    async def fail():
        raise KeyError("lost")

    barrier = asyncio.Barrier(3)
    for work in [on_the_loop(meet(barrier)) for _ in range(3)]:
        work.result(5)
    with pytest.raises(KeyError, match="lost"):
        on_the_loop(fail()).result(5)
