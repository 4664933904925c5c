"""What belongs to a number beside its value: the currency, what it counts, and the year that it is of."""

from collections.abc import Iterator
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from functools import lru_cache
from unicodedata import category

from tasks.algorithms.metrics.answers import answer_words, meaningful
from tasks.algorithms.metrics.numbers import StatedNumber, stated_numbers

CURRENCY_WORDS = {"usd": "$", "dollar": "$", "eur": "€", "euro": "€", "gbp": "£", "jpy": "¥", "yen": "¥", "inr": "₹", "rupe": "₹"}
"""By their stems. A pound may be a weight."""


@lru_cache(maxsize=4096)
def currencies_in(text: str) -> frozenset[str]:
    """Return the signs of the currencies that a text names."""
    signs = frozenset(sign for sign in text if category(sign) == "Sc")
    return signs | {CURRENCY_WORDS[word] for word in answer_words(text) if word in CURRENCY_WORDS}


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number as it is written; `year` and `unit`, the word behind it, are "" where none is named."""

    number: StatedNumber
    written: str
    unit: str
    year: str


def quantities_in(text: str) -> Iterator[Quantity]:
    """Yield the numbers of a sentence or a row; a row's year is that of its cell.

    In a sentence of several, years stand all before their numbers or all behind them, as the first of them does.
    """
    for cell in text.split(" | "):
        numbers = stated_numbers(cell)
        years = [number for number in numbers if number.year]
        for number in numbers:
            before, behind = ([year for year in years if (year.start < number.start) == is_before] for is_before in (True, False))
            beside = before[-1:] if years and numbers[0].year else behind[:1]
            of = "" if number.year else "".join(f"{year.value:.15g}" for year in (years if len(years) == 1 else beside))
            yield Quantity(number, cell[number.start : number.end].strip(), _unit_at(cell[number.end :]), of)


def _unit_at(text: str) -> str:
    return "".join(meaningful(answer_words(text)[:1]))


def numbers_of_other_years(text: str, years: AbstractSet[str]) -> set[str]:
    """Return the numbers, as `answer_words` has them, that a text gives for other years only, where it names one of these."""
    if not years:
        return set()
    found = [(f"{one.number.value:.15g}", one.year) for one in quantities_in(text)]
    if years.isdisjoint(year for _word, year in found):
        return set()
    return {word for word, _year in found} - {word for word, year in found if year in years or not year}
