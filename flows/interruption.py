"""Ctrl-C ends an ingest in order; a second one ends it at once."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from tasks.models.ocr import interrupt_engine
from tasks.parsing import stop_children
from tasks.progress import forget_stop, request_stop, stop_requested

INTERRUPT_EXIT = 130


@contextmanager
def ending_in_order() -> Iterator[None]:
    """Turn SIGINT and SIGTERM inside the block into a wish to stop, which steps meet at their next report."""
    forget_stop()
    try:
        before = {number: signal.signal(number, _end) for number in (signal.SIGINT, signal.SIGTERM)}
    except ValueError:
        # Not the main thread: under a worker the signals are the worker's, and it cancels the run.
        before = {}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _end(_number: int, _frame: FrameType | None) -> None:
    if stop_requested():
        # Children die with us; what is not published is not visible, and the next run goes on.
        os._exit(INTERRUPT_EXIT)
    request_stop()
    stop_children()
    interrupt_engine()
