"""Arithmetic on values that are quoted, done again: a difference, a sum, a ratio, a share, a count, a comparison.

The question says which of them may be meant. A result that several pairs of values give proves nothing: it is chance.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations

from tasks.algorithms.metrics.answers import NEGATIONS, answer_words, meaningful
from tasks.algorithms.metrics.numbers import StatedNumber, stated_numbers
from tasks.algorithms.proof.units import Quantity, currencies_in, quantities_in

MOST_VALUES = 12
"""More numbers than a model adds up are the row of a large table, and give any result."""
_RISING, _FALLING = (
    r"increase\w*|increasing|gr[eo]w\w*|r[io]se\w*|gain\w*",
    r"decrease\w*|decreasing|f[ae]ll\w*|drop\w*|declin\w*|reduc\w*|lost?|lose",
)
RISE, FALL = (re.compile(rf"\b(?:{words})\b", re.IGNORECASE) for words in (_RISING, _FALLING))
DIFFERENCE = re.compile(
    rf"\b(?:{_RISING}|{_FALLING}|differ\w*|chang\w*|improv\w*|more|less|fewer|\w+er than|by how m(?:any|uch)|gap|exceed\w*)\b",
    re.IGNORECASE,
)
SUM = re.compile(r"\b(?:totals?|sum|altogether|together|combined|overall|in all|both|how m(?:any|uch))\b", re.IGNORECASE)
RATIO = re.compile(r"\b(?:ratio|times|shares?|per ?cent\w*|proportion|average|mean|rate|per)\b|%", re.IGNORECASE)
ARITHMETIC = re.compile("|".join(words.pattern for words in (DIFFERENCE, SUM, RATIO)), re.IGNORECASE)
COUNT = re.compile(r"\b(?:(?<!by )how many|number of|count)\b", re.IGNORECASE)
MORE = re.compile(r"\b(?:more|greater|higher|larger|longer|deeper|bigger|later|above|exceed\w*|over)\b", re.IGNORECASE)
FEWER = re.compile(r"\b(?:less|fewer|lower|smaller|shorter|earlier|below|under)\b", re.IGNORECASE)
"""Who is older was born earlier, or has more years: that is not said."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number of the piece at a place, with the words of that piece."""

    found: Quantity
    place: int
    words: frozenset[str]

    @property
    def number(self) -> StatedNumber:
        return self.found.number

    @property
    def written(self) -> str:
        return self.found.written

    def is_like(self, other: "Value") -> bool:
        """Say whether both count the same thing, as far as that is written."""
        units = {self.found.unit, other.found.unit} - {""}
        alike = currencies_in(self.written) == currencies_in(other.written)
        return alike and self.number.percent == other.number.percent and len(units) < 2


def values_of(text: str, place: int) -> Iterator[Value]:
    """Yield the numbers of a piece but those that name something."""
    words = frozenset(answer_words(text))
    return (Value(found, place, words) for found in quantities_in(text) if not found.number.aside)


def compute(question: str, text: str, values: Sequence[Value]) -> tuple[tuple[int, ...], str] | None:
    """Return the places of the values that give the only number of a text, and how; None where none or several do."""
    numbers = [number for number in stated_numbers(text) if not number.aside]
    given = [value for value in values if not value.number.year or DIFFERENCE.search(question)]
    if len(numbers) != 1 or len({value.number.value for value in given}) > MOST_VALUES:
        return None
    wanted = numbers[0]
    written = text[wanted.start : wanted.end].strip()
    found = {
        (values, f"{words} = {written}"): places
        for values, words, result, places in _results(question, text, given, percent=wanted.percent)
        if result * wanted.value > 0 and _is_rounded(result, wanted, written)
    }
    return (next(iter(found.values())), next(iter(found))[1]) if len({values for values, _words in found}) == 1 else None


Result = tuple[frozenset[float], str, float, tuple[int, ...]]


