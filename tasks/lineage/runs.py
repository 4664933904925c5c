"""What a run's file says, as records: how it began and ended, its steps and calls, what it published, and what cannot be read."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from pydantic import ValidationError

from storage.codec import adapter
from storage.records.steps import StepRecord
from storage.runs.log import ASKING, EntryKind
from storage.runs.views import RunEntries
from tasks.lineage.records import CallRecord, Damage, Row, RunHead, RunKind
from tasks.prompts.prompt import prompt_files
from tasks.settings.ask import AllSettings, AskSettings
from tasks.settings.base import Settings, list_dotted
from tasks.settings.ingest import IngestSettings
from tasks.watching.json_log import step_outcome

T = TypeVar("T")

STILL_GOING, KILLED = "still going", "killed"
"""Said of a run whose file has no last line: a living process writes it, or none does."""


DEFAULTS: Mapping[RunKind, type[Settings]] = {
    RunKind.ASK: AskSettings,
    RunKind.INGEST: IngestSettings,
    RunKind.EVOLVE: IngestSettings,
    RunKind.EVALUATE: AllSettings,
}


@dataclass(frozen=True, slots=True)
class RunHistory:
    """A run as far as its entries go; `damage` is None where all of it could be read.

    `planned` is how many documents an ingest set out to read.
    """

    head: RunHead
    parameters: Mapping[str, Any]
    settings: Mapping[str, Any]
    steps: tuple[StepRecord, ...]
    calls: tuple[CallRecord, ...]
    damage: Damage | None
    planned: int | None = None


RECORDS: Mapping[EntryKind, type[Any]] = {EntryKind.STEP: StepRecord, EntryKind.CALL: CallRecord}
NEEDED: Mapping[EntryKind, frozenset[str]] = {
    EntryKind.RUN: frozenset({"parameters", "settings", "code_version"}),
    EntryKind.END: frozenset({"outcome", "snapshot"}),
}


def history_of(run: RunEntries) -> RunHistory:
    """Return the history in the entries of a run; a line that lacks something counts as damage and is left out."""
    torn, found = run.torn, []
    last: dict[EntryKind, dict[str, Any]] = {}
    for entry in run.entries:
        kind = entry["kind"]
        if not NEEDED.get(kind, frozenset()) <= entry.keys():
            torn += 1
            continue
        last[kind] = entry
        if kind in RECORDS:
            try:
                found.append(adapter(RECORDS[kind]).validate_python(_call(entry) if kind is EntryKind.CALL else entry))
            except ValidationError:
                torn += 1
    begin, end, plan = (last.get(kind, {"sequence": -1}) for kind in (EntryKind.RUN, EntryKind.END, EntryKind.PLAN))
    # A run that Prefect tries again begins once more after its last end.
    ended = end["sequence"] > begin["sequence"]
    steps = tuple(each for each in found if isinstance(each, StepRecord))
    parameters = begin.get("parameters", {})
    head = RunHead(
        run_id=run.run_id,
        kind=_kind(run.run_id, parameters),
        began=min((step.started for step in steps), default=""),
        outcome=end["outcome"] if ended else STILL_GOING if run.at_work else KILLED,
        snapshot=end["snapshot"] if ended else None,
        code_version=begin.get("code_version", ""),
    )
    calls = tuple(each for each in found if isinstance(each, CallRecord))
    damage = Damage(run.run_id, torn, run.unreadable) if torn or run.unreadable else None
    return RunHistory(head, parameters, begin.get("settings", {}), steps, calls, damage, plan.get("documents"))


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


def sum_of_steps(steps: Iterable[StepRecord]) -> tuple[Row, ...]:
    """Return the steps summed by name and version, in the order in which each first began; `attempts` is the most of one."""
    groups = _group(sorted(steps, key=lambda step: step.started), ("step", "version"))
    return tuple(
        named
        | {
            "times": len(group),
            "seconds": round(sum(step.seconds for step in group), 4),
            "attempts": max(step.attempts for step in group),
            "cache_hits": sum(step.cache_hit for step in group),
            "failed": sum(step_outcome(step) == "failed" for step in group),
            "stopped": sum(step_outcome(step) == "stopped" for step in group),
        }
        for named, group in groups
    )


def sum_of_calls(calls: Iterable[CallRecord]) -> tuple[Row, ...]:
    """Return the calls summed by purpose, model and prompt, in the order in which each was first asked."""
    summed = ("input_tokens", "output_tokens", "cost", "seconds")
    return tuple(
        named
        | {"outcomes": dict(Counter(call.outcome for call in group))}
        | {name: round(sum(getattr(call, name) for call in group), 9) for name in summed}
        for named, group in _group(calls, ("purpose", "model", "prompt", "prompt_hash"))
    )


def changed_settings(kind: RunKind, settings: Mapping[str, Any]) -> list[str]:
    """Return the settings that differ from the defaults of this FlowReader, each as `name = value`."""
    usual = dict(list_dotted(DEFAULTS[kind]().model_dump(mode="json"))) if kind in DEFAULTS else {}
    return [f"{name} = {value}" for name, value in list_dotted(settings) if usual.get(name) != value]


def _group(records: Iterable[T], names: Sequence[str]) -> list[tuple[Row, list[T]]]:
    """Return the records by their values of these names, in the order in which each came first."""
    groups: dict[tuple[Any, ...], list[T]] = {}
    for record in records:
        groups.setdefault(tuple(getattr(record, name) for name in names), []).append(record)
    return [(dict(zip(names, values, strict=True)), group) for values, group in groups.items()]
