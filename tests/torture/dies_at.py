"""The program, killed at a named point: `python -m tests.torture.dies_at MODULE:NAME:before|after:CALL ARGUMENTS`."""

import functools
import importlib
import os
import signal
import sys


def arm(point: str) -> None:
    """Send ourselves SIGKILL before or after the numbered call of a function."""
    module, name, moment, number = point.split(":")
    holder = importlib.import_module(module)
    *owners, last = name.split(".")
    for owner in owners:
        holder = getattr(holder, owner)
    function, left = getattr(holder, last), [int(number)]

    @functools.wraps(function)
    def deadly(*args, **kwargs):
        left[0] -= 1
        if left[0] == 0 and moment == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        result = function(*args, **kwargs)
        if left[0] == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(holder, last, deadly)


if __name__ == "__main__":
    arm(sys.argv[1])
    from flows.cli import main

    sys.exit(main(sys.argv[2:]))
