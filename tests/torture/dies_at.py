"""The program, killed at a named point: `python -m tests.torture.dies_at MODULE:NAME:before|after:CALL ARGUMENTS`."""

import functools
import importlib
import itertools
import os
import signal
import sys
from typing import Any


def found(point: str) -> tuple[Any, str]:
    """Return what holds the function of a point, and its name there."""
    module, name, _moment, _number = point.split(":")
    holder = importlib.import_module(module)
    *owners, last = name.split(".")
    for owner in owners:
        holder = getattr(holder, owner)
    assert callable(getattr(holder, last)), point
    return holder, last


def arm(point: str) -> None:
    """Send ourselves SIGKILL before or after the numbered call of a function."""
    holder, last = found(point)
    _module, _name, moment, number = point.split(":")
    function, calls = getattr(holder, last), itertools.count(1)

    @functools.wraps(function)
    def deadly(*args, **kwargs):
        # Several threads may be in it at once.
        is_last = next(calls) == int(number)
        if is_last and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if is_last:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(holder, last, deadly)


if __name__ == "__main__":
    arm(sys.argv[1])
    from flows.cli.main import main

    sys.exit(main(sys.argv[2:]))
