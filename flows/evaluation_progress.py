"""What people see while an evaluation works: documents that are read in, and questions asked."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator

from rich.console import Console

from flows.progress_display import LINE_SECONDS, every
from tasks.progress import Progress, listening, stop_requested


class AskingMeter:
    """Adds up reports of many threads."""

    def __init__(self, questions: int) -> None:
        """Take how many questions there are to ask, under all arms together."""
        self._questions, self._asked, self._read, self._now = questions, 0, 0, "starting"
        self._lock = threading.Lock()

    def hear(self, progress: Progress) -> None:
        """Take one report."""
        with self._lock:
            if progress.step == "ask":
                self._asked += progress.done
                self._now = f"asking: {progress.subject}"
            else:
                self._read += progress.step == "done"
                self._now = f"reading documents in, {self._read} done; {progress.step}"

    def describe(self) -> str:
        """Return one line: documents read in, questions asked, and by whom."""
        if stop_requested():
            return "stopping; a second Ctrl-C ends it at once"
        return f"{self._asked} of {self._questions} questions asked; {self._now}"


@contextlib.contextmanager
def shown(questions: int, *, console: Console, quiet: bool) -> Iterator[None]:
    """Show how far an evaluation is inside the block: a line that changes on a terminal, a line every so often elsewhere."""
    meter = AskingMeter(questions)
    with listening(meter.hear):
        if quiet:
            yield
        elif console.is_terminal:
            with console.status("starting", spinner="dots") as line, every(0.2, lambda: line.update(meter.describe())):
                yield
        else:
            with every(LINE_SECONDS, lambda: console.print(meter.describe(), markup=False, highlight=False, soft_wrap=True)):
                yield
