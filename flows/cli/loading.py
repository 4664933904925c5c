"""Ctrl-C while modules load and a flow starts: it ends the process at once."""

import signal
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def ended_by_ctrl_c() -> Iterator[None]:
    """Let SIGINT end the process inside the block, where nothing is begun that has to end in order.

    As an exception it can be lost there: libraries catch what comes while they load, Prefect what comes while it starts a flow, and
    the command goes on. Once an ingest has begun, `ending_in_order` takes the signal. A signal that is ignored stays ignored.
    """
    try:
        before = signal.getsignal(signal.SIGINT)
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, signal.SIG_DFL)
    except ValueError:
        # Not the main thread, which alone has signals.
        before = None
    try:
        yield
    finally:
        if before is signal.default_int_handler:
            signal.signal(signal.SIGINT, before)
