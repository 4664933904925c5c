"""The forms of the replies that a question asks for: short reasons first, and bounds on everything, so that each of them ends."""

from typing import Annotated, Literal

from pydantic import Field, RootModel

from tasks.algorithms.proof.replies import why_unusable
from tasks.asking.request import clean
from tasks.models.chat.forms import Form, characters, items
from tasks.models.chat.worker import QUOTE_CHARACTERS, Cited
from tasks.prompts.prompt import load_prompt

PAIRS_AT_ONCE = 8
"""Pairs of passages that one call rates, at most."""
MOST_ITEMS = 24


class Keywords(Form):
    """Words of the question to search by."""

    keywords: Annotated[list[Annotated[str, characters(60)]], items(12)]


class ShortAnswer(RootModel[Annotated[str, characters(160)]]):
    """What a small model answers, a string alone: asked for an object, a model of 135M is right half as often."""


class PlainAnswer(Form):
    """What a model answers in one call, and the words of the pages that say it. Somebody waits for the answer: it comes first.

    Asked for its kind, one of 1.5B calls everything a yes or a no, and one of 0.5B nothing an answer.
    """

    answer: Annotated[str, characters(300)]
    quotes: Annotated[list[Annotated[str, characters(QUOTE_CHARACTERS)]], items(4)]


class Comparison(Form):
    """Whether two answers cannot both be true."""

    reason: Annotated[str, characters(200)]
    contradict: bool


Pair = Annotated[int, Field(ge=1, le=PAIRS_AT_ONCE)]


# A reason before each rate, of some 60 characters, would nearly double what is written for 32 pairs, and nothing reads it.
class RatedBridge(Form):
    """Whether two passages have to do with each other for the question, and how much, 0..1."""

    pair: Pair
    connected: bool
    strength: float


class RatedBridges(Form):
    """A rate for each pair."""

    ratings: Annotated[list[RatedBridge], items(PAIRS_AT_ONCE)]


class RatedStep(Form):
    """How much reading one passage after the other helps, 0..1."""

    pair: Pair
    usefulness: float


class RatedSteps(Form):
    """A rate for each pair."""

    ratings: Annotated[list[RatedStep], items(PAIRS_AT_ONCE)]


class WholeAnswer(Form):
    """The answer of all paths together."""

    thought: Annotated[str, characters(400)]
    kind: Literal["number", "list", "yes_no", "string", "none"]
    answer: Annotated[str, characters(500)]
    items: Annotated[list[Annotated[str, characters(60)]], items(MOST_ITEMS)]
    whole: bool
    missing: Annotated[str, characters(120)]
    citations: Annotated[list[Cited], items(8)]


def why_wrong(value: PlainAnswer | ShortAnswer, question: str, shown: str) -> str:
    """Return what makes a plain or a short reply unusable, in words for the model: what we said ourselves is no answer either."""
    answer = clean(value.answer if isinstance(value, PlainAnswer) else value.root)
    return why_unusable(question, answer, shown) or why_unusable(load_prompt("mend_reply").text, answer, shown)
