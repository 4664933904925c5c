"""Which number an answer tells: one that stands among many was not told, and that it is there proves nothing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from tasks.algorithms.answer_words import BOUNDS, NEGATIONS, NUMBER_REACH
from tasks.algorithms.stated_numbers import StatedNumber, stated_numbers

_WORDS = "about approximately around roughly nearly almost some over circa ca only in on at usd us eur gbp inr rs"
_LEADING = frozenset(_WORDS.split())
"""Words that may stand before the number that an answer opens with."""
_ANOTHER = re.compile(r"\s*(?:[,;/|\u2013\u2014-]|\b(?:and|to)\b)\s*|.*\bor\b.*", re.DOTALL)
_CLAUSE = re.compile(r"[,;:.!?]\s|\s[\u2013\u2014-]\s|\bbut\b")
"""Where what was denied ends: "No, 45", "not 40 but 45"."""


@dataclass(frozen=True, slots=True)
class ToldNumber:
    """The number that a statement tells, and whether the statement opens with it."""

    number: StatedNumber
    opens: bool


def told_number(statement: str, *, year: bool, turned: frozenset[str]) -> ToldNumber | None:
    """Return the only number of a statement, or the one that it opens with; None where it has none, or several.

    Numbers in names ("GPT-4"), of places ("Table 3") and years do not count beside others; where a `year` is looked for, it is
    the years that count. "21 %, up from 18 %" opens with its number, "3, 4 or 5" and the row of a table do not.

    Args:
        statement: what was said.
        year: whether a year is looked for.
        turned: the words that deny or bound the number that is looked for (`turning`). One with others was not told, nor one
            that is not denied where that one is; a bound may be left out, as other words may.
    """
    numbers = [number for number in stated_numbers(statement) if _is_meant(turning(statement, number), turned)]
    plain = [number for number in numbers if not number.aside]
    dated = [number for number in plain if number.year]
    values = [number for number in plain if not number.year]
    counted = (dated if year else values) or plain or numbers
    if not counted:
        return None
    first = counted[0]
    opens = _opens(statement, first, counted)
    if opens or len({(number.value, number.percent) for number in counted}) == 1:
        return ToldNumber(first, opens)
    return None


def turning(statement: str, number: StatedNumber) -> frozenset[str]:
    """Return the words shortly before a number, in its clause, that deny it or make it a bound: "not", "less" and "than"."""
    clause = _CLAUSE.split(statement[: number.start])[-1]
    before = re.findall(r"\w+", re.sub("['\u2019]", "", clause).casefold())
    return (BOUNDS | NEGATIONS).intersection(before[-NUMBER_REACH:])


def _is_meant(said: frozenset[str], turned: frozenset[str]) -> bool:
    return said <= turned and turned & NEGATIONS <= said


def _opens(statement: str, first: StatedNumber, counted: Sequence[StatedNumber]) -> bool:
    """Tell whether nothing that tells stands before the first number, and no other number is offered in its place."""
    before = re.findall(r"\w+", statement[: first.start].casefold())
    offered = len(counted) > 1 and _ANOTHER.fullmatch(statement[first.end : counted[1].start]) is not None
    return " | " not in statement and not offered and _LEADING.issuperset(before)
