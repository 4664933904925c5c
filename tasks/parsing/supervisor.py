"""The parent's side of the parser children: a few warm processes, one job each, an account of every end."""

import atexit
import contextlib
import json
import math
import os
import select
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.errors import ExpectedError
from tasks.parsing.jobs import (
    ANSWER,
    DONE,
    OUT_OF_MEMORY,
    REFUSAL,
    REFUSALS,
    Job,
    RefusedFile,
    Work,
    read_left_bytes,
    read_left_json,
)

ROOT = Path(__file__).resolve().parents[2]
PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "TMPDIR", "TZ", "LD_LIBRARY_PATH")
PASSED_PREFIXES = ("MINERU_", "HF_", "MODELSCOPE_")
START_SECONDS = 120.0
GRACE_SECONDS = 15.0
REPLY_BYTES = 1 << 16
MEMORY_SHARE = 0.8

Reply = dict[str, Any]
"""What a fork server answers when a child has ended."""


class ParserStoppedError(RuntimeError):
    """The children were stopped; no document is to blame."""


class ParserStartError(ExpectedError):
    """A parser process does not come up on this machine; the message says what to run to see why."""


@dataclass(frozen=True, slots=True)
class Ending:
    """How a child ended. `problem` is empty where all went well, else what to say after "MinerU" or "pdfium"."""

    problem: str
    refusal: RefusedFile | None
    cpu_seconds: float
    answered: bool


