"""The log and the metrics that the environment asks for (FLOWREADER_LOG, FLOWREADER_METRICS, both off by default), their events,
and the same events in Prefect's own log of a run, which its page in the UI shows.
"""

import logging
import os
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager

from storage.records.answers import AnswerStatus
from tasks.events import (
    CallEnded,
    DocumentBegan,
    Event,
    OfARun,
    QuestionBegan,
    QuestionEnded,
    RunBegan,
    RunEnded,
    StepEnded,
    emit,
    subscribe,
)
from tasks.progress import STOPPED, kind_of
from tasks.watching.json_log import LOG, level_of, line_of, logging_to, words_of
from tasks.watching.metrics_endpoint import METRICS, counting

_lock = threading.Lock()
_blocks = 0
_opened = ExitStack()


@contextmanager
def watch_events() -> Iterator[None]:
    """Log and count the events inside the block, where the environment wants it; blocks within one another watch once.

    Raises LogFileError or RequestError where that cannot be done. A process that lives long has its life in one block.
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


def _open() -> None:
    with ExitStack() as opening:
        if target := os.environ.get(LOG):
            opening.enter_context(logging_to(target))
        if address := os.environ.get(METRICS):
            opening.enter_context(counting(address))
        _opened.enter_context(opening.pop_all())


@contextmanager
def watch_run(run: str, corpus: str, outcome: Callable[[], str]) -> Iterator[None]:
    """Watch a run on a corpus, with events of its begin and its end; `outcome` is called at the end."""
    flow, began = flow_at_work(), time.monotonic()
    with watch_events(), show_in_prefect(run):
        emit(RunBegan(run, flow, corpus))
        try:
            yield
        finally:
            emit(RunEnded(run, flow, corpus, outcome(), time.monotonic() - began))


@contextmanager
def watch_question(run: str, answer: str, reader: str) -> Iterator[Callable[[AnswerStatus], None]]:
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


NOT_SHOWN = (CallEnded, DocumentBegan, QuestionBegan, StepEnded)
"""Too many for a page of the UI, which shows each step as a task with its state."""


def flow_at_work() -> str:
    """Return the name of the Prefect flow that runs here; "ask" where none does, for nothing else runs without."""
    if "prefect" not in sys.modules:
        return "ask"
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return context.flow.name if context and context.flow else "ask"


@contextmanager
def show_in_prefect(run: str) -> Iterator[None]:
    """Log in the Prefect run at work how this run's documents and questions went; nothing where none is."""
    logger = _log_at_work()
    if logger is None:
        yield
        return

    def log(event: Event) -> None:
        if not isinstance(event, OfARun) or isinstance(event, NOT_SHOWN) or event.run != run:
            return
        line = line_of(event, {})
        logger.log(level_of(line), "%s", words_of(line))

    with subscribe(log):
        yield


def _log_at_work() -> logging.Logger | logging.LoggerAdapter[logging.Logger] | None:
    if "prefect" not in sys.modules:
        return None
    from prefect.context import FlowRunContext
    from prefect.logging import get_run_logger

    return get_run_logger() if FlowRunContext.get() else None
