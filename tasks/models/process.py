"""A model in a process of its own: its memory is not ours, and neither its crash nor its hang is. It ends with this process.

A request is a line of JSON, and bytes where it has some; the reply is a line of JSON. The first line says that the model is loaded.
"""

import atexit
import contextlib
import json
import os
import select
import subprocess
import sys
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import BinaryIO

READY = b'"ready"\n'
REPLY_BYTES = 1 << 20
PARENT_POLL_SECONDS = 0.5
ROOT = Path(__file__).resolve().parents[2]


class ModelProcess:
    """The parent's side: the child and its pipes, one request at a time."""

    def __init__(self, module: str, *arguments: str, environment: Mapping[str, str]) -> None:
        """Start the module; what it loads is waited for in `greeting`."""
        self._call = [sys.executable, "-W", "ignore", "-m", module, *arguments]
        self._process = subprocess.Popen(
            self._call,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
            cwd="/",
            bufsize=0,
            start_new_session=True,
        )
        self._greeting: bytes | None = None
        _living.add(self)

    @property
    def how_to_see_why(self) -> str:
        """The command that shows what a process that does not start complains of."""
        return f"`cd {ROOT} && {' '.join(self._call)}`"

    def greeting(self, seconds: float) -> bytes | None:
        """Wait for the first line, READY where the model is loaded; None where it does not come."""
        if self._greeting is None:
            self._greeting = self._receive(seconds)
        return self._greeting

    def ask(self, header: object, parts: Sequence[bytes], *, seconds: float) -> bytes | None:
        """Return the reply, or None where the process ended or hangs; then it is good for nothing but `close`."""
        assert self._process.stdin is not None
        try:
            for part in (json.dumps(header).encode() + b"\n", *parts):
                _write_all(self._process.stdin.fileno(), part)
        except (OSError, ValueError):
            # gone, or closed by somebody else
            return None
        return self._receive(seconds)

    def _receive(self, seconds: float) -> bytes | None:
        """Return the next line, or None where it does not come in time or the process is gone."""
        assert self._process.stdout is not None
        received, deadline = bytearray(), time.monotonic() + seconds
        while not received.endswith(b"\n"):
            left = deadline - time.monotonic()
            if left <= 0 or not select.select([self._process.stdout], [], [], left)[0]:
                return None
            piece = self._process.stdout.read(REPLY_BYTES)
            if not piece:
                return None
            received += piece
        return bytes(received)

    def close(self) -> None:
        """End the process, whatever it is doing."""
        assert self._process.stdin is not None and self._process.stdout is not None
        _living.discard(self)
        self._process.kill()
        self._process.wait()
        self._process.stdin.close()
        self._process.stdout.close()


_living: weakref.WeakSet[ModelProcess] = weakref.WeakSet()


def interrupt_models() -> None:
    """End what every model is doing, from any thread or a signal handler; who waits for a reply goes on at once."""
    for process in list(_living):
        process._process.kill()  # the rest is left to whoever reads from it


@atexit.register
def _close_models() -> None:
    for process in list(_living):
        process.close()


def _write_all(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def speak(serve: Callable[[BinaryIO, BinaryIO], None]) -> None:
    """The child's side: serve on the standard streams until the parent ends; what libraries print goes elsewhere."""
    threading.Thread(target=_end_with_parent, daemon=True).start()
    replies = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    with contextlib.suppress(BrokenPipeError):
        serve(sys.stdin.buffer, replies)


def _end_with_parent() -> None:
    """End this process soon after its parent, even in the middle of a request."""
    parent = os.getppid()
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_SECONDS)
    os._exit(1)


def reply(replies: BinaryIO, line: bytes) -> None:
    replies.write(line)
    replies.flush()
