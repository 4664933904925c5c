"""Where `flowreader` begins: what is loaded takes a moment, and Ctrl-C in that moment is no error either."""

from __future__ import annotations

import os
import sys


def program() -> None:
    """Load the command line and run it."""
    try:
        from flows.cli import program as run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.stderr.flush()
        os._exit(130)


if __name__ == "__main__":
    program()
