"""How far the work is: steps report, displays listen. And the request to end it early."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Progress:
    """A step of a subject (a document's name) has `done` of `total` units behind it."""

    subject: str
    step: str
    done: int
    total: int


class StoppedError(Exception):
    """The user asked for the end; what is unfinished is left for the next run."""


STOPPED = StoppedError.__name__
"""As the kind of error, in the record of a step: what broke because the user asked for the end is that end, and no failure."""

_listeners: list[Callable[[Progress], None]] = []
_stop = threading.Event()


@contextmanager
def listening(listener: Callable[[Progress], None]) -> Iterator[None]:
    """Call the listener with all progress inside the block, from many threads."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)


def report(subject: str, step: str, done: int, total: int) -> None:
    """Report to the listeners; raise StoppedError where the user asked for the end."""
    if _stop.is_set():
        raise StoppedError
    for listener in tuple(_listeners):
        listener(Progress(subject=subject, step=step, done=done, total=total))


def request_stop() -> None:
    _stop.set()


def stop_requested() -> bool:
    return _stop.is_set()


def kind_of(problem: BaseException) -> str:
    """Return the kind of error, STOPPED for whatever breaks after the end was asked for, and for Ctrl-C itself."""
    return type(problem).__name__ if isinstance(problem, Exception) and not stop_requested() else STOPPED


def is_broken_off(problem: BaseException) -> bool:
    return isinstance(problem, StoppedError) or not isinstance(problem, Exception)


def forget_stop() -> None:
    """Begin anew: a run starts unasked."""
    _stop.clear()
