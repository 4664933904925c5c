"""Progress of an ingest: bars on a terminal, plain lines elsewhere, nothing for programs."""

import contextlib
import math
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn
from rich.progress import Progress as Bars
from rich.table import Column

from storage.text import counted
from tasks.finding.plan import DocumentWork
from tasks.progress import Progress, listening, stop_requested
from tasks.settings.ingest import ReadingSettings

LINE_SECONDS = 10.0
WIDE_COLUMNS = 110
STEP_SHARES = {
    "parse": 8,
    "read-words": 5,
    "structure": 1,
    "analyze": 1,
    "see-pages": 40,
    "embed": 5,
    "judge-links": 48,
    "embed-round": 3,
    "write-map": 5,
    "evolve": 1,
}
"""Roughly how a document's time divides over its steps, if rules describe nodes."""
DESCRIBING_SHARE = 25
"""Of `analyze`, if a model does."""


def step_shares(reading: ReadingSettings) -> Mapping[str, float]:
    """Return the share of each step with these settings, 1 in all; only the display uses it."""
    asked = {"write-map": reading.analysis.map, "see-pages": reading.analysis.pages}
    left_out = {step for step, by in asked.items() if by == "rules"}
    if reading.evolution.mode == "lite":
        left_out |= {"judge-links", "embed-round"}
    shares = STEP_SHARES | ({"analyze": DESCRIBING_SHARE} if reading.analysis.by == "model" else {})
    whole = sum(share for step, share in shares.items() if step not in left_out)
    return {step: share / whole for step, share in shares.items() if step not in left_out}


class WorkMeter:
    """Adds up reports of many threads: documents and pages done, and the share of all work, weighted by size."""

    def __init__(self, work: Sequence[DocumentWork], reading: ReadingSettings) -> None:
        self._shares = step_shares(reading)
        self._names = {document.document_id: document.name for document in work}
        # A document of no size counts a little.
        self._weights = {document.document_id: document.size_bytes + 20_000 for document in work}
        self._steps: dict[str, dict[str, float]] = {document.document_id: {} for document in work}
        self._lock = threading.Lock()
        self._begun: float | None = None
        self.pages = 0
        self.finished: set[str] = set()
        self.now = ""

    def hear(self, progress: Progress) -> None:
        with self._lock:
            if progress.subject not in self._steps:
                return
            # the seconds of the start-up do not show how quickly pages are read
            self._begun = self._begun or time.monotonic()
            if progress.step == "done":
                self.finished.add(progress.subject)
                self.pages += progress.total
                return
            share = progress.done / progress.total if progress.total else 1.0
            self._steps[progress.subject][progress.step] = share
            pages = f" {progress.done}/{progress.total}" if progress.total > 1 else ""
            self.now = f"{progress.step}{pages}: {self._names[progress.subject]}"

    def share_done(self) -> float:
        with self._lock:
            done = sum(weight * self._share_of(name) for name, weight in self._weights.items())
            return done / max(1, sum(self._weights.values()))

    def _share_of(self, document: str) -> float:
        steps = self._steps[document].items()
        done = sum(self._shares.get(step, 0) * share for step, share in steps)
        return 1.0 if document in self.finished else min(done, 1.0)

    def seconds_left(self) -> float | None:
        """Return an estimate of the seconds left; None while it is too early."""
        share, elapsed = self.share_done(), time.monotonic() - (self._begun or math.inf)
        return elapsed * (1 - share) / share if share > 0.05 and elapsed > 5 else None

    def describe(self) -> str:
        left = self.seconds_left()
        when = f"about {format_seconds(left)} left" if left is not None else "time left unknown"
        return f"{self.describe_counts()}, {when}; {self.what_happens()}"

    def describe_counts(self) -> str:
        return f"{len(self.finished)}/{counted(len(self._names), 'document')}, {counted(self.pages, 'page')}"

    def what_happens(self) -> str:
        return "stopping; a second Ctrl-C ends it at once" if stop_requested() else self.now or "starting"


def format_seconds(seconds: float) -> str:
    """Return seconds for people: 45 s, 3 min 20 s."""
    whole = round(seconds)
    return f"{whole} s" if whole < 60 else f"{whole // 60} min {whole % 60:02d} s"


@contextlib.contextmanager
def show_ingest(work: Sequence[DocumentWork], reading: ReadingSettings, *, console: Console, quiet: bool) -> Iterator[None]:
    meter = WorkMeter(work, reading)
    with listening(meter.hear):
        if quiet:
            yield
        elif console.is_terminal:
            with _bars(meter, console):
                yield
        else:
            with print_news(meter.describe, console):
                yield


@contextlib.contextmanager
def print_news(describe: Callable[[], str], console: Console) -> Iterator[None]:
    """Print every so often what is described, where that is new."""
    shown = ""

    def update() -> None:
        nonlocal shown
        if (line := describe()) != shown:
            console.print(line, markup=False, highlight=False, soft_wrap=True)
            shown = line

    with every(LINE_SECONDS, update):
        yield


@contextlib.contextmanager
def _bars(meter: WorkMeter, console: Console) -> Iterator[None]:
    columns = (
        BarColumn(bar_width=30 if console.width >= WIDE_COLUMNS else 8),
        TaskProgressColumn(),
        TextColumn("{task.fields[counts]}", markup=False, table_column=Column(no_wrap=True)),
        TimeElapsedColumn(table_column=Column(no_wrap=True)),
        TextColumn("{task.fields[left]}", markup=False, table_column=Column(no_wrap=True)),
        # what is left of the line: a long name is cut, a number never is
        TextColumn("{task.fields[now]}", markup=False, style="dim", table_column=Column(no_wrap=True, ratio=1)),
    )
    with Bars(*columns, console=console, transient=True, expand=True) as bars:
        task = bars.add_task("ingest", total=1.0, counts="", left="", now="starting")

        def update() -> None:
            left = meter.seconds_left()
            bars.update(
                task,
                completed=meter.share_done(),
                counts=meter.describe_counts(),
                left=f"{format_seconds(left)} left" if left is not None else "",
                now=meter.what_happens(),
            )

        with every(0.2, update):
            yield


@contextlib.contextmanager
def every(seconds: float, action: Callable[[], None]) -> Iterator[None]:
    """Repeat the action while the block runs."""
    ended = threading.Event()

    def run() -> None:
        while not ended.wait(seconds):
            action()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
