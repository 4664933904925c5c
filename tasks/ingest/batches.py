"""Gathering what finishes, for one commit every so often."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def as_they_finish(
    items: Sequence[T],
    work: Callable[[T], Awaitable[R]],
    *,
    at_once: int,
    batch_seconds: float,
    batch_items: int,
    stop: Callable[[], None],
) -> AsyncGenerator[list[R], None]:
    """Work on the items, `at_once` at a time, and yield what finished: after a number of items or seconds, and at the end.

    The first error of `work` ends everything: what finished before is yielded, and the error is raised. However it ends,
    nothing runs any more then: `stop` asks what runs to end, and its end is waited for, because no thread can be cancelled.
    """
    waiting = deque(items)
    running: set[asyncio.Future[R]] = set()
    finished: list[R] = []
    clock = asyncio.get_running_loop().time
    due = clock() + batch_seconds
    try:
        while waiting or running:
            running |= {asyncio.ensure_future(work(waiting.popleft())) for _ in range(min(len(waiting), at_once - len(running)))}
            timeout = max(0.0, due - clock()) if finished else None
            done, running = await asyncio.wait(running, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            error = next((failed for task in done if (failed := task.exception())), None)
            finished += [task.result() for task in done if not task.exception()]
            ended = error or not (waiting or running)
            if finished and (ended or len(finished) >= batch_items or clock() >= due):
                yield finished
                finished, due = [], clock() + batch_seconds
            if error:
                raise error
    finally:
        if running:
            stop()
            await asyncio.gather(*running, return_exceptions=True)
