"""What happens, as one line each: JSON for programs, a few words for Prefect's UI."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import asdict
from typing import TypeAlias

from storage.records import StepRecord
from tasks.happenings import (
    CallEnded,
    DocumentBegan,
    DocumentEnded,
    Logged,
    QuestionBegan,
    QuestionEnded,
    QuestionRefused,
    RunBegan,
    RunEnded,
    RunKilled,
    StepEnded,
)
from tasks.models.chat_call import ModelCall
from tasks.progress import STOPPED

Line: TypeAlias = Mapping[str, str | int | float]

LONGEST_TEXT = 300
"""Signs of a name or a reason: a line stays below the size that the system appends in one piece."""

EVENTS = {
    RunBegan: "run-began",
    RunEnded: "run-ended",
    RunKilled: "run-killed",
    DocumentBegan: "document-began",
    DocumentEnded: "document-ended",
    StepEnded: "step-ended",
    CallEnded: "call-ended",
    QuestionBegan: "question-began",
    QuestionEnded: "question-ended",
    QuestionRefused: "question-refused",
}
WELL = {"", "ended", "stopped", "ready", "answered", "partial", "evidence", "not_found", "remembered", "done", "ok", "cached"}
"""States and outcomes that nobody needs to look after."""


def line_of(happening: Logged, names: Mapping[str, str]) -> Line:
    """Return what is to be said, empty fields left out; `names` are those of the documents at work, by id."""
    if isinstance(happening, StepEnded):
        fields = _of_step(happening.record, names)
    elif isinstance(happening, CallEnded):
        fields = _of_call(happening.call, names)
    else:
        fields = asdict(happening)
    run = {} if isinstance(happening, QuestionRefused) else {"run": happening.run}
    said = {"event": EVENTS[type(happening)], **run, **fields}
    return {name: _shown(value) for name, value in said.items() if value != ""}


def level_of(line: Line) -> int:
    """Return how loud it is to be said: a failure or a refusal is a warning, the end of a run by an error or a kill an error."""
    if line["event"] == EVENTS[RunKilled]:
        return logging.ERROR
    if line["event"] == EVENTS[QuestionRefused]:
        return logging.WARNING
    outcome = str(line.get("outcome") or line.get("state") or line.get("status") or "")
    if outcome in WELL:
        return logging.INFO
    return logging.ERROR if line["event"] == EVENTS[RunEnded] else logging.WARNING


def words_of(line: Line) -> str:
    """Return the line in a few words: what, of which document, and how it went."""
    subject = line.get("name") or line.get("flow") or line.get("reader") or line.get("step") or ""
    left_out = {"event", "run", "document", "answer", "name", "flow", "reader"}
    told = ", ".join(f"{name} {value}" for name, value in line.items() if name not in left_out)
    return f"{str(line['event']).replace('-', ' ')}: {subject}" + (f" ({told})" if told else "")


def step_outcome(record: StepRecord) -> str:
    if record.error:
        return "stopped" if error_kind(record) == STOPPED else "failed"
    return "remembered" if record.cache_hit else "done"


def error_kind(record: StepRecord) -> str:
    """Return the kind of error alone: its words may quote a question or a document, and stand in the lineage."""
    return record.error.partition(":")[0]


def _of_step(record: StepRecord, names: Mapping[str, str]) -> dict[str, str | int | float]:
    return {
        "step": record.step,
        **_subject(record.subject, names),
        "outcome": (outcome := step_outcome(record)),
        "seconds": record.seconds,
        "attempts": record.attempts,
        "error": error_kind(record) if outcome == "failed" else "",
    }


def _of_call(call: ModelCall, names: Mapping[str, str]) -> dict[str, str | int | float]:
    return {
        "purpose": call.purpose,
        **_subject(call.subject, names),
        "model": call.model,
        "outcome": call.outcome.value,
        "seconds": call.seconds,
        "attempts": call.attempts,
        "input_tokens": call.input_tokens,
        "output_tokens": call.output_tokens,
    }


def _subject(subject: str, names: Mapping[str, str]) -> dict[str, str]:
    return {"document": subject, "name": names[subject]} if subject in names else {"subject": subject}


def _shown(value: str | int | float) -> str | int | float:
    """Return a text so that no sign of it does anything: control signs, surrogates and changes of direction are written out."""
    if isinstance(value, float):
        return round(value, 4)
    if not isinstance(value, str):
        return value
    cut = value if len(value) <= LONGEST_TEXT else value[: LONGEST_TEXT - 1] + "…"
    return "".join(sign if sign.isprintable() else sign.encode("unicode_escape").decode() for sign in cut)
