"""How a process says that it is ready: to who started it and waits for that, else to who watches it."""

from __future__ import annotations

import os
import sys
from contextlib import suppress

READY_TO = "--ready-to="
"""Said to a process that is to say it on the pipe of this number."""

MOST_BYTES = 4_096
"""A line goes through a pipe in one piece up to this size."""


def say_ready(what: str, value: str) -> None:
    """Say that what this process does is ready, and under which name or address."""
    numbers = [argument.removeprefix(READY_TO) for argument in sys.argv[1:] if argument.startswith(READY_TO)]
    if not numbers:
        sys.stdout.write(f"{what}: {value}\n")
        sys.stdout.flush()
        return
    sys.stdout.flush()
    with suppress(BrokenPipeError):
        os.write(int(numbers[0]), value.encode()[:MOST_BYTES])
    os.close(int(numbers[0]))


def said_ready(pipe: int) -> str:
    """Return what was said on the pipe, "" as long as nothing was."""
    with suppress(BlockingIOError):
        return os.read(pipe, MOST_BYTES).decode()
    return ""
