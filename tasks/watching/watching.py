"""The log and the metrics that the environment wants (FLOWREADER_LOG, FLOWREADER_METRICS, both off by default); their events."""

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from storage.records.answers import AnswerStatus
from tasks.events import QuestionBegan, QuestionEnded, RunBegan, RunEnded, emit
from tasks.progress import STOPPED, kind_of
from tasks.watching.prefect_log import flow_at_work, shown_in_prefect

LOG, METRICS = "FLOWREADER_LOG", "FLOWREADER_METRICS"

_lock = threading.Lock()
_blocks = 0
_opened = ExitStack()


@contextmanager
def watched() -> Iterator[None]:
    """Log and count the events inside the block, where the environment wants it; blocks within one another watch once.

    Raises LogFileError or MetricsError where that cannot be done. A process that lives long has its life in one block.
    """
    global _blocks
    with _lock:
        if _blocks == 0:
            _open()
        _blocks += 1
    try:
        yield
    finally:
        with _lock:
            _blocks -= 1
            if _blocks == 0:
                _opened.close()


def is_wanted() -> bool:
    return any(map(os.environ.get, (LOG, METRICS)))


def _open() -> None:
    with ExitStack() as opening:
        if target := os.environ.get(LOG):
            from tasks.watching.json_log import logging_to

            opening.enter_context(logging_to(target))
        if address := os.environ.get(METRICS):
            from tasks.watching.metrics_endpoint import counting

            opening.enter_context(counting(address))
        _opened.enter_context(opening.pop_all())


@contextmanager
def watched_run(run: str, corpus: str, outcome: Callable[[], str]) -> Iterator[None]:
    """Watch a run on a corpus, with events of its begin and its end; `outcome` is called at the end."""
    flow, began = flow_at_work(), time.monotonic()
    with watched(), shown_in_prefect(run):
        emit(RunBegan(run, flow, corpus))
        try:
            yield
        finally:
            emit(RunEnded(run, flow, corpus, outcome(), time.monotonic() - began))


@contextmanager
def watched_question(run: str, answer: str, reader: str) -> Iterator[Callable[[AnswerStatus], None]]:
    """Emit the events of a question: its end with the status that was given, or with the kind of error."""
    began, outcome, error = time.monotonic(), "failed", ""

    def take(status: AnswerStatus) -> None:
        nonlocal outcome
        outcome = status.value

    emit(QuestionBegan(run, answer, reader))
    try:
        yield take
    except BaseException as problem:
        outcome, error = ("stopped", "") if kind_of(problem) == STOPPED else ("failed", kind_of(problem))
        raise
    finally:
        emit(QuestionEnded(run, answer, reader, outcome, time.monotonic() - began, error))
