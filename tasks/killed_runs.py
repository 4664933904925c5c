"""Runs that were killed: what is told of them, and which of them an ingest does the rest of."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from storage.at_work import SignedRun, close, drop_empty_signs, killed_runs
from storage.garbage import KEEP_UNNAMED_SECONDS
from storage.locations import CorpusLocation
from storage.object_address import is_address
from storage.run_traces import ALWAYS_READ, trace
from tasks.ingest_request import IngestRequest
from tasks.ingests_at_work import minute, named, told_moment
from tasks.lineage_records import RunKind
from tasks.lineage_runs import KILLED, RunStory, story_of

NAMES = {RunKind.INGEST: "ingest", RunKind.EVALUATE: "evaluation", RunKind.ASK: "run that answered", RunKind.UNKNOWN: "run"}


@dataclass(frozen=True, slots=True)
class KilledRun:
    """A run whose process is gone. `began` is an ISO 8601 time in UTC; `paths` are those of an ingest that still exist."""

    run_id: str
    kind: RunKind
    began: str
    paths: tuple[str, ...]

    @property
    def told(self) -> str:
        """What to say of it, with the remedy where there is one."""
        remedy = "; the same command goes on with the rest" if self.goes_on else ""
        return f"the {NAMES[self.kind]}{named(self.paths)} that began at {minute(self.began)} UTC was killed{remedy}"

    @property
    def goes_on(self) -> bool:
        """Whether there is something left to do that the same command would."""
        return self.kind is RunKind.INGEST and bool(self.paths)


def killed(location: CorpusLocation) -> tuple[KilledRun, ...]:
    """Return the corpus's killed runs that nobody took over yet, the oldest first."""
    return tuple(_killed(each, _story(each.path)) for each in killed_runs(location))


def rest_of(location: CorpusLocation, request: IngestRequest) -> list[Path]:
    """Return the files of the killed ingests that read nothing but what this one reads too."""
    return [each.path for each in killed_runs(location) if _is_covered(_story(each.path), request)]


def close_what_cannot_go_on(location: CorpusLocation, *, snapshot: int) -> tuple[KilledRun, ...]:
    """Return the killed runs; those that no command goes on with, or that nobody went on with for a month, are told this once.

    Of a run that was killed before its first line nothing stays after that time.
    """
    found, before = killed(location), time.time() - KEEP_UNNAMED_SECONDS
    drop_empty_signs(location, before=before)
    for run in found:
        if not run.goes_on or datetime.fromisoformat(run.began).timestamp() <= before:
            close(location.runs / f"{run.run_id}.jsonl", outcome=KILLED, snapshot=snapshot)
    return found


def _story(run_file: Path) -> RunStory:
    return story_of(trace(run_file, ALWAYS_READ))


def _killed(file: SignedRun, story: RunStory) -> KilledRun:
    there = tuple(path for path in _paths(story) if is_address(path) or os.path.lexists(path))
    return KilledRun(story.head.run_id, story.head.kind, told_moment(file.began), there)


def _paths(story: RunStory) -> Sequence[str]:
    return [str(path) for path in story.parameters.get("paths", ())] if story.head.kind is RunKind.INGEST else ()


def _is_covered(story: RunStory, request: IngestRequest) -> bool:
    """Say whether every file that the run would have read is one that the request names."""
    chosen = {name: list(getattr(request, name)) for name in ("include", "exclude")}
    if story.head.kind is not RunKind.INGEST or any(story.parameters.get(name, []) != given for name, given in chosen.items()):
        return False
    return all(any(Path(path).is_relative_to(named) for named in request.paths) for path in _paths(story))
