"""One of each thing that happens in a run."""

from storage.records.steps import StepRecord
from tasks.events import (
    CallEnded,
    DocumentBegan,
    DocumentEnded,
    QuestionBegan,
    QuestionEnded,
    RunBegan,
    RunEnded,
    StepEnded,
)
from tasks.models.chat.call import ModelCall
from tasks.models.chat.errors import Outcome

DOCUMENT = "d" * 64


def step(error="", *, cached=False, subject=DOCUMENT, seconds=1.23456):
    record = StepRecord("r1", "parse", "1", "k", subject, "2026-01-01", seconds, 1, cached, {}, error)
    return StepEnded("r1", record)


def call(outcome=Outcome.OK, attempts=1):
    ended_call = ModelCall(
        "analyze", DOCUMENT, "node 3", "m", "h", "k", 100, 20, 0.5, 1.5, attempts, outcome, "it said: secret words"
    )
    return CallEnded("r1", ended_call)


def began(name="report.pdf"):
    return DocumentBegan("r1", DOCUMENT, name)


def ended(state="ready", error="", name="report.pdf"):
    return DocumentEnded("r1", DOCUMENT, name, state, 12, 340, 5.0, error)


def question(status="answered", error="", seconds=0.3):
    return QuestionEnded("r1", "a1", "flow", status, seconds, error)


QUESTION_BEGAN = QuestionBegan("r1", "a1", "flow")
RUN_BEGAN = RunBegan("r1", "ingest", "small")
RUN_ENDED = RunEnded("r1", "ingest", "small", "ended", 9.0)
RUN_BROKE = RunEnded("r1", "ingest", "small", "ended by an error", 9.0)
