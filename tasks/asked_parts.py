"""What a question asks, part by part, with what each of its words weighs for the part."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from tasks.algorithms.kinds import AnswerKind, expected_kind, question_parts
from tasks.algorithms.places import named_places
from tasks.algorithms.question_terms import question_terms
from tasks.algorithms.quotes import Scores, term_shares
from tasks.question import NAMED_PLACE, Question


@dataclass(frozen=True, slots=True)
class Part:
    """A thing that the question asks: its words, the kind of its answer, and what the stems of the question weigh for it, (m,).

    `only_place` says that it asks what stands in a place that it names, and nothing else.
    `asked` weighs what the part asks for alone; `all` the names of the whole question as well, and a share of its other words:
    "what did it cost" speaks of what stands before.
    """

    text: str
    kind: AnswerKind
    asked: Scores
    all: Scores
    only_place: bool


def parts_of(question: Question, rarity: Mapping[str, float], context_share: float) -> Iterator[Part]:
    """Yield the parts of the question; what has no words of its own is no part.

    Args:
        question: as it is understood.
        rarity: what each stem of the question weighs.
        context_share: what the rest of the question counts for a part of it, names aside: they count whole.
    """
    texts = question_parts(question.text)
    for text in texts if len(texts) > 1 else (question.text,):
        own = {*question_terms(text).stems, *([NAMED_PLACE] if named_places(text) else [])} & rarity.keys()
        # A name says of whom the question speaks, not what it asks.
        names = set(question.terms.anchors)
        asked = own - names or own
        if own:
            yield Part(
                text=text,
                kind=expected_kind(text),
                asked=term_shares([weight if stem in asked else 0.0 for stem, weight in rarity.items()]),
                all=term_shares([weight if stem in own | names else context_share * weight for stem, weight in rarity.items()]),
                only_place=asked == {NAMED_PLACE},
            )
