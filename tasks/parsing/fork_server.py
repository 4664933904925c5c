"""The warm process that parser children are forked from: MinerU is imported once, and one child lives at a time.

`python -m tasks.parsing.fork_server PARENT_PID` reads a job per line and answers each by a line: how its child ended, what it used.
It ends, and kills its child, when its input closes or its parent is gone.
"""

import contextlib
import gc
import importlib
import json
import os
import select
import signal
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path

from tasks.parsing import child, mineru
from tasks.parsing.jobs import FAILED, Job

WARM_WATCH_SECONDS = 0.2
MAXRSS_PER_MEGABYTE = 1 << 20 if sys.platform == "darwin" else 1 << 10


def main() -> None:
    parent = int(sys.argv[1])
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    replies = os.dup(1)
    # what libraries print must not land between the replies
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    with _ending_with(parent):
        _warm_up()
    gc.collect()
    gc.freeze()
    ended = _wake_at_ends()
    _reply(replies, {"ready": True})
    waiting = b""
    # the input ends with the parent, whatever ends that
    while received := os.read(0, 1 << 16):
        *lines, waiting = (waiting + received).split(b"\n")
        for line in lines:
            _reply(replies, _serve(line, ended))


@contextlib.contextmanager
def _ending_with(parent: int) -> Iterator[None]:
    """End this process within a moment of its parent's end while the block, which looks at nothing, runs.

    The watching thread is gone after the block: children are forked from a process of one thread.
    """
    done = threading.Event()
    watch = threading.Thread(target=_watch, args=(parent, done))
    watch.start()
    try:
        yield
    finally:
        done.set()
        watch.join()


def _watch(parent: int, done: threading.Event) -> None:
    while not done.wait(WARM_WATCH_SECONDS):
        if os.getppid() != parent:
            os._exit(1)


def _warm_up() -> None:
    """Import whatever MinerU imports while it reads: a scout reads a page of nothing and names the modules.

    The scout is a process of its own because pdfium's fonts must not be in use before a fork.
    """
    with tempfile.TemporaryDirectory(prefix=f"flowreader-parse-{os.getpid()}-warm-") as folder:
        names = Path(folder) / "names"
        here = os.getpid()
        scout = os.fork()
        if scout == 0:
            try:
                threading.Thread(target=_watch, args=(here, threading.Event()), daemon=True).start()
                mineru.read_sample(Path(folder) / "sample.pdf")
                names.write_text("\n".join(sys.modules))
            finally:
                os._exit(0)
        os.waitpid(scout, 0)
        for name in names.read_text().split("\n"):
            with contextlib.suppress(ImportError):
                importlib.import_module(name)


def _reply(descriptor: int, message: dict[str, object]) -> None:
    os.write(descriptor, json.dumps(message).encode() + b"\n")


def _wake_at_ends() -> int:
    """Return a descriptor that can be read once a child has ended."""
    ended, wake = os.pipe()
    os.set_blocking(ended, False)
    os.set_blocking(wake, False)
    signal.signal(signal.SIGCHLD, lambda _number, _frame: None)
    signal.set_wakeup_fd(wake, warn_on_full_buffer=False)
    return ended


def _serve(line: bytes, ended: int) -> dict[str, object]:
    """Fork a child for the job, wait for its end or its time, and say how it went."""
    job = Job.model_validate_json(line)
    here = os.getpid()
    with contextlib.suppress(BlockingIOError):
        os.read(ended, 1 << 16)  # of the child before
    process = os.fork()
    if process == 0:
        code = FAILED
        try:
            os.setpgid(0, 0)
            signal.set_wakeup_fd(-1)
            _silence()
            code = child.live(line, parent=here)
        finally:
            os._exit(code)
    late = not _wait_for_child(process, ended, seconds=job.wall_seconds)
    _kill_group(process)
    _, status, usage = os.wait4(process, 0)
    return {
        "late": late,
        "code": os.waitstatus_to_exitcode(status),
        "cpu_seconds": usage.ru_utime + usage.ru_stime,
        "peak_megabytes": usage.ru_maxrss / MAXRSS_PER_MEGABYTE,
    }


def _silence() -> None:
    """Give the child no input and no output but its folder."""
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(nothing, descriptor)
    os.closerange(3, 256)


def _wait_for_child(process: int, ended: int, *, seconds: float) -> bool:
    """Wait for the child; return False once it is late, and end with it where the parent went first."""
    ready, _, _ = select.select([ended, 0], [], [], seconds)
    if ready == [0]:
        _kill_group(process)
        os._exit(1)
    return bool(ready)


def _kill_group(process: int) -> None:
    """Kill the child and whatever it started."""
    for kill in (os.killpg, os.kill):
        try:
            kill(process, signal.SIGKILL)
        except ProcessLookupError:
            continue


if __name__ == "__main__":
    main()
