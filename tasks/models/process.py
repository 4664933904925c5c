"""A model in a process of its own: its memory is not ours, and neither its crash nor its hang is. It ends with this process."""

import atexit
import json
import os
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from storage.errors import ExpectedError
from tasks.progress import StoppedError, stop_requested

READY = b"ready"
"""The first reply, once the model is loaded; any other says why it is not."""
START_SECONDS = 120.0
PARENT, PARENT_POLL_SECONDS = "MODEL_PARENT", 0.5
ROOT = Path(__file__).resolve().parents[2]


class ModelProcess:
    """The parent's side: a process that the first request starts, or `start`, and the next one after it ended or hung."""

    def __init__(self, module: str, *arguments: str, failure: type[ExpectedError], environment: Mapping[str, str]) -> None:
        """Prepare `python -m module arguments`; what is wrong where it does not start is raised as a `failure`."""
        self._module, self._arguments, self._failure, self._environment = module, arguments, failure, environment
        self._asking = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin to load the model, where that has not begun."""
        if self._process is None:
            self._connection, theirs = Pipe()
            with theirs:
                self._process = subprocess.Popen(
                    self._command,
                    stdin=theirs.fileno(),
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    env={**os.environ, "PYTHONPATH": str(ROOT), PARENT: str(os.getpid()), **self._environment},
                    cwd="/",
                    start_new_session=True,
                )
            self._ready = False
            _living.add(self._process)

    @property
    def _command(self) -> list[str]:
        return [sys.executable, "-W", "ignore", "-m", self._module, *self._arguments]

    def ask(self, request: object, *, seconds: float, start_seconds: float = START_SECONDS) -> bytes | None:
        """Return the reply, None where the process ended or hangs; it has `start_seconds` to load where it does not run.

        Raises the failure where the model does not load, StoppedError where the user asked for the end.
        """
        with self._asking:
            reply = None
            try:
                self.start()
                if stop_requested():  # only now: what was started since then nobody has interrupted
                    raise StoppedError
                reply = self._reply(request, seconds, start_seconds)
            finally:
                if reply is None:  # also when the user interrupts: an unread reply would answer the next request
                    self.close()
            if reply is None and stop_requested():
                raise StoppedError
            return reply

    def _reply(self, request: object, seconds: float, start_seconds: float) -> bytes | None:
        if not self._ready:
            with self._end_after(start_seconds):
                greeting = self._receive()
            self._ready = greeting == READY
            if not self._ready:
                unexplained = f"{self._module} does not start", self._module, f"`cd {ROOT} && {' '.join(self._command)}` says why"
                raise StoppedError if stop_requested() else self._failure(*(json.loads(greeting) if greeting else unexplained))
        with self._end_after(seconds):
            try:
                self._connection.send(request)
            except OSError:
                return None
            return self._receive()

    @contextmanager
    def _end_after(self, seconds: float) -> Iterator[None]:
        """End the process where the block takes longer: one that stops in the middle of a reply would be waited for, for ever."""
        assert self._process is not None
        deadline = threading.Timer(seconds, self._process.kill)
        deadline.daemon = True
        deadline.start()
        try:
            yield
        finally:
            deadline.cancel()

    def _receive(self) -> bytes | None:
        try:
            return self._connection.recv_bytes()
        except (EOFError, OSError, MemoryError):  # the last where a length is made up
            return None

    def wait(self) -> None:
        """Return when the process has ended."""
        if self._process:
            self._process.wait()

    def close(self) -> None:
        """End the process, whatever it is doing."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._connection.close()
            self._process = None


_living: weakref.WeakSet[subprocess.Popen[bytes]] = weakref.WeakSet()


def interrupt_models() -> None:
    """End what every model is doing, from any thread or a signal handler; a thread that waits for a reply goes on at once."""
    for process in list(_living):
        process.kill()


@atexit.register
def _end_models() -> None:
    for process in list(_living):
        process.kill()
        process.wait()


def speak(load: Callable[[], Callable[[Any], bytes]]) -> None:
    """The child's side: load the model and reply to each request, until the parent ends; where it does not load, say why.

    The connection is its standard input.
    """
    threading.Thread(target=_end_with_parent, daemon=True).start()
    connection = Connection(os.dup(0))
    with suppress(EOFError, ConnectionError):
        try:
            reply = load()
        except ExpectedError as error:
            connection.send_bytes(json.dumps([error.what, error.value, error.remedy]).encode())
            return
        connection.send_bytes(READY)
        while True:
            connection.send_bytes(reply(connection.recv()))


def _end_with_parent() -> None:
    """End this process soon after its parent, even in the middle of a request, and where that was killed before this one asked."""
    parent = int(os.environ.get(PARENT, os.getppid()))  # a person who starts it by hand names none
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_SECONDS)
    os._exit(1)
