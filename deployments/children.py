"""Processes that live and end together: in one process group, none outlives the one that started them."""

import contextlib
import ctypes
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SET_PARENT_DEATH_SIGNAL, SET_CHILD_SUBREAPER = 1, 36
ALONE = "--alone"
"""Said to who serves the deployments: nobody else runs anything at this server, and what is at work there was killed."""

READY_TO = "--ready-to="
"""Said to a process that is to say it on the pipe of this number."""

MOST_BYTES = 4_096
"""A line goes through a pipe in one piece up to this size."""

POLL_SECONDS = 0.05
LINES_TOLD = 3
LIBC = ctypes.CDLL(None, use_errno=True)


@dataclass(frozen=True, slots=True)
class Child:
    """A process with the name that people know it by, and the file of what it says, None where it says it to the terminal.

    `pipe` is where it says that it is ready, None where it is not asked to.
    """

    name: str
    process: subprocess.Popen[bytes]
    log: Path | None = None
    pipe: int | None = None

    @property
    def said(self) -> str:
        """Its last words, for a message; "" where they stand on the terminal."""
        lines = self.log.read_text("utf-8", "replace").strip().splitlines() if self.log else []
        return " / ".join(lines[-LINES_TOLD:])


def start(name: str, module: str, *arguments: str, log: Path | None = None, says_ready: bool = False) -> Child:
    """Start a module as a process that ends with us, however we end, and that leaves Ctrl-C to us."""
    pipe: int | None = None
    theirs: list[int] = []
    searched = os.pathsep.join(filter(None, (str(ROOT), os.environ.get("PYTHONPATH", ""))))
    with contextlib.ExitStack() as opened:
        output = opened.enter_context(log.open("wb")) if log else None
        if says_ready:
            pipe, its = os.pipe()
            os.set_blocking(pipe, False)
            opened.callback(os.close, its)
            theirs.append(its)
        process = subprocess.Popen(
            [sys.executable, "-m", module, *arguments, *(f"{READY_TO}{its}" for its in theirs)],
            # `-m` would look for modules where it stands first: never among somebody's documents
            env={**os.environ, "PYTHONPATH": searched, "PYTHONSAFEPATH": "1"},
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT if output else None,
            pass_fds=theirs,
            preexec_fn=_be_ended_by_us,
        )
    return Child(name, process, log, pipe)


def _be_ended_by_us() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    LIBC.prctl(SET_PARENT_DEATH_SIGNAL, signal.SIGTERM)


def adopt_orphans() -> None:
    """Become the parent of every process below us whose own parent ends, so that `end_all` finds it."""
    LIBC.prctl(SET_CHILD_SUBREAPER, 1)


def bury_orphans(children: Iterable[Child]) -> None:
    """Take note of the end of every process that we adopted; the children themselves are left to `ended`."""
    for pid in _children_of(os.getpid()) - {child.process.pid for child in children}:
        with contextlib.suppress(ChildProcessError):
            os.waitpid(pid, os.WNOHANG)


def ended(children: Iterable[Child]) -> Child | None:
    return next((child for child in children if child.process.poll() is not None), None)


def end(child: Child, *, seconds: float) -> None:
    child.process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        child.process.wait(timeout=seconds)


def end_below(children: Iterable[Child], *, seconds: float) -> None:
    """Ask what the children started to end, all of it at once, and wait so long for it."""
    waited_for = set[int]().union(*(_children_of(child.process.pid) for child in children))
    for pid in waited_for:
        _send(pid, signal.SIGTERM)
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline and any(pid in descendants(os.getpid()) for pid in waited_for):
        time.sleep(POLL_SECONDS)


def kill_all() -> int:
    """Kill every process below us, orphans that we adopted among them; return how many there were."""
    killed = 0
    while below := descendants(os.getpid()):
        for pid in below:
            _send(pid, signal.SIGKILL)
        killed += len(below)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(POLL_SECONDS)
    return killed


def _send(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(pid, number)


def descendants(pid: int) -> set[int]:
    found: set[int] = set()
    waiting = [pid]
    while waiting:
        for child in _children_of(waiting.pop()) - found:
            found.add(child)
            waiting.append(child)
    return found


def _children_of(pid: int) -> set[int]:
    listed: set[int] = set()
    for path in Path(f"/proc/{pid}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            listed.update(map(int, path.read_text().split()))
    return listed


def say_ready(what: str, value: str) -> None:
    """Say that what this process does is ready, and under which name or address."""
    numbers = [argument.removeprefix(READY_TO) for argument in sys.argv[1:] if argument.startswith(READY_TO)]
    if not numbers:
        sys.stdout.write(f"{what}: {value}\n")
        sys.stdout.flush()
        return
    sys.stdout.flush()
    with contextlib.suppress(BrokenPipeError):
        os.write(int(numbers[0]), value.encode()[:MOST_BYTES])
    os.close(int(numbers[0]))


def said_ready(pipe: int) -> str:
    """Return what was said on the pipe, "" as long as nothing was."""
    with contextlib.suppress(BlockingIOError):
        return os.read(pipe, MOST_BYTES).decode()
    return ""