class ForkServer:
    """A warm process that forks one child at a time."""

    def __init__(self) -> None:
        environment = {name: value for name, value in os.environ.items() if name in PASSED_ON or name.startswith(PASSED_PREFIXES)}
        # one thread: a fork copies no other, and two children share two cores; no hash seed: the same result every time
        environment |= {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "PYTHONHASHSEED": "0", "LOGURU_LEVEL": "CRITICAL"}
        environment |= {"PYTHONPATH": str(ROOT), "DO_NOT_TRACK": "1", "HF_HUB_DISABLE_TELEMETRY": "1"}
        self._process = subprocess.Popen(
            [sys.executable, "-W", "ignore", "-m", "tasks.parsing.fork_server", str(os.getpid())],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=environment,
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )
        self._is_warm = False
        self.usable = False
        """Its last answer came, and nothing is under way."""

    def wait_until_warm(self) -> None:
        """Return when it can serve; raise ParserStartError where it never can."""
        self._is_warm = self._is_warm or self._receive(START_SECONDS) is not None
        if not self._is_warm:
            raise ParserStartError(
                "a parser process does not start",
                remedy=f"`cd {ROOT} && {sys.executable} -m tasks.parsing.fork_server $$` says why",
            )

    def serve(self, job: Job) -> Reply | None:
        """Let a child do the job; return its account, or None where the fork server itself is gone."""
        assert self._process.stdin is not None
        self.usable = False
        try:
            self._process.stdin.write(job.model_dump_json().encode() + b"\n")
        except (OSError, ValueError):
            return None
        return self._receive(job.wall_seconds + GRACE_SECONDS)

    def _receive(self, seconds: float) -> Reply | None:
        """Return the next reply, or None where it does not come in time or the fork server is gone."""
        assert self._process.stdout is not None
        try:
            if not select.select([self._process.stdout], [], [], seconds)[0]:
                return None
            # a reply is one short write, which a pipe keeps whole
            reply: Reply = json.loads(self._process.stdout.read(REPLY_BYTES))
        except (OSError, ValueError):
            return None
        self.usable = True
        return reply

    def interrupt(self) -> None:
        """Have the fork server kill its child and end, while another thread waits for its account or for its warmth."""
        assert self._process.stdin is not None
        if self._is_warm:
            self._process.stdin.close()
        else:
            self._process.kill()

    def close(self) -> None:
        """End the fork server and its child. Its input closes first, so that it can kill the child's whole group."""
        assert self._process.stdin is not None and self._process.stdout is not None
        self._process.stdin.close()
        try:
            self._process.wait(2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process.stdout.close()


class Children:
    """Lends fork servers to threads, as many at once as each caller allows."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._idle: list[ForkServer] = []
        self._busy: set[ForkServer] = set()
        self._stopped = 0

    def run(self, job: Job, *, at_once: int) -> Ending:
        """Do the job in a child and account for it; waits while `at_once` children are at work.

        Raises ParserStoppedError once they were stopped, ParserStartError where no process comes up.
        """
        for _ in range(2):
            with self._lend(at_once) as fork_server:
                reply = fork_server.serve(job)
            if reply is not None:
                return _account(job, reply)
        # twice the warm process was lost: the kernel killed it, most likely because memory ran out
        return Ending(problem="took its process down", refusal=None, cpu_seconds=0.0, answered=False)

    def warm(self) -> None:
        """Start a fork server in the background, so that the first document need not wait for its imports."""
        threading.Thread(target=self._warm, name="warm parser", daemon=True).start()

    def _warm(self) -> None:
        # the first job meets the same error and reports it
        with contextlib.suppress(ParserStartError, ParserStoppedError), self._lend(1):
            pass

    @contextlib.contextmanager
    def _lend(self, at_once: int) -> Iterator[ForkServer]:
        """Lend a warm fork server of the pool; one that gave no account is not used again."""
        with self._changed:
            generation = self._stopped
            self._changed.wait_for(lambda: self._stopped != generation or len(self._busy) < at_once)
            self._require_not_stopped(since=generation)
            fork_server = self._idle.pop() if self._idle else ForkServer()
            self._busy.add(fork_server)
        try:
            fork_server.wait_until_warm()
            yield fork_server
        finally:
            with self._changed:
                self._busy.discard(fork_server)
                kept = fork_server.usable and self._stopped == generation
                if kept:
                    self._idle.append(fork_server)
                self._changed.notify_all()
            if not kept:
                fork_server.close()
            self._require_not_stopped(since=generation)

    def _require_not_stopped(self, *, since: int) -> None:
        if self._stopped != since:
            raise ParserStoppedError("the parser children were stopped")

    def stop(self) -> None:
        """End every fork server and child at once; threads that wait or work get ParserStoppedError."""
        with self._changed:
            self._stopped += 1
            idle, busy = self._idle, list(self._busy)
            self._idle = []
            self._changed.notify_all()
        for fork_server in busy:
            fork_server.interrupt()
        for fork_server in idle:
            fork_server.close()


def _account(job: Job, reply: Reply) -> Ending:
    code, late, peak = reply["code"], reply["late"], reply["peak_megabytes"]
    refusal = read_left_json(job.folder, REFUSAL, REFUSALS, most_bytes=REPLY_BYTES)
    problem = "" if code == DONE else _problem(job, code, peak, late=late, refusal=refusal)
    if written := _too_much(job):
        problem = written
    return Ending(
        problem=problem,
        refusal=refusal if refusal and refusal.final else None,
        cpu_seconds=reply["cpu_seconds"],
        answered=not written and read_left_bytes(job.folder, ANSWER, most_bytes=0) is not None,
    )


def _problem(job: Job, code: int, peak: float, *, late: bool, refusal: RefusedFile | None) -> str:
    if late:
        return f"hung for {job.wall_seconds:.0f} s"
    if code == OUT_OF_MEMORY or peak > MEMORY_SHARE * job.limits.memory_megabytes:
        return f"used more than {job.limits.memory_megabytes} MB"
    if code == -signal.SIGXCPU:
        return f"used more than {math.ceil(job.cpu_seconds)} s of CPU time"
    if code < 0:
        name = next((each.name for each in signal.Signals if each == -code), f"signal {-code}")
        return f"crashed ({name})"
    return f"failed ({refusal.reason})" if refusal else f"ended with code {code}"


def _too_much(job: Job) -> str:
    """Say that the child wrote more than it may, or nothing."""
    sizes = {path: path.lstat().st_size for path in job.folder.rglob("*")}
    if sum(sizes.values()) > job.limits.output_megabytes << 20:
        return f"wrote more than {job.limits.output_megabytes} MB"
    # a page that was drawn is an answer of its own kind, and is not parsed
    if job.work is not Work.RENDER and sizes.get(job.folder / ANSWER, 0) > job.limits.answer_megabytes << 20:
        return f"found more than {job.limits.answer_megabytes} MB of text"
    return ""


CHILDREN = Children()
atexit.register(CHILDREN.stop)
