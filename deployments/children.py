"""Processes that end together: in one process group, none outlives the one that started it."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from storage.system import LIBC, SET_PARENT_DEATH_SIGNAL, is_running

ROOT = Path(__file__).resolve().parents[1]
SET_CHILD_SUBREAPER = 36
ALONE = "--alone"
"""Given to the process that serves the deployments: no other machine serves this server, so its open runs were killed."""

READY_TO = "--ready-to="
"""Given to a child: the number of the pipe on which it says that it is ready."""

POLL_SECONDS = 0.05
LAST_LINES = 3


@dataclass(frozen=True, slots=True)
class Child:
    """A process: its name in messages, the pipe on which it reports that it is ready, its log, None for the terminal."""

    name: str
    process: subprocess.Popen[bytes]
    ready: BinaryIO
    log: Path | None = None

    def last_lines(self) -> str:
        """Return the end of its log for a message, "" where it writes to the terminal."""
        lines = self.log.read_text("utf-8", "replace").strip().splitlines() if self.log else []
        return " / ".join(lines[-LAST_LINES:])


def start(name: str, module: str, *arguments: str, log: Path | None = None) -> Child:
    """Start a module as a process that ends with us, however we end, and that leaves Ctrl-C to us."""
    searched = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    ready, its_end = os.pipe()
    with contextlib.ExitStack() as opened:
        opened.callback(os.close, its_end)
        output = opened.enter_context(log.open("wb")) if log else None
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments, f"{READY_TO}{its_end}"],
            # `-m` would look for modules in the current folder first: never among the user's documents
            env={**os.environ, "PYTHONPATH": searched, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            pass_fds=[its_end],
            preexec_fn=_end_with_parent,
        )
    return Child(name, process, os.fdopen(ready, "rb"), log)


def _end_with_parent() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _ask_linux(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def adopt_orphans() -> None:
    """Become the parent of every process below us whose own parent ends, so that `kill_all` finds it."""
    _ask_linux(SET_CHILD_SUBREAPER, 1)


def _ask_linux(*words: int) -> None:
    """Set what of all systems Linux alone has; elsewhere a kill -9 of `make up` leaves its processes."""
    getattr(LIBC, "prctl", lambda *_: 0)(*words)


def end_all(pids: Collection[int], *, seconds: float) -> None:
    """Ask processes to end, all at once, and wait for them, `seconds` at most."""
    for pid in pids:
        _send(pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(map(is_running, pids)):
        time.sleep(POLL_SECONDS)


def kill_all() -> None:
    """Kill every process below us, and wait for our children, adopted orphans included."""
    with contextlib.suppress(ChildProcessError):
        while True:
            for pid in descendants(os.getpid()):
                _send(pid, signal.SIGKILL)
            os.wait()


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in children_of(waiting.pop()) - found:
            found.add(child)
            waiting.append(child)
    return found


def children_of(pid: int) -> set[int]:
    if not Path("/proc").exists():
        listing = subprocess.run(["pgrep", "-P", str(pid)], capture_output=True, check=False)
        return set(map(int, listing.stdout.split()))
    listed: set[int] = set()
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            listed.update(map(int, path.read_text().split()))
    return listed


def say_ready(what: str, value: str) -> None:
    """Report that this process is ready, with its name or address: to its parent, or on the terminal."""
    sys.stdout.flush()
    numbers = [argument.removeprefix(READY_TO) for argument in sys.argv[1:] if argument.startswith(READY_TO)]
    if not numbers:
        sys.stdout.write(f"{what}: {value}\n")
        sys.stdout.flush()
        return
    with contextlib.suppress(BrokenPipeError), os.fdopen(int(numbers[0]), "w") as pipe:
        pipe.write(f"{value}\n")
