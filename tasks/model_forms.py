"""What the chat model may reply when a question is asked: a value of one of these forms, and nothing else."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict


class Form(BaseModel):
    """Every field is given, no other is."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Keywords(Form):
    """Words of the question to search by."""

    keywords: list[str]


class Cited(Form):
    """Words of a passage, by the id that it was shown under."""

    passage: str
    quote: str


class PathAnswer(Form):
    """What one path says to the question."""

    facts: str
    status: Literal["supported", "not_reported"]
    whole: bool
    answer: str
    citations: list[Cited]


class Comparison(Form):
    """Whether two answers cannot both be true."""

    reason: str
    contradict: bool


class RatedBridge(Form):
    """Whether two passages have to do with each other for the question, and how much, 0..1."""

    pair: int
    connected: bool
    strength: float


class RatedBridges(Form):
    """A rate for each pair."""

    ratings: list[RatedBridge]


class RatedStep(Form):
    """How much reading one passage after the other helps, 0..1."""

    pair: int
    usefulness: float


class RatedSteps(Form):
    """A rate for each pair."""

    ratings: list[RatedStep]


class WholeAnswer(Form):
    """The answer of all paths together."""

    thought: str
    kind: Literal["number", "list", "yes_no", "string", "none"]
    answer: str
    items: list[str]
    whole: bool
    missing: str
    citations: list[Cited]
