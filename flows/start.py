"""Where `flowreader` begins: what is loaded takes a moment, and Ctrl-C in that moment is no error either."""

from __future__ import annotations

import os
import sys

from flows.loading import INTERRUPT_EXIT, leaving_at_once


def program() -> None:
    """Load the command line and run it."""
    try:
        with leaving_at_once():
            from flows.cli import program as run
        run()
    except KeyboardInterrupt:
        sys.stderr.write("stopped\n")
        sys.stderr.flush()
        os._exit(INTERRUPT_EXIT)


if __name__ == "__main__":
    program()
