"""Runs that have no last line, at work or killed: how far they came, and which of the killed an ingest does the rest of."""

import os
import time
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path

from storage.cleaning.garbage import KEEP_UNNAMED_SECONDS
from storage.locations import CorpusLocation
from storage.memo import HEXADECIMAL
from storage.object_address import is_address
from storage.runs.at_work import SignedRun, close, find_killed_runs, remove_sign, runs_at_work
from storage.runs.log import EntryKind
from storage.runs.views import read_run
from storage.text import list_names, minute, printable_path
from tasks.ingest.request import ReadingRequest, recorded_parameters
from tasks.lineage.records import MAKES_DOCUMENTS, RunKind
from tasks.lineage.runs import KILLED, RunHistory, history_of
from tasks.watching.json_log import step_outcome

LAST_STEP = "evolve"
"""After this step only publishing is left, and the next run finds the document done."""


@dataclass(frozen=True, slots=True)
class OpenRun:
    """A run at work or killed. `paths` are those that it makes documents of, or their graphs.

    `began` is an ISO 8601 time in UTC; of `documents`, None while they are counted, `done` are done, `failed` of them failed.
    """

    run_id: str
    kind: RunKind
    began: str
    paths: tuple[str, ...]
    done: int
    failed: int
    documents: int | None
    killed: bool

    @property
    def message(self) -> str:
        names, began = list_names(list(map(printable_path, self.paths)), 1), f"{minute(self.began)} UTC"
        failed = f", {self.failed} of them failed" if self.failed else ""
        done = "" if self.documents is None else f": {self.done} of {self.documents} documents done{failed}"
        if not self.killed:
            what = f"{names} {'is' if len(self.paths) == 1 else 'are'}" if names else "every document is"
            return f"{what} being read in already, since {began}{done}"
        remedy = "; the same command goes on with the rest" if self.goes_on else ""
        return f"the {self.kind.words}{names and f' of {names}'} that began at {began} was killed{done}{remedy}"

    @property
    def goes_on(self) -> bool:
        """Say whether the same command does the rest: an evolve run needs no file for it."""
        return self.kind is RunKind.EVOLVE or (self.kind is RunKind.INGEST and bool(self.paths))


def ingests_at_work(location: CorpusLocation) -> tuple[OpenRun, ...]:
    """Return the runs at work that make documents, the oldest first."""
    found = (_open_run(run, killed=False) for run in runs_at_work(location))
    return tuple(run for run in found if run.kind in MAKES_DOCUMENTS)


def list_killed_runs(location: CorpusLocation) -> tuple[OpenRun, ...]:
    """Return the corpus's killed runs that no other took over yet, the oldest first."""
    return tuple(_open_run(run, killed=True) for run in find_killed_runs(location) if run.path.exists())


def _open_run(run: SignedRun, *, killed: bool) -> OpenRun:
    history = _history(run.path)
    last = {step.subject: step for step in history.steps if HEXADECIMAL.fullmatch(step.subject)}
    failed = sum(step_outcome(step) == "failed" for step in last.values())
    read = sum(step.step == LAST_STEP and not step.error for step in last.values())
    began, kind = utc_moment(run.began), history.head.kind
    # What a killed run was to read may be gone, and is not named then.
    paths = tuple(path for path in _paths(history) if not killed or is_address(path) or os.path.lexists(path))
    return OpenRun(run.path.stem, kind, began, paths, read + failed, failed, history.planned, killed)


def utc_moment(seconds: float) -> str:
    """Return seconds since 1970 as an ISO 8601 time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _history(run_file: Path) -> RunHistory:
    """Return what the run did since it began last: Prefect may try it again in the same file."""
    found = read_run(run_file, "kind NOT IN ('call', 'answer')")
    begins = [place for place, entry in enumerate(found.entries) if entry["kind"] is EntryKind.RUN]
    return history_of(replace(found, entries=found.entries[begins[-1] if begins else 0 :]))


def _paths(history: RunHistory) -> tuple[str, ...]:
    return tuple(map(str, history.parameters.get("paths", ()))) if history.head.kind in MAKES_DOCUMENTS else ()


def rest_of(location: CorpusLocation, request: ReadingRequest) -> list[Path]:
    """Return the files of the killed ingests that read nothing but what this one reads too."""
    return [each.path for each in find_killed_runs(location) if _is_covered(_history(each.path), request)]


def _is_covered(history: RunHistory, request: ReadingRequest) -> bool:
    asked, paths = recorded_parameters(request), _paths(history)
    chosen = ("include", "exclude", "stages")
    if history.head.kind not in MAKES_DOCUMENTS or any(history.parameters.get(name, []) != asked.get(name, []) for name in chosen):
        return False
    # Without paths every document is made anew.
    return not request.paths or (
        bool(paths) and all(any(Path(path).is_relative_to(named) for named in request.paths) for path in paths)
    )


def close_what_cannot_go_on(location: CorpusLocation, *, snapshot: int) -> tuple[OpenRun, ...]:
    """Return the killed runs; those that no command goes on with, or none did for a month, are closed."""
    found, before = list_killed_runs(location), time.time() - KEEP_UNNAMED_SECONDS
    for sign in find_killed_runs(location):
        if sign.began <= before and not sign.path.exists():
            remove_sign(sign.path)
    for run in found:
        if not run.goes_on or datetime.fromisoformat(run.began).timestamp() <= before:
            close(location.runs / f"{run.run_id}.jsonl", outcome=KILLED, snapshot=snapshot)
    return found