def _results(question: str, text: str, values: Sequence[Value], *, percent: bool) -> Iterator[Result]:
    """Yield what the values give: which these are, in words, the result, and where they stand."""
    distinct = dict[tuple[float, bool], Value]()
    for value in values:
        distinct.setdefault((value.number.value, value.number.percent), value)
    for one, other in permutations(distinct.values(), 2):
        if one.is_like(other):
            both, places = frozenset((one.number.value, other.number.value)), tuple(dict.fromkeys((one.place, other.place)))
            yield from ((both, words, result, places) for words, result in _results_of(question, text, one, other, percent=percent))
    can_be_added = len(distinct) > 1 and all(one.is_like(other) for one, other in combinations(distinct.values(), 2))
    for size in (2, len(distinct)) if can_be_added and SUM.search(question) else ():
        for some in combinations(distinct.values(), size):
            terms = frozenset(value.number.value for value in some)
            words = " + ".join(value.written for value in some)
            yield terms, words, sum(terms), tuple(dict.fromkeys(value.place for value in some))


def _results_of(question: str, text: str, one: Value, other: Value, *, percent: bool) -> Iterator[tuple[str, float]]:
    """Yield what one value and another give, in words and as a number."""
    a, b = one.number.value, other.number.value
    direction = _direction(text) or _direction(question)
    if DIFFERENCE.search(question) and _is_in_order(one, other, direction):
        yield f"{one.written} - {other.written}", a - b
        base = one if direction < 0 < a - b else other
        if percent and base.number.value and not base.number.percent:
            yield f"({one.written} - {other.written}) / {base.written}", 100 * (a - b) / abs(base.number.value)
    if RATIO.search(question) and b:
        yield f"{one.written} / {other.written}", (100 if percent else 1) * a / b


def _direction(words: str) -> int:
    """Return 1 where words speak of a rise, -1 of a fall, 0 of neither or both."""
    return (RISE.search(words) is not None) - (FALL.search(words) is not None)


def _is_in_order(one: Value, other: Value, direction: int) -> bool:
    """Say whether one value less another is the change that is spoken of, where their years tell which is the later one."""
    a, b = one.found.year, other.found.year
    if not (a and b) or a == b:
        return True
    is_more = one.number.value > other.number.value
    return (direction >= 0 or not is_more) if a > b else (direction <= 0 and is_more)


def _is_rounded(result: float, wanted: StatedNumber, written: str) -> bool:
    """Say whether a result, rounded as the number is written, is that number."""
    decimals = len(re.sub(r"[^\d.]", "", written).partition(".")[2])
    return round(abs(result) / wanted.scale, decimals) == round(abs(wanted.value) / wanted.scale, decimals) != 0


def count_pieces(question: str, text: str, quoted: Mapping[int, str]) -> tuple[tuple[int, ...], str] | None:
    """Return the places of what is quoted, and that it was counted, where a question asks how many and each quote is one.

    One that denies something, or has a number of its own, is not one.
    """
    numbers = [number.value for number in stated_numbers(text) if not number.aside]
    if not COUNT.search(question) or len(quoted) < 2 or numbers != [len(quoted)]:
        return None
    plain = all(NEGATIONS.isdisjoint(answer_words(words)) for words in quoted.values())
    own = [number for words in quoted.values() for number in stated_numbers(words) if not (number.aside or number.year)]
    return (tuple(quoted), f"{len(quoted)} quotes counted") if plain and not own else None


def compare(question: str, values: Sequence[Value]) -> tuple[bool, tuple[int, ...], str] | None:
    """Return whether the answer is yes, by which values, and how they compare; None where that cannot be said.

    There are two, each in a piece of its own and the only one there that the question does not say, beside a name of it.
    """
    asked = meaningful(answer_words(question))
    new = [value for value in values if f"{value.number.value:.15g}" not in asked]
    more, fewer = MORE.search(question) is not None, FEWER.search(question) is not None
    if len(new) != 2 or new[0].place == new[1].place or more == fewer or not new[0].is_like(new[1]):
        return None
    names = [[word for word in asked if word in one.words and word not in other.words] for one, other in permutations(new)]
    if not all(names):
        return None
    (_, first), (_, second) = sorted(zip(names, new, strict=True), key=lambda named: asked.index(named[0][0]))
    a, b = first.number.value, second.number.value
    sign = "=" if a == b else ">" if a > b else "<"
    return (a > b if more else a < b), (first.place, second.place), f"{first.written} {sign} {second.written}"
