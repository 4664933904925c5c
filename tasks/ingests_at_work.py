"""The ingests that are at work on a corpus now, in whichever process of this machine, and how far they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from storage.at_work import runs_at_work
from storage.locations import CorpusLocation
from storage.run_traces import ALWAYS_READ, trace
from tasks.lineage_records import RunKind
from tasks.lineage_runs import story_of
from tasks.planning import displayed
from tasks.run_progress import progress_of


@dataclass(frozen=True, slots=True)
class IngestAtWork:
    """An ingest of these paths. `began` is an ISO 8601 time in UTC; of `documents`, None while they are counted, `done` are done.

    `failed` of those that are done could not be read.
    """

    run_id: str
    began: str
    paths: tuple[str, ...]
    done: int
    failed: int
    documents: int | None

    @property
    def told(self) -> str:
        """What to say of it."""
        failed = f", {self.failed} of them failed" if self.failed else ""
        far = "documents are looked for" if self.documents is None else f"{self.done} of {self.documents} documents done{failed}"
        return f"the ingest{named(self.paths)} that began at {minute(self.began)} UTC is at work: {far}"


def ingests_at_work(location: CorpusLocation) -> tuple[IngestAtWork, ...]:
    """Return the ingests at work, the oldest first."""
    found: list[IngestAtWork] = []
    for run in runs_at_work(location):
        story = story_of(trace(run.path, ALWAYS_READ))
        if story.head.kind is RunKind.INGEST:
            far, paths = progress_of(run.path), tuple(map(str, story.parameters["paths"]))
            done = far.read + far.failed
            found.append(IngestAtWork(run.path.stem, told_moment(run.began), paths, done, far.failed, far.documents))
    return tuple(found)


def named(paths: Sequence[str]) -> str:
    """Return " of" and what is read, the first of several paths; "" where there are none."""
    more = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return f" of {displayed(paths[0])}{more}" if paths else ""


def told_moment(seconds: float) -> str:
    """Return seconds since 1970 as an ISO 8601 time in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def minute(moment: str) -> str:
    """Return an ISO 8601 time to the minute."""
    return moment[:16].replace("T", " ")
