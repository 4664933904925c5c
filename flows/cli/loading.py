"""Ctrl-C while modules load and while a flow starts or ends: it ends the process at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from flows.display.output import leave_at_once


@contextmanager
def end_by_ctrl_c(words: str) -> Iterator[None]:
    """Make Ctrl-C print the words and end the process inside the block, before any work that has to end in order.

    An exception can get lost there: libraries catch it while they load, and Prefect while it starts a flow. Once an ingest has
    begun, `end_in_order` handles the signal. An ignored signal stays ignored.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        leave_at_once(words)

    try:
        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, end)
    except ValueError:
        # Not the main thread, which alone has signals.
        before = None
    try:
        yield
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
