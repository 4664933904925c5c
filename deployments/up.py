"""Everything up with one command: `make up`, or `python -m deployments.up`. Ctrl-C or SIGTERM ends all of it.

A Prefect server (none where PREFECT_API_URL names one), who serves the deployments and who answers questions, in one process group;
where one of them dies, all end, and a message names it.
"""

import fcntl
import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from types import FrameType
from typing import TextIO

from deployments.children import (
    ALONE,
    POLL_SECONDS,
    Child,
    adopt_orphans,
    bury_orphans,
    end,
    end_below,
    ended,
    kill_all,
    said_ready,
    start,
)
from deployments.question_settings import check_question_settings
from flows.display.output import CommandError
from flows.prefect_runs.server import (
    SERVER_BYTES,
    START_SECONDS,
    PrefectServerError,
    answers,
    prepare_environment,
    require_configured_server,
    server_is_configured,
)
from storage.locations import LocationError, home, prefect_folder
from storage.object_address import AddressError, is_address
from storage.system import check_writable, require_room
from tasks.settings.environment import UnknownNameError, check_environment
from tasks.watching.json_log import check_log
from tasks.watching.metrics_endpoint import MetricsError, check_metrics_address, counting_together

HOST, USUAL_PORT = "127.0.0.1", "4200"
RUNS_END_SECONDS, CHILD_ENDS_SECONDS = 10.0, 4.0
"""With three children, of which one ends beside the runs, less than the 20 s that are promised."""

WATCH_SECONDS = 0.2
SERVES = "what serves the deployments"
ANSWERS = "what answers questions"
VISIBLE = {"PREFECT_LOGGING_LEVEL": "INFO", "PREFECT_LOGGING_INTERNAL_LEVEL": "ERROR"}


class UpError(RuntimeError):
    """Something that was to be up is not; the message names it, with what it said and the remedy."""


class _Stop(Exception):
    """SIGINT or SIGTERM came."""


def main() -> int:
    """Bring everything up, and keep it until a signal comes (then 0) or something ends that should not (then 1)."""
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    children: list[Child] = []
    together = ExitStack()
    try:
        bring_up(children, together)
        watch(children)
    except _Stop:
        _say("ending; runs at work end in order first")
    except UnknownNameError as error:
        _say(str(error), sys.stderr)
        return 2
    except (UpError, PrefectServerError, CommandError, MetricsError, LocationError, AddressError, OSError) as error:
        _say(str(error), sys.stderr)
        return 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        bring_down(children)
        together.close()
    return 0


def bring_up(children: list[Child], together: ExitStack) -> None:
    """Start what is needed, and say it when all is ready; `children` holds what was started, whatever happens."""
    adopt_orphans()
    os.environ.update({name: os.environ.get(name, value) for name, value in VISIBLE.items()})
    check_environment()
    prepare_environment()
    check_writable(home())
    hold_home()
    check_writable(prefect_folder())
    check_question_settings()
    check_metrics_address()
    check_log()
    alone = not server_is_configured()
    if alone:
        port = os.environ.setdefault("PREFECT_SERVER_API_PORT", USUAL_PORT)
        require_free(port)
        require_room(prefect_folder(), SERVER_BYTES)
        os.environ |= {"PREFECT_SERVER_API_HOST": HOST, "PREFECT_API_URL": f"http://{HOST}:{port}/api"}
        prefect = f"Prefect's UI: http://{HOST}:{port}"
    else:
        require_configured_server()
        prefect = f"Prefect's API: {os.environ.get('PREFECT_API_URL', 'as the profile says')}"
    tell_what_is_read()
    if alone:
        children.append(start("the Prefect server", "deployments.server", log=prefect_folder() / "server.log"))
        wait_until_answers(children, os.environ["PREFECT_API_URL"])
    together.enter_context(counting_together())
    children.append(start(ANSWERS, "deployments.questions", says_ready=True))
    children.append(start(SERVES, "deployments.serve", *([ALONE] if alone else []), says_ready=True))
    asked_at, served = (wait_until_ready(children, child) for child in children[-2:])
    _say(f"ready: {served}, ask/ask\nquestions: {asked_at}\n{prefect}")


def hold_home() -> None:
    """Keep a second `up` away from this home as long as this process lives; raise UpError where there is a first.

    It would declare the deployments anew, with the folders that it knows of.
    """
    # never closed: the lock is held until this process ends
    held = os.open(home() / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        message = f"everything is up already for FLOWREADER_HOME {str(home())!r}; end that first, or name another home"
        raise UpError(message) from error


def tell_what_is_read() -> None:
    """Say what is read by schedule; what is not there may come yet. Raise AddressError for what is no address."""
    from deployments.declared import named_input

    read, measured = named_input("ingest").get("paths", ()), named_input("evaluate").get("dataset")
    for how, path in (*(("read every hour", path) for path in read), *([("measured on Sundays", measured)] if measured else [])):
        there = is_address(path) or Path(path).exists()
        _say(f"{how}: {path}{'' if there else ' (which is not there)'}")


def require_free(port: str) -> None:
    """Raise UpError where the port is no number, or taken."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, int(port)))
    except (OSError, ValueError, OverflowError) as error:
        raise UpError(
            f"port {port!r} of {HOST} cannot be used ({error}); set PREFECT_SERVER_API_PORT to another one, or, "
            "where a Prefect server runs there already, PREFECT_API_URL to its address"
        ) from error


def wait_until_answers(children: Sequence[Child], address: str) -> None:
    """Return when the server answers; raise UpError where it ends before, or does not come."""
    deadline = time.monotonic() + START_SECONDS
    while not answers(address, seconds=5.0):
        require_all(children)
        if time.monotonic() > deadline:
            raise UpError(f"the Prefect server did not answer in {START_SECONDS:.0f} s ({children[0].said})")
        time.sleep(POLL_SECONDS)


def wait_until_ready(children: Sequence[Child], child: Child) -> str:
    """Return what the child says when it is ready; raise UpError where one of them ends before."""
    assert child.pipe is not None
    while not (said := said_ready(child.pipe)):
        require_all(children)
        bury_orphans(children)
        time.sleep(POLL_SECONDS)
    os.close(child.pipe)
    return said


def watch(children: Sequence[Child]) -> None:
    """Return never; raise UpError when a child ended."""
    while True:
        require_all(children)
        bury_orphans(children)
        time.sleep(WATCH_SECONDS)


def require_all(children: Sequence[Child]) -> None:
    """Raise UpError where a child ended; the message names it."""
    gone = ended(children)
    if gone is not None:
        raise UpError(
            f"{gone.name} ended with code {gone.process.returncode}, and everything with it ({gone.said or 'see above'}); "
            "start it again, what is published stays"
        )


def bring_down(children: Sequence[Child]) -> None:
    """End the runs, then the children, the last one first: runs report their end to the server. What is left then is killed."""
    for child in children:
        if child.name == ANSWERS:
            # It has runs of its own, and ends them while those of the other one end.
            child.process.terminate()
    end_below([child for child in children if child.name == SERVES], seconds=RUNS_END_SECONDS)
    for child in reversed(children):
        end(child, seconds=CHILD_ENDS_SECONDS)
    kill_all()


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stop


def _say(line: str, stream: TextIO = sys.stdout) -> None:
    stream.write(f"{line}\n")
    stream.flush()


if __name__ == "__main__":
    sys.exit(main())
