"""The events of a run in Prefect's own log of it, which its page in the UI shows."""

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from tasks.events import CallEnded, DocumentBegan, Event, OfARun, QuestionBegan, StepEnded, subscribed
from tasks.watching.json_log import level_of, line_of, words_of

NOT_SHOWN = (CallEnded, DocumentBegan, QuestionBegan, StepEnded)
"""Too many for a page of the UI, which shows each step as a task with its state."""


def flow_at_work() -> str:
    """Return the name of the Prefect flow that runs here; "ask" where none does, for nothing else runs without."""
    if "prefect" not in sys.modules:
        return "ask"
    from prefect.context import FlowRunContext

    context = FlowRunContext.get()
    return context.flow.name if context and context.flow else "ask"


def log_to_prefect(words: str) -> None:
    """Write a line in the log of the Prefect run at work; nothing where none is."""
    if logger := _log_at_work():
        logger.info("%s", words)


@contextmanager
def shown_in_prefect(run: str) -> Iterator[None]:
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

    with subscribed(log):
        yield


def _log_at_work() -> logging.Logger | logging.LoggerAdapter[logging.Logger] | None:
    if "prefect" not in sys.modules:
        return None
    from prefect.context import FlowRunContext
    from prefect.logging import get_run_logger

    return get_run_logger() if FlowRunContext.get() else None
