"""How far an ingest came, as its file tells: also of one that was killed, or that is at work in another process."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from storage.memo import HEXADECIMAL
from storage.run_traces import RunTrace, trace
from storage.runs import EntryKind
from tasks.happening_lines import step_outcome
from tasks.lineage_runs import story_of

SIGNS = tuple(f'"kind": "{kind}"'.encode() for kind in (EntryKind.PLAN, EntryKind.STEP))
LAST_STEP = "evolve"
"""With it a document is read: what is left is to publish it, and the next run finds it done."""


@dataclass(frozen=True, slots=True)
class RunProgress:
    """How many documents are read, how many could not be, and of how many, None before the files were looked through."""

    read: int
    failed: int
    documents: int | None


def progress_of(run_file: Path) -> RunProgress:
    """Return how far the run came since it began last: Prefect may try it again in the same file."""
    story = story_of(_last_try(trace(run_file, SIGNS)))
    last = {step.subject: step for step in story.steps if HEXADECIMAL.fullmatch(step.subject)}
    failed = sum(step_outcome(step) == "failed" for step in last.values())
    read = sum(step.step == LAST_STEP and not step.error for step in last.values())
    return RunProgress(read, failed, story.planned)


def _last_try(found: RunTrace) -> RunTrace:
    begins = [place for place, entry in enumerate(found.entries) if entry["kind"] is EntryKind.RUN]
    return replace(found, entries=found.entries[begins[-1] if begins else 0 :])
