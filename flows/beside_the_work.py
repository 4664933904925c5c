"""Pages and words about a run whose work is done: what goes wrong with them is said in its log, and is no failure of the run."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from prefect.logging import get_run_logger


@contextmanager
def beside_the_work(what: str) -> Iterator[None]:
    """Log that `what` could not be kept, where the block fails; use it inside a run of a flow or a task only."""
    try:
        yield
    except Exception as error:
        # Its kind alone: a message may hold the address of a server, and that a password.
        get_run_logger().warning("%s could not be kept (%s); the work of this run is done, and stays", what, type(error).__name__)
