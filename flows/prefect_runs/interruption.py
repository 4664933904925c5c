"""Ctrl-C ends an ingest in order, within ten seconds; a second one ends it at once."""

import signal
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from types import FrameType

from flows.display.output import STOPPED, leave_at_once
from tasks.models.process import interrupt_models
from tasks.parsing.supervisor import CHILDREN
from tasks.progress import forget_stop, request_stop, stop_requested

PATIENCE_SECONDS = 6.0
"""After this, work is cut off: the promise is ten seconds, and the server needs some of them."""

WAKE_SECONDS = 0.2

ENDING = (signal.SIGINT, signal.SIGTERM)
_cuts: list[threading.Timer] = []
_endings: list[threading.Thread] = []


@contextmanager
def end_in_order() -> Iterator[None]:
    """Turn SIGINT and SIGTERM inside the block into a request to stop, which steps meet at their next report.

    A signal that was ignored before stays ignored: Ctrl-C under `deployments.up` is for that process alone.
    """
    try:
        before = {number: signal.signal(number, _end) for number in ENDING if signal.getsignal(number) is not signal.SIG_IGN}
        forget_stop()
    except ValueError:
        # Not the main thread: under a worker the signals are the worker's, and so is the request to stop.
        before = {}
    try:
        yield
    finally:
        # Wait for them: a late one would end what begins after this block.
        while _endings:
            _endings.pop().join()
        for number, handler in before.items():
            signal.signal(number, handler)


def run_beside(work: Callable[[], object]) -> None:
    """Do the work in another thread, and wait for it in the main thread, where the handlers of signals are called meanwhile.

    A thread that is starting a child may take a signal out of the queue of the process, which wakes nobody: so we look up.
    """
    with ThreadPoolExecutor(max_workers=1) as other:
        working = other.submit(work)
        while not wait([working], WAKE_SECONDS).done:
            pass
        working.result()


def cancel_cut_off() -> None:
    """Cancel the cut-off: the run ended in order."""
    while _cuts:
        _cuts.pop().cancel()


def _end(_number: int, _frame: FrameType | None) -> None:
    if stop_requested():
        leave_at_once()
    cut = threading.Timer(PATIENCE_SECONDS, _cut_off)
    cut.daemon = True
    cut.start()
    _cuts.append(cut)
    request_stop()
    # In a thread: it takes seconds, and a second Ctrl-C must work at once.
    ending = threading.Thread(target=end_all_work, name="ending", daemon=True)
    ending.start()
    _endings.append(ending)


def end_all_work() -> None:
    """End every step at its next report, and the child processes that steps wait for."""
    request_stop()
    CHILDREN.stop()
    interrupt_models()


def _cut_off() -> None:
    # Children die with us, and what is not published is not visible: a cut loses only the steps in flight.
    leave_at_once(STOPPED)
