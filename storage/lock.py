"""The lock of the one writer: held by a living process, taken over at once when it dies."""

import fcntl
import json
import os
import shlex
import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path

from storage.errors import ExpectedError

POLL_SECONDS = 0.1
LOOK_SECONDS, LOOK_POLL_SECONDS = 1.0, 0.001
"""A process that tests whether a lock is held takes it for some microseconds, or until it is scheduled again."""


class CorpusBusyError(ExpectedError):
    """Another process writes the corpus; the message names it and its age."""


class LockLostError(ExpectedError):
    """The lock was removed under its holder, so that another writer may be at work; nothing more may be published by this one."""


@dataclass(frozen=True, slots=True)
class Holder:
    """The process that holds the lock, or held it last; `since` is seconds since 1970."""

    pid: int
    host: str
    since: float
    command: str


@dataclass(frozen=True, slots=True)
class WriterLock:
    """The lock of a corpus while this process holds it. The descriptor is closed in every child that is started."""

    path: Path
    descriptor: int

    def require_held(self) -> None:
        """Raise LockLostError where the lock's file is not the one that we hold."""
        if not is_still_there(self.descriptor, self.path):
            raise LockLostError(
                f"the lock of corpus {self.path.parent.name!r} was removed, and another ingest may have taken the corpus over",
                self.path.parent.name,
                "this one publishes nothing more, run it again",
            )


def read_holder(path: Path) -> Holder | None:
    """Return the process that last wrote the lock file, dead or alive; None where there is none or a kill cut the file short."""
    try:
        return Holder(**json.loads(path.read_text("utf-8")))
    except (OSError, ValueError, TypeError):
        return None


@contextmanager
def hold_lock(path: Path, *, wait_seconds: float) -> Iterator[WriterLock]:
    """Hold the lock of a corpus inside the block; raise CorpusBusyError where it is held for `wait_seconds` longer.

    The file stays: to unlink it would let two in at once.
    """
    with lock_file(path) as descriptor:
        wait_for(descriptor, path, wait_seconds)
        if not is_still_there(descriptor, path):
            raise CorpusBusyError(
                f"corpus {path.parent.name!r} was removed while this waited for it", path.parent.name, "run the command again"
            )
        announce(descriptor)
        yield WriterLock(path, descriptor)


@contextmanager
def lock_file(path: Path, how: int = os.O_RDWR | os.O_CREAT) -> Iterator[int]:
    """Open a lock's file, by default made where it is missing; a lock on it ends with the block."""
    descriptor = os.open(path, how | os.O_CLOEXEC, 0o644)
    try:
        yield descriptor
    finally:
        # before it is closed: a child in the moment between its fork and its exec still holds a copy
        fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def try_lock(descriptor: int, kind: int = fcntl.LOCK_EX, *, wait_seconds: float = 0.0, poll_seconds: float = POLL_SECONDS) -> bool:
    """Take the lock of an open file; say whether it became free in time."""
    deadline = time.monotonic() + wait_seconds
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
            return True
        except BlockingIOError:
            if time.monotonic() >= deadline:
                return False
        time.sleep(poll_seconds)


def wait_until_free(path: Path, *, wait_seconds: float) -> None:
    """Wait until the lock is free; raise CorpusBusyError where it is held for longer. It is not taken."""
    with suppress(FileNotFoundError), lock_file(path, os.O_RDWR) as descriptor:
        wait_for(descriptor, path, wait_seconds)


def wait_for(descriptor: int, path: Path, wait_seconds: float) -> None:
    """Hold the exclusive lock of a corpus on return; raise CorpusBusyError where that takes longer."""
    if not try_lock(descriptor, wait_seconds=wait_seconds):
        raise busy(path.parent.name, read_holder(path))


def is_still_there(descriptor: int, path: Path) -> bool:
    """Say whether the path still names the open file: a writer that waited for a removed corpus holds a lock on nothing."""
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False


def busy(corpus: str, holder: Holder | None) -> CorpusBusyError:
    """Name the process that holds the corpus and for how long; `holder` is None where the lock is not signed yet."""
    by, remedy = "another process", "wait for it and run the command again"
    if holder is not None:
        age = max(0, round(time.time() - holder.since))
        by = f"process {holder.pid} on {holder.host} for {age} s ({holder.command})"
        remedy = "wait for it, or stop it, and run the command again"
    return CorpusBusyError(f"corpus {corpus!r} is being written by {by}", corpus, remedy, over_http="wait, and send it again")


def announce(descriptor: int) -> None:
    """Write into the lock file that this process holds it."""
    holder = Holder(os.getpid(), socket.gethostname(), time.time(), shlex.join(sys.argv)[:300])
    data = json.dumps(asdict(holder)).encode()
    os.pwrite(descriptor, data, 0)
    os.ftruncate(descriptor, len(data))
    os.fsync(descriptor)
