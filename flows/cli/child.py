"""The command line as a child process that always ends with its parent: `python -m flows.cli.child PARENT ARGUMENTS`.

Before its reply it writes each progress as a line `{"progress": {...}}`.
"""

import json
import os
import signal
import sys
from contextlib import suppress
from dataclasses import asdict

from flows.cli.main import program
from storage.system import end_with_parent
from tasks.progress import Progress, listening


def write(progress: Progress) -> None:
    # In one piece, for many threads report; a parent that is gone ends this process, and breaks no document before.
    with suppress(BrokenPipeError):
        os.write(1, json.dumps({"progress": asdict(progress)}).encode() + b"\n")


if __name__ == "__main__":
    end_with_parent(signal.SIGTERM)
    if os.getppid() == int(sys.argv.pop(1)):
        with listening(write):
            program()
