"""The command line as a child process that always ends with its parent: `python -m flows.cli.child PARENT ARGUMENTS`."""

import os
import signal
import sys

from flows.cli.main import program
from storage.system import end_with_parent

if __name__ == "__main__":
    end_with_parent(signal.SIGTERM)
    if os.getppid() == int(sys.argv.pop(1)):
        program()
