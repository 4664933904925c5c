"""Ctrl-C while modules load and while a flow starts and ends: it ends the process at once."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

from flows.display.output import INTERRUPT_EXIT

SHOW_CURSOR = "\x1b[?25h"


@contextmanager
def end_by_ctrl_c(words: str) -> Iterator[None]:
    """Let Ctrl-C say the words and end the process inside the block, where nothing is begun that has to end in order.

    As an exception it can be lost there: libraries catch what comes while they load, Prefect what comes while it starts a flow, and
    the command goes on. Once an ingest has begun, `end_in_order` hears the signal. What is ignored stays so.
    """

    def end(_number: int, _frame: FrameType | None) -> None:
        # a progress bar may have hidden the cursor
        sys.stderr.write(f"{SHOW_CURSOR if sys.stderr.isatty() else ''}\n{words}\n")
        sys.stderr.flush()
        os._exit(INTERRUPT_EXIT)

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
