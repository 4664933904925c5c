"""The command line as a child process that always ends with its parent: `python -m flows.cli.child PARENT ARGUMENTS`."""

import ctypes
import os
import signal
import sys

from flows.cli.main import program
from flows.prefect_runs.server import SET_PARENT_DEATH_SIGNAL

if __name__ == "__main__":
    ctypes.CDLL(None, use_errno=True).prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)
    if os.getppid() == int(sys.argv.pop(1)):
        program()
