"""Ctrl-C while modules load: there is nothing to end in order yet, so the process ends at once.

An import is no place for KeyboardInterrupt: raised in a callback of the import system, Python tells of it and goes on.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType

INTERRUPT_EXIT = 130


@contextmanager
def leaving_at_once(words: str = "stopped") -> Iterator[None]:
    """Have Ctrl-C inside the block say the words and end the process; in another thread than the main one change nothing."""

    def leave(_number: int, _frame: FrameType | None) -> None:
        # The bare file: what prints may be half loaded, or the very thing that was interrupted.
        os.write(sys.stderr.fileno(), f"{words}\n".encode())
        os._exit(INTERRUPT_EXIT)

    try:
        heard = signal.getsignal(signal.SIGINT) is not signal.SIG_IGN
        before = signal.signal(signal.SIGINT, leave) if heard else None
    except ValueError:
        yield
        return
    try:
        yield
    finally:
        if before is not None:
            signal.signal(signal.SIGINT, before)
