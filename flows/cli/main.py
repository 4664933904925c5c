"""The command line: `flowreader` says what to do first, `flowreader --help` lists everything.

It runs a command and returns its exit code; the work is elsewhere.

Exit codes: 0 well; 1 some documents are not ready, or doctor found something; 2 nothing was done; 130 stopped by Ctrl-C.
"""

import atexit
import os
import pkgutil
import sys
import threading
from collections.abc import Sequence

from flows.cli.arguments.commands import build_parser
from flows.cli.arguments.parser import USAGE_EXIT
from flows.cli.loading import end_by_ctrl_c
from flows.display.output import INTERRUPT_EXIT, STOPPED, Output
from storage.errors import ExpectedError
from storage.locations import home
from tasks.settings.environment import check_environment

EXIT_SECONDS = 3.0
RUNS = ("ingest", "evaluate")
"""Commands that keep finished work."""


def main(arguments: Sequence[str] | None = None) -> int:
    arguments = sys.argv[1:] if arguments is None else arguments
    if not arguments:
        Output(as_json=False).show("first.j2", home=home())
        return 0
    parsed = build_parser().parse_args(arguments)
    output = Output(as_json=parsed.json)
    stopped = STOPPED if parsed.command in RUNS else "stopped"
    try:
        check_environment()
        # A command's modules are loaded when it runs: a question to a server needs next to nothing.
        with end_by_ctrl_c(stopped):
            run = pkgutil.resolve_name(parsed.run)
        code: int = run(parsed, output)
        sys.stdout.flush()
        return code
    except BrokenPipeError:
        # The reader of our output has gone, as `head` does: there is nothing to report to.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ExpectedError, OSError) as error:
        output.error(error)
    except KeyboardInterrupt:
        output.side.print(stopped, markup=False)
        return INTERRUPT_EXIT
    return USAGE_EXIT


def program() -> None:
    codes: list[int] = []
    # The first handler is the last that runs: what threads of Prefect still hold, DuckDB would list as leaked on the terminal.
    atexit.register(lambda: codes and os._exit(codes[0]))
    codes.append(code := main())
    # Prefect's threads may wait at the end for a server that was killed; nothing of ours is left to do.
    end = threading.Timer(EXIT_SECONDS, os._exit, [code])
    end.daemon = True
    end.start()
    sys.exit(code)


if __name__ == "__main__":
    program()
