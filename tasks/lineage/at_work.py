"""Runs that were killed or are at work: how far they came, what is shown of them, and which of them an ingest does the rest of."""

import os
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from storage.cleaning.files import KEEP_UNNAMED_SECONDS
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL
from storage.object_address import is_address
from storage.runs.at_work import close, drop_empty_signs, is_news, killed_runs, runs_at_work
from storage.runs.log import EntryKind
from storage.runs.views import read_run
from tasks.events import RunKilled, emit
from tasks.finding.plan import displayed
from tasks.ingest.request import ReadingRequest, recorded
from tasks.lineage.records import MAKES_DOCUMENTS, RunKind
from tasks.lineage.runs import KILLED, RunHistory, history_of
from tasks.watching.json_log import step_outcome
from tasks.watching.watching import is_wanted, log_to_prefect, watched

LAST_STEP = "evolve"
"""With it a document is read: what is left is to publish it, and the next run finds it done."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How many documents are read, how many could not be, and of how many, None before the files were looked through."""

    read: int
    failed: int
    documents: int | None


def progress_of(run_file: Path) -> RunProgress:
    return _progress(_whole_history(run_file))


def _whole_history(run_file: Path) -> RunHistory:
    """Return what the run did since it began last: Prefect may try it again in the same file."""
    found = read_run(run_file, "kind NOT IN ('call', 'answer')")
    begins = [place for place, entry in enumerate(found.entries) if entry["kind"] is EntryKind.RUN]
    return history_of(replace(found, entries=found.entries[begins[-1] if begins else 0 :]))


def _progress(history: RunHistory) -> RunProgress:
    last = {step.subject: step for step in history.steps if HEXADECIMAL.fullmatch(step.subject)}
    failed = sum(step_outcome(step) == "failed" for step in last.values())
    read = sum(step.step == LAST_STEP and not step.error for step in last.values())
    return RunProgress(read, failed, history.planned)


NAMES = {
    RunKind.INGEST: "ingest",
    RunKind.EVOLVE: "evolve run",
    RunKind.EVALUATE: "evaluation",
    RunKind.ASK: "run that answered",
    RunKind.UNKNOWN: "run",
}


@dataclass(frozen=True, slots=True)
class IngestAtWork:
    """A run that makes documents of these paths, or their graphs.

    `began` is an ISO 8601 time in UTC; of `documents`, None while they are counted, `done` are done, `failed` of them in vain.
    """

    run_id: str
    kind: RunKind
    began: str
    paths: tuple[str, ...]
    done: int
    failed: int
    documents: int | None

    @property
    def message(self) -> str:
        failed = f", {self.failed} of them failed" if self.failed else ""
        done = "documents are looked for" if self.documents is None else f"{self.done} of {self.documents} documents done{failed}"
        return f"the {NAMES[self.kind]}{named(self.paths)} that began at {minute(self.began)} UTC is at work: {done}"


def ingests_at_work(location: CorpusLocation) -> tuple[IngestAtWork, ...]:
    """Return the ingests at work, the oldest first."""
    found: list[IngestAtWork] = []
    for run in runs_at_work(location):
        history = _whole_history(run.path)
        if history.head.kind in MAKES_DOCUMENTS:
            progress, paths = _progress(history), tuple(map(str, history.parameters["paths"]))
            done = progress.read + progress.failed
            began, kind = utc_moment(run.began), history.head.kind
            found.append(IngestAtWork(run.path.stem, kind, began, paths, done, progress.failed, progress.documents))
    return tuple(found)


def named(paths: Sequence[str]) -> str:
    """Return " of" and what is read, the first of several paths; "" where there are none."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f" of {displayed(paths[0])}{more}" if paths else ""


def utc_moment(seconds: float) -> str:
    """Return seconds since 1970 as an ISO 8601 time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def minute(moment: str) -> str:
    """Return an ISO 8601 time to the minute."""
    return moment[:16].replace("T", " ")


