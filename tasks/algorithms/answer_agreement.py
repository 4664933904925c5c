"""How far answers agree: equal ones do unasked, of the different ones some pairs are compared (section 3.5.2)."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from itertools import combinations

Pair = tuple[int, int]

_BETWEEN_DIGITS = re.compile(r"(?<=\d),(?=\d{3})")
_EDGES = " \t\n.,;:!?\"'()[]“”‘’"  # noqa: RUF001 - quotation marks as answers have them
_ARTICLE = re.compile(r"^(?:the|an?)\s+")


def plain_answer(answer: str) -> str:
    """Return an answer without what makes no difference: capitals, spaces, signs around it, an article, commas in numbers."""
    said = " ".join(_BETWEEN_DIGITS.sub("", answer).casefold().split()).strip(_EDGES)
    return _ARTICLE.sub("", said)


def different_answers(answers: Sequence[str]) -> list[list[int]]:
    """Return the places of equal answers together, in the order in which each is first given."""
    groups: dict[str, list[int]] = {}
    for place, answer in enumerate(answers):
        groups.setdefault(plain_answer(answer), []).append(place)
    return list(groups.values())


def pairs_to_compare(groups: int, *, limit: int) -> list[Pair]:
    """Return at most `limit` pairs of different answers, those of the earliest first."""
    return sorted(combinations(range(groups), 2), key=lambda pair: (pair[0] + pair[1], pair))[:limit]


def agreement(*, sizes: Sequence[int], compared: Collection[Pair], contradicting: Collection[Pair]) -> float:
    """Return the share of all known pairs of answers that do not contradict each other, 0..1; 1 where none is known.

    Args:
        sizes: how many answers are equal, of each kind.
        compared: pairs of kinds whose relation is known; others do not count.
        contradicting: those of them that contradict each other.
    """
    equal = sum(size * (size - 1) // 2 for size in sizes)
    known = equal + sum(sizes[first] * sizes[second] for first, second in compared)
    against = sum(sizes[first] * sizes[second] for first, second in contradicting)
    return 1.0 - against / known if known else 1.0
