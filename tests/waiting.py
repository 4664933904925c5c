"""Waiting for what happens in another process: looked for again and again, up to a deadline."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


def wait_until(found: Callable[[], T], seconds: float = 60.0, words: Callable[[], object] = str) -> T:
    """Return what is looked for as soon as it is there; fail after so many seconds, with these words."""
    deadline = time.monotonic() + seconds
    while not (what := found()):
        assert time.monotonic() < deadline, f"not in {seconds:.0f} s: {words()}"
        time.sleep(0.05)
    return what


def files_below(folder: Path) -> list[Path]:
    """Return the files of a folder in which another process may be at work: `rglob` raises where a folder goes meanwhile."""
    return [Path(inner, name) for inner, _folders, names in os.walk(folder) for name in names]