@dataclass(frozen=True, slots=True)
class KilledRun:
    """A run whose process is gone. `began` is an ISO 8601 time in UTC; `paths` are those that it was given and that still exist."""

    run_id: str
    kind: RunKind
    began: str
    paths: tuple[str, ...]

    @property
    def message(self) -> str:
        remedy = "; the same command goes on with the rest" if self.goes_on else ""
        return f"the {NAMES[self.kind]}{named(self.paths)} that began at {minute(self.began)} UTC was killed{remedy}"

    @property
    def goes_on(self) -> bool:
        """Say whether the same command does the rest: an evolve run needs no file for it."""
        return self.kind is RunKind.EVOLVE or (self.kind is RunKind.INGEST and bool(self.paths))


def killed(location: CorpusLocation) -> tuple[KilledRun, ...]:
    """Return the corpus's killed runs that no other took over yet, the oldest first."""
    found: list[KilledRun] = []
    for run in killed_runs(location):
        history = _history(run.path)
        there = tuple(path for path in _paths(history) if is_address(path) or os.path.lexists(path))
        found.append(KilledRun(history.head.run_id, history.head.kind, utc_moment(run.began), there))
    return tuple(found)


def rest_of(location: CorpusLocation, request: ReadingRequest) -> list[Path]:
    """Return the files of the killed ingests that read nothing but what this one reads too."""
    return [each.path for each in killed_runs(location) if _is_covered(_history(each.path), request)]


def close_what_cannot_go_on(location: CorpusLocation, *, snapshot: int) -> tuple[KilledRun, ...]:
    """Return the killed runs; those that no command goes on with, or none did for a month, are closed.

    Of a run that was killed before its first line nothing stays after that time.
    """
    found, before = killed(location), time.time() - KEEP_UNNAMED_SECONDS
    drop_empty_signs(location, before=before)
    for run in found:
        if not run.goes_on or datetime.fromisoformat(run.began).timestamp() <= before:
            close(location.runs / f"{run.run_id}.jsonl", outcome=KILLED, snapshot=snapshot)
    return found


def _history(run_file: Path) -> RunHistory:
    return history_of(read_run(run_file, "kind IN ('run', 'end')"))


def _paths(history: RunHistory) -> Sequence[str]:
    return [str(path) for path in history.parameters.get("paths", ())] if history.head.kind in MAKES_DOCUMENTS else ()


def _is_covered(history: RunHistory, request: ReadingRequest) -> bool:
    asked, paths = recorded(request), _paths(history)
    chosen = ("include", "exclude", "stages")
    if history.head.kind not in MAKES_DOCUMENTS or any(history.parameters.get(name, []) != asked.get(name, []) for name in chosen):
        return False
    # Without paths every document is made anew.
    return not request.paths or (
        bool(paths) and all(any(Path(path).is_relative_to(named) for named in request.paths) for path in paths)
    )


def report_killed(location: CorpusLocation) -> None:
    """Send an event for each killed run of the corpus that none was sent for, where the environment wants events."""
    if is_wanted() and (killed := killed_runs(location)):
        with watched():
            for run in killed:
                if is_news(run.path):
                    kind, read = _history(run.path).head.kind.value, progress_of(run.path).read
                    emit(RunKilled(run.path.stem, kind, location.name, utc_moment(run.began), read))


@contextmanager
def taking_over(location: CorpusLocation, rest: Collection[Path]) -> Iterator[tuple[str, ...]]:
    """Report that the run inside the block does the rest of these killed ones, as events and on its page; give the messages."""
    messages = takeover_messages(location, rest)
    with watched():
        report_killed(location)
        for message in messages:
            log_to_prefect(message)
        yield messages


def takeover_messages(location: CorpusLocation, rest: Collection[Path]) -> tuple[str, ...]:
    """Return a message for each of these killed runs before their rest is done, the oldest first."""
    messages = []
    for run in (run for run in killed_runs(location) if run.path in rest):
        began, progress = minute(utc_moment(run.began)), progress_of(run.path)
        kept = f"{progress.read} of its {'' if progress.documents is None else f'{progress.documents} '}documents"
        messages.append(f"the earlier run of {began} UTC was killed; {kept} were kept, the rest is read now")
    return tuple(messages)
