"""Waiting for what happens in another process: looked for again and again, up to a deadline."""

import time
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def wait_until(found: Callable[[], T], seconds: float = 60.0, words: Callable[[], object] = str) -> T:
    """Return what is looked for as soon as it is there; fail after so many seconds, with these words."""
    deadline = time.monotonic() + seconds
    while not (what := found()):
        assert time.monotonic() < deadline, f"not in {seconds:.0f} s: {words()}"
        time.sleep(0.05)
    return what
