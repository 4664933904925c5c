"""What a run's file says, as records: how it began and ended, its steps and calls, what it published, and what cannot be read."""

import contextlib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, TypeVar

from pydantic import ValidationError

from storage.codec import adapter
from storage.records.steps import StepRecord
from storage.runs.log import ASKING, EntryKind
from storage.runs.views import RunEntries
from tasks.lineage.records import CallRecord, CallSum, Damage, RunHead, RunKind, StepSum
from tasks.prompts.prompt import prompt_files
from tasks.watching.json_log import step_outcome

T = TypeVar("T")

STILL_GOING, KILLED = "still going", "killed"
"""Said of a run whose file has no last line: a living process writes it, or none does."""


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run as far as its entries go; `damage` is None where all of it could be read.

    An ingest has `planned` to read so many documents.
    """

    head: RunHead
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    steps: tuple[StepRecord, ...]
    calls: tuple[CallRecord, ...]
    damage: Damage | None
    planned: int | None = None


@dataclass(frozen=True, slots=True)
class _Plan:
    documents: int


@dataclass(frozen=True, slots=True)
class _Begin:
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    code_version: str
    took_over: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _End:
    outcome: str
    snapshot: int


def history_of(run: RunEntries) -> RunHistory:
    """Return the history in the entries of a run; a line that lacks something counts as damage and is left out."""
    begins, ends = _read(_Begin, run, EntryKind.RUN), _read(_End, run, EntryKind.END)
    steps, calls = _read(StepRecord, run, EntryKind.STEP), _read(CallRecord, run, EntryKind.CALL, _call)
    plans = _read(_Plan, run, EntryKind.PLAN)
    begin = begins[-1] if begins else _Begin({}, {}, "")
    marks = [entry["kind"] for entry in run.entries if entry["kind"] in {EntryKind.RUN, EntryKind.END}]
    # A run that Prefect tries again begins once more after its last end.
    end = ends[-1] if ends and marks[-1] is EntryKind.END else None
    head = RunHead(
        run_id=run.run_id,
        kind=_kind(run.run_id, begin.parameters),
        began=min((step.started for step in steps), default=""),
        outcome=end.outcome if end else STILL_GOING if run.at_work else KILLED,
        snapshot=end.snapshot if end else None,
        code_version=begin.code_version,
        took_over=begin.took_over,
    )
    understood = len(begins) + len(ends) + len(steps) + len(calls) + len(run.of(EntryKind.ANSWER)) + len(plans)
    damage = Damage(run.run_id, run.torn + len(run.entries) - understood, run.unreadable)
    return RunHistory(
        head,
        begin.parameters,
        begin.settings,
        tuple(steps),
        tuple(calls),
        damage if damage.torn or damage.unreadable else None,
        plans[-1].documents if plans else None,
    )


def when(moment: str) -> str:
    """Return an ISO 8601 time in UTC, to the minute."""
    return f"{moment[:16].replace('T', ' ')} UTC"


def _read(
    kind: type[T], run: RunEntries, named: EntryKind, shown: Callable[[dict[str, Any]], dict[str, Any]] = lambda entry: entry
) -> list[T]:
    """Return the entries of a kind as records; what is none is left out."""
    found = []
    for entry in run.of(named):
        with contextlib.suppress(ValidationError):
            found.append(adapter(kind).validate_python(shown(entry)))
    return found


def _kind(run_id: str, parameters: Mapping[str, Any]) -> RunKind:
    if run_id.startswith(ASKING):
        return RunKind.ASK
    if "paths" in parameters:
        return RunKind.EVOLVE if "stages" in parameters else RunKind.INGEST
    return RunKind.EVALUATE if "what" in parameters else RunKind.UNKNOWN


def _call(entry: dict[str, Any]) -> dict[str, Any]:
    """Return a call as it is shown: one of a question is about its answer, others about their document."""
    prompt = prompt_files().get(str(entry.get("prompt_hash")), "")
    return entry | {"about": entry.get("answer_id") or entry.get("subject"), "prompt": prompt}


def sum_of_steps(steps: Iterable[StepRecord]) -> tuple[StepSum, ...]:
    """Return the steps summed by name and version, in the order in which each first began."""
    groups: dict[tuple[str, str], list[StepRecord]] = {}
    for step in sorted(steps, key=lambda step: step.started):
        groups.setdefault((step.step, step.version), []).append(step)
    return tuple(
        StepSum(
            step=name,
            version=version,
            times=len(group),
            seconds=round(sum(step.seconds for step in group), 4),
            attempts=max(step.attempts for step in group),
            cache_hits=sum(step.cache_hit for step in group),
            failed=sum(step_outcome(step) == "failed" for step in group),
            stopped=sum(step_outcome(step) == "stopped" for step in group),
        )
        for (name, version), group in groups.items()
    )


def sum_of_calls(calls: Iterable[CallRecord]) -> tuple[CallSum, ...]:
    """Return the calls summed by purpose, model and prompt, in the order in which each was first asked."""
    groups: dict[tuple[str, str, str, str], list[CallRecord]] = {}
    for call in calls:
        groups.setdefault((call.purpose, call.model, call.prompt, call.prompt_hash), []).append(call)
    return tuple(
        CallSum(
            *named,
            outcomes=dict(Counter(call.outcome for call in group)),
            input_tokens=sum(call.input_tokens for call in group),
            output_tokens=sum(call.output_tokens for call in group),
            cost=sum(call.cost for call in group),
            seconds=round(sum(call.seconds for call in group), 4),
        )
        for named, group in groups.items()
    )


NOT_ANY_MORE = "not published any more"


def why_unpublished(history: RunHistory, document_id: str) -> str:
    outcome = history.head.outcome
    if did_publish(history, document_id):
        return NOT_ANY_MORE
    if outcome == STILL_GOING:
        return "not published yet"
    ended = "was killed" if outcome.startswith(KILLED) else "was stopped" if outcome == "stopped" else outcome
    return f"not published: the run {ended} first"


def did_publish(history: RunHistory, document_id: str) -> bool:
    """Say whether the run came to publish the document, or that it cannot be read; one that ended by itself published all."""
    if history.head.outcome == "ended":
        return True
    steps = [step for step in history.steps if step.subject == document_id]
    if not steps or not _is_last(steps[-1]):
        return False
    finished = datetime.fromisoformat(steps[-1].started) + timedelta(seconds=steps[-1].seconds)
    batches = (step for step in history.steps if step.step == "publish" and not step.error)
    return any(datetime.fromisoformat(batch.started) >= finished for batch in batches)


def _is_last(step: StepRecord) -> bool:
    """Say whether a document is finished with this step, well or not."""
    outcome = step_outcome(step)
    return outcome == "failed" or (outcome != "stopped" and step.step == "evolve")
