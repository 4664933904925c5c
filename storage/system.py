"""The machine: a disk that is full or may not be written, reported before work is lost; memory that is given back; processes.

What Linux alone has is looked for before it is used, here and in `tasks.parsing.child`: without it FlowReader runs on macOS.
"""

import ctypes
import errno
import os
import re
import shutil
import signal
import stat
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from io import BufferedReader
from pathlib import Path

from storage.errors import ExpectedError

MEGABYTE = 1_000_000

# LanceDB and DuckDB wrap the system's error in their own; what stays is its text.
FULL_DISK_ERRNOS = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
FULL_DISK_WORDS = ("no space left on device", "disk quota exceeded", "file too large", "os error 28", "os error 122", "os error 27")


class DiskFullError(ExpectedError, OSError):
    """A disk without room; nothing that was published before is touched, and the same command goes on once there is room."""

    errno = errno.ENOSPC


class NotWritableError(ExpectedError, OSError):
    """A folder or file that cannot be made or written."""


def is_full_disk(error: BaseException) -> bool:
    """Say whether the error, or one that it came of, is a full disk."""
    cause: BaseException | None = error
    while cause is not None:
        if isinstance(cause, OSError) and cause.errno in FULL_DISK_ERRNOS:
            return True
        if any(words in str(cause).lower() for words in FULL_DISK_WORDS):
            return True
        cause = cause.__cause__
    return False


WRAPPED = re.compile(
    r"(?:lance error|LanceError).*?\(os error (\d+)\)"
    r"|(?:[A-Za-z ]+: )+(?:Could not|Cannot) [a-z ]+ file \"[^\n]*\": ([^\n]+)",
    re.DOTALL,
)
"""How LanceDB and DuckDB name the system's error in their own: by its number, and by its words at the end."""
LOOKED_AT = 2000
ERRNO_OF = {os.strerror(number): number for number in errno.errorcode}


def system_error_of(error: BaseException) -> int | None:
    """Return the number of the system's error that this is, or that an engine wrapped in words; None where there is none.

    Words of others, which may be a document's, count for nothing.
    """
    cause: BaseException | None = error
    if isinstance(error, OSError) and error.errno:
        return error.errno
    while cause is not None and not is_of_an_engine(cause):
        cause = cause.__cause__
    found = WRAPPED.match(str(cause)[:LOOKED_AT])
    return (int(found[1]) if found[1] else ERRNO_OF.get(found[2])) if found else None


def is_of_an_engine(error: BaseException) -> bool:
    """Say whether LanceDB or DuckDB raised this; what LanceDB says of its files is a RuntimeError."""
    if isinstance(error, RuntimeError | OSError):
        return str(error).startswith(("lance error", "LanceError"))
    return type(error).__module__.startswith(("lance", "duckdb", "_duckdb"))


LASTING = {
    *(errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EACCES, errno.EPERM, errno.EINVAL),
    *(errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENAMETOOLONG, errno.EEXIST, errno.ENOTEMPTY),
}


def may_pass(error: BaseException) -> bool:
    """Say whether the same call could succeed a moment later: a fault of the system's that is not LASTING.

    Many an OSError without a number is a library's word for a broken file.
    """
    if isinstance(error, ConnectionError | TimeoutError):
        return True
    number = system_error_of(error)
    return number is not None and number not in LASTING


@contextmanager
def explain_full_disk(place: Path, needed_bytes: int) -> Iterator[None]:
    """Turn every way in which a full disk shows itself into a DiskFullError that says where and how much is needed."""
    try:
        yield
    except DiskFullError:
        raise
    except Exception as error:
        if is_full_disk(error):
            raise full_disk(place, needed_bytes) from error
        raise


def full_disk(place: Path, needed_bytes: int) -> DiskFullError:
    """Return the error for a disk without room at `place`."""
    megabytes = max(1, round(needed_bytes / MEGABYTE))
    try:
        free = f"{shutil.disk_usage(place).free // MEGABYTE} MB are free"
    except OSError:
        free = "how much is free is not known"
    return DiskFullError(
        f"disk full at {str(place)!r}, needs about {megabytes} MB ({free})",
        place,
        "free some and run the same command again, it goes on",
        over_http="free some and send it again",
    )


def require_room(place: Path, needed_bytes: int) -> None:
    """Raise DiskFullError where the file system of `place` has less than `needed_bytes` free."""
    if shutil.disk_usage(place).free < needed_bytes:
        raise full_disk(place, needed_bytes)


def check_writable(folder: Path) -> None:
    """Make the folder where it is missing and write a byte in it; raise NotWritableError or DiskFullError, with the remedy."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(prefix=".probe-", dir=folder) as probe:
            probe.write(b"x")
            probe.flush()
            os.fsync(probe.fileno())
    except OSError as error:
        if is_full_disk(error):
            raise full_disk(folder, MEGABYTE) from error
        what = f"folder {str(folder)!r} cannot be written: {error.strerror}"
        raise NotWritableError(what, folder, "give write access or set FLOWREADER_HOME to another folder") from error


LIBC = ctypes.CDLL(None, use_errno=True)
SET_PARENT_DEATH_SIGNAL = 1
PARENT_POLL_SECONDS = 0.2


def end_with_parent(number: signal.Signals) -> None:
    """Send this process the signal when its parent ends, also by kill -9. A parent that has ended before is not noticed."""
    if hasattr(LIBC, "prctl"):
        LIBC.prctl(SET_PARENT_DEATH_SIGNAL, number, 0, 0, 0)
    else:
        threading.Thread(target=_watch_parent, args=(os.getppid(), number), daemon=True).start()


def _watch_parent(parent: int, number: signal.Signals) -> None:
    while os.getppid() == parent:
        time.sleep(PARENT_POLL_SECONDS)
    os.kill(os.getpid(), number)


def is_running(process: int) -> bool:
    """Say whether there is a process of this number, of any user, or what is left of one until its parent asks how it ended."""
    try:
        os.kill(process, 0)
    except PermissionError:
        return True
    except (ProcessLookupError, OverflowError):
        return False
    return True


M_ARENA_MAX = -8
ARENAS = 2


def bound_arenas() -> None:
    """Let threads share two heaps. By default each of a run's thirty threads may grow one of its own, and none shrinks."""
    getattr(LIBC, "mallopt", lambda *_: 1)(M_ARENA_MAX, ARENAS)


def give_back() -> None:
    """Return free memory to the system; after a batch is published the process still holds most of what the batch took."""
    getattr(LIBC, "malloc_trim", lambda *_: 1)(0)


def open_plain(path: str) -> BufferedReader:
    """Open a regular file to read bytes; raise OSError, without following or waiting, where it has become a link or a pipe."""
    stream = open(path, "rb", opener=lambda name, flags: os.open(name, flags | os.O_NOFOLLOW | os.O_NONBLOCK))  # noqa: SIM115
    if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
        stream.close()
        raise OSError(0, "it is no longer a regular file")
    return stream
