"""Everything up with one command: `make up`, or `python -m deployments.up`. Ctrl-C or SIGTERM ends all of it.

A Prefect server (none where PREFECT_API_URL names one), one process that serves the deployments, one that answers questions and,
where FLOWREADER_LOCAL_MODEL names it, a model that reads for them; where one of them dies, all end, and a message names it.
"""

import os
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack, suppress
from pathlib import Path
from types import FrameType
from typing import TextIO

from deployments.children import ALONE, Child, adopt_orphans, children_of, end_all, kill_all, start
from deployments.named_inputs import named_input
from flows.prefect_runs.server import (
    SERVER_BYTES,
    prepare_environment,
    require_configured_server,
    server_is_configured,
)
from flows.service.listening import USUAL_ADDRESS, check_question_settings
from storage.errors import ExpectedError, RequestError
from storage.locations import home, prefect_folder
from storage.lock import try_lock
from storage.object_address import is_address
from storage.system import check_writable, require_room
from tasks.models.local import context_tokens, local_model_is_named, weights
from tasks.settings.environment import check_environment
from tasks.watching.json_log import check_log
from tasks.watching.metrics_endpoint import check_metrics_address, counting_together

HOST, USUAL_PORT = "127.0.0.1", "4200"
START_SECONDS = 120.0
"""On a busy machine; on a quiet one it takes a tenth of it."""

SILENCE_SECONDS, POLL_SECONDS = 10.0, 0.5
RUNS_END_SECONDS, CHILD_ENDS_SECONDS = 10.0, 3.0
"""With three children that end after the runs, less than the promised 20 s."""

SERVER = "the Prefect server"
READS = "the local model"
SERVES = "what serves the deployments"
ANSWERS = "what answers questions"
VISIBLE = {"PREFECT_LOGGING_LEVEL": "INFO", "PREFECT_LOGGING_INTERNAL_LEVEL": "ERROR"}


class _Stop(Exception):
    """SIGINT or SIGTERM came."""


