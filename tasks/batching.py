"""Gathering what finishes, for one commit every so often."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


async def as_they_finish(
    items: Sequence[T], work: Callable[[T], Awaitable[R]], *, at_once: int, batch_seconds: float, batch_items: int
) -> AsyncIterator[list[R]]:
    """Work on the items, `at_once` at a time, and yield what finished: after so many items or seconds, and at the end.

    The first error of `work` ends everything: what runs is cancelled, what finished before is yielded, and it is raised.
    """
    waiting = iter(items)
    running: set[asyncio.Task[R]] = set()
    finished: list[R] = []
    clock = asyncio.get_running_loop().time
    due = clock() + batch_seconds
    try:
        while True:
            while len(running) < at_once and (item := next(waiting, _NOTHING)) is not _NOTHING:
                running.add(asyncio.ensure_future(work(item)))  # type: ignore[arg-type]
            if not running:
                break
            timeout = max(0.0, due - clock()) if finished else None
            done, running = await asyncio.wait(running, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
            failed = next((task for task in done if task.exception()), None)
            finished += [task.result() for task in done if not task.exception()]
            if failed:
                if finished:
                    yield finished
                raise failed.exception()  # type: ignore[misc]
            if len(finished) >= batch_items or (finished and clock() >= due):
                yield finished
                finished, due = [], clock() + batch_seconds
        if finished:
            yield finished
    finally:
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


_NOTHING: object = object()
