"""Arithmetic on values that are quoted, done again: a difference, a sum, a ratio, a share, a count, a comparison.

The question says which of them may be meant. A result that several pairs of values give proves nothing: it is chance.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, permutations
from unicodedata import category

from tasks.algorithms.metrics.answers import answer_words, meaningful
from tasks.algorithms.metrics.numbers import StatedNumber, stated_numbers

MOST_VALUES = 12
"""More numbers than a model adds up are the row of a large table, and give any result."""
DIFFERENCE = re.compile(
    r"\b(?:differ\w*|chang\w*|(?:in|de)creas\w*|gr[eo]w\w*|f[ae]ll\w*|drop\w*|r[io]se\w*|declin\w*|reduc\w*|improv\w*|gain\w*"
    r"|more|less|fewer|\w+er than|by how m(?:any|uch)|gap|exceed\w*|lost?|lose)\b",
    re.IGNORECASE,
)
SUM = re.compile(r"\b(?:totals?|sum|altogether|together|combined|overall|in all|both|how m(?:any|uch))\b", re.IGNORECASE)
RATIO = re.compile(r"\b(?:ratio|times|shares?|per ?cent\w*|proportion|average|mean|rate|per)\b|%", re.IGNORECASE)
COUNT = re.compile(r"\b(?:(?<!by )how many|number of|count)\b", re.IGNORECASE)
MORE = re.compile(r"\b(?:more|greater|higher|larger|longer|deeper|bigger|later|above|exceed\w*|over)\b", re.IGNORECASE)
FEWER = re.compile(r"\b(?:less|fewer|lower|smaller|shorter|earlier|below|under)\b", re.IGNORECASE)
"""Who is older was born earlier, or has more years: that is not said."""


@dataclass(frozen=True, slots=True)
class Value:
    """A number as it is written in the piece at a place, with the words of that piece."""

    number: StatedNumber
    written: str
    place: int
    words: frozenset[str]

    @property
    def currency(self) -> str:
        return "".join(sign for sign in self.written if category(sign) == "Sc")


def values_of(text: str, place: int) -> Iterator[Value]:
    """Yield the numbers of a piece but those that name something."""
    words = frozenset(answer_words(text))
    for number in stated_numbers(text):
        if not number.aside:
            yield Value(number, text[number.start : number.end].strip(), place, words)


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
        for values, words, result, places in _results(question, given, percent=wanted.percent)
        if result * wanted.value > 0 and _is_rounded(result, wanted, written)
    }
    return (next(iter(found.values())), next(iter(found))[1]) if len({values for values, _words in found}) == 1 else None


Result = tuple[frozenset[float], str, float, tuple[int, ...]]


def _results(question: str, values: Sequence[Value], *, percent: bool) -> Iterator[Result]:
    """Yield what the values give: which these are, in words, the result, and where they stand."""
    distinct = dict[tuple[float, bool], Value]()
    for value in values:
        distinct.setdefault((value.number.value, value.number.percent), value)
    for one, other in permutations(distinct.values(), 2):
        if one.number.percent == other.number.percent and one.currency == other.currency:
            both, places = frozenset((one.number.value, other.number.value)), tuple(dict.fromkeys((one.place, other.place)))
            yield from ((both, words, result, places) for words, result in _results_of(question, one, other, percent=percent))
    for size in (2, len(distinct)) if SUM.search(question) else ():
        for some in (
            combinations(distinct.values(), size) if size > 1 and len({one.currency for one in distinct.values()}) == 1 else ()
        ):
            terms = frozenset(value.number.value for value in some)
            words = " + ".join(value.written for value in some)
            yield terms, words, sum(terms), tuple(dict.fromkeys(value.place for value in some))


def _results_of(question: str, one: Value, other: Value, *, percent: bool) -> Iterator[tuple[str, float]]:
    """Yield what one value and another give, in words and as a number."""
    a, b = one.number.value, other.number.value
    if DIFFERENCE.search(question):
        yield f"{one.written} - {other.written}", a - b
    if DIFFERENCE.search(question) and percent and b and not one.number.percent:
        yield f"({one.written} - {other.written}) / {other.written}", 100 * (a - b) / abs(b)
    if RATIO.search(question) and b:
        yield f"{one.written} / {other.written}", (100 if percent else 1) * a / b


def _is_rounded(result: float, wanted: StatedNumber, written: str) -> bool:
    """Say whether a result, rounded as the number is written, is that number."""
    decimals = len(re.sub(r"[^\d.]", "", written).partition(".")[2])
    return round(abs(result) / wanted.scale, decimals) == round(abs(wanted.value) / wanted.scale, decimals) != 0


def count_pieces(question: str, text: str, cited: Sequence[int]) -> tuple[tuple[int, ...], str] | None:
    """Return what is cited, and that it was counted, where a question asks how many and an answer quotes each of them."""
    numbers = [number.value for number in stated_numbers(text) if not number.aside]
    if COUNT.search(question) and len(cited) > 1 and numbers == [len(cited)]:
        return tuple(cited), f"{len(cited)} quotes counted"
    return None


def compare(question: str, values: Sequence[Value]) -> tuple[bool, tuple[int, ...], str] | None:
    """Return whether the answer is yes, by which values, and how they compare; None where that cannot be said.

    There are two, each in a piece of its own and the only one there that the question does not say, beside a name of it.
    """
    asked = meaningful(answer_words(question))
    new = [value for value in values if f"{value.number.value:.15g}" not in asked]
    more, fewer = MORE.search(question) is not None, FEWER.search(question) is not None
    if len(new) != 2 or new[0].place == new[1].place or more == fewer or new[0].number.percent != new[1].number.percent:
        return None
    names = [[word for word in asked if word in one.words and word not in other.words] for one, other in permutations(new)]
    if not all(names):
        return None
    (_, first), (_, second) = sorted(zip(names, new, strict=True), key=lambda named: asked.index(named[0][0]))
    a, b = first.number.value, second.number.value
    sign = "=" if a == b else ">" if a > b else "<"
    return (a > b if more else a < b), (first.place, second.place), f"{first.written} {sign} {second.written}"