def main() -> int:
    """Bring everything up, and keep it until a signal comes (then 0) or something ends that should not (then 1).

    A setting that nobody can mean ends it with 2, before anything starts.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, _stop)
    children: list[Child] = []
    together = ExitStack()
    try:
        bring_up(children, together)
        watch(children)
    except _Stop:
        _say("ending; runs at work end in order first")
    except RequestError as error:
        _say(str(error), sys.stderr)
        return 2
    except (ExpectedError, OSError) as error:
        _say(str(error), sys.stderr)
        return 1
    finally:
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, signal.SIG_IGN)
        bring_down(children)
        together.close()
    return 0


def bring_up(children: list[Child], together: ExitStack) -> None:
    """Start what is needed, and report when all is ready; `children` holds what was started, even after an error."""
    _say(f"starting, with the data in {home()} ...")
    adopt_orphans()
    os.environ.update({name: os.environ.get(name, value) for name, value in VISIBLE.items()})
    check_environment()
    prepare_environment()
    check_writable(home())
    hold_home()
    check_writable(prefect_folder())
    # Pages name the query service where its address is known.
    os.environ.setdefault("FLOWREADER_ASK_ADDRESS", USUAL_ADDRESS)
    check_question_settings()
    check_metrics_address()
    check_log()
    local = local_model_is_named()
    if local:
        context_tokens(weights())  # raises where there is no memory for it
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
    show_what_is_read()
    if alone:
        new = "" if (prefect_folder() / "prefect.db").exists() else ", which makes its database first"
        _say(f"starting {SERVER}{new} ...")
        children.append(start(SERVER, "deployments.server", log=prefect_folder() / "server.log"))
    if local:
        _say(f"starting {READS} ...")
        children.append(start(READS, "deployments.local_model"))
    together.enter_context(counting_together())
    _say(f"starting {ANSWERS} and {SERVES} ...")
    # They load what they need while the server comes up, and then wait for it.
    children.append(start(ANSWERS, "deployments.questions"))
    children.append(start(SERVES, "deployments.serve", *([ALONE] if alone else [])))
    *_, asked_at, served = ready = wait_until_ready(children)
    reads = f", read by {ready[-3]}" if local else ""
    _say(f"ready: {served}, ask/ask\nquestions: {asked_at}{reads}\n{prefect}")


def hold_home() -> None:
    """Keep a second `up` away from this home as long as this process lives; raise ExpectedError where there is a first.

    It would declare the deployments again, with its own folders.
    """
    # never closed: the lock is held until this process ends
    held = os.open(home() / "up.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    if not try_lock(held):
        raise ExpectedError(
            f"everything is up already for FLOWREADER_HOME {str(home())!r}", str(home()), "end that first, or name another home"
        )


def show_what_is_read() -> None:
    """Show what is read by schedule; a missing folder may still come. Raise RequestError for a bad address."""
    read, measured = named_input("ingest").get("paths", ()), named_input("evaluate").get("dataset")
    for how, path in (*(("read every hour", path) for path in read), *([("measured on Sundays", measured)] if measured else [])):
        there = is_address(path) or Path(path).exists()
        _say(f"{how}: {path}{'' if there else ' (not there yet)'}")


def require_free(port: str) -> None:
    """Raise ExpectedError where the port is no number, or taken."""
    try:
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind((HOST, int(port)))
    except (OSError, ValueError, OverflowError) as error:
        raise ExpectedError(
            f"port {port!r} of {HOST} cannot be used ({error})",
            port,
            "set PREFECT_SERVER_API_PORT to another one, or, where a Prefect server runs there already, "
            "PREFECT_API_URL to its address",
        ) from error


def wait_until_ready(children: Sequence[Child]) -> list[str]:
    """Return each child's line when it is ready, and print progress; raise ExpectedError if one ends first or is late."""
    began = spoke = time.monotonic()
    lines: dict[str, str] = {}
    while starting := [child for child in children if child.name not in lines]:
        ready = select.select([child.ready for child in starting], [], [], POLL_SECONDS)[0]
        now = time.monotonic()
        for child in starting:
            if child.ready in ready:
                lines[child.name] = read_ready_line(child)
                _say(f"{child.name} is up after {now - began:.0f} s")
                spoke = now
        if not ready and now - began > START_SECONDS:
            late = starting[0]
            raise ExpectedError(f"{late.name} was not ready in {START_SECONDS:.0f} s ({late.last_lines() or 'see above'})")
        if now - spoke > SILENCE_SECONDS:
            _say(f"still starting after {now - began:.0f} s: {', '.join(child.name for child in starting)} ...")
            spoke = now
    return [lines[child.name] for child in children]


def read_ready_line(child: Child) -> str:
    """Return the line that a child writes when it is ready; raise ExpectedError if it ends instead."""
    with child.ready:
        if line := child.ready.readline():
            return line.decode().rstrip("\n")
    raise describe_end(child, child.process.wait())


def watch(children: Sequence[Child]) -> None:
    """Wait for ever; raise ExpectedError when a child ends."""
    while True:
        # Polled: a signal just before an endless wait would go unnoticed until a child dies.
        time.sleep(POLL_SECONDS)
        # also orphans that we adopted
        while (ended_now := os.waitpid(-1, os.WNOHANG))[0]:
            for child in children:
                if child.process.pid == ended_now[0]:
                    child.process.returncode = os.waitstatus_to_exitcode(ended_now[1])
                    raise describe_end(child, child.process.returncode)


def describe_end(child: Child, code: int) -> ExpectedError:
    return ExpectedError(
        f"{child.name} ended with code {code}, and everything with it ({child.last_lines() or 'see above'})",
        remedy="start it again, what is published stays",
    )


def bring_down(children: Sequence[Child]) -> None:
    """End the runs, which report to the server, then the children, the last one first; kill what is left."""
    by_name = {child.name: child.process for child in children}
    if ANSWERS in by_name:
        # It ends its own runs while the others end.
        by_name[ANSWERS].terminate()
    end_all(children_of(by_name[SERVES].pid) if SERVES in by_name else (), seconds=RUNS_END_SECONDS)
    for process in reversed(by_name.values()):
        process.terminate()
        with suppress(subprocess.TimeoutExpired):
            process.wait(timeout=CHILD_ENDS_SECONDS)
    kill_all()


def _stop(_number: int, _frame: FrameType | None) -> None:
    raise _Stop


def _say(line: str, stream: TextIO | None = None) -> None:
    print(line, file=stream, flush=True)


if __name__ == "__main__":
    sys.exit(main())
