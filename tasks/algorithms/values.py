"""Values in quotes: numbers and dates with their subjects, and whether quotes of one thing give the same."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import combinations, islice, product

from tasks.algorithms.layout.captions import read_label
from tasks.algorithms.text.stems import stem, words_of
from tasks.algorithms.text.words import STOP_WORDS

_SCALES = {"thousand": 1e3, "k": 1e3, "million": 1e6, "mn": 1e6, "m": 1e6, "billion": 1e9, "bn": 1e9, "trillion": 1e12}
_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_MONTH = (
    r"(?P<month>Jan(?:uary)?|Feb(?:ruary)?|Mar(?:ch)?|Apr(?:il)?|May|June?|July?|Aug(?:ust)?|Sept?(?:ember)?|Oct(?:ober)?"
    r"|Nov(?:ember)?|Dec(?:ember)?)\b\.?"
)
_YEAR = r"(?<![\w.,\u00a3$\u20ac\u00a5-])(?P<year>(?:1[5-9]|20)\d\d)(?![\w%]|[.,]\d)"
_DATE = re.compile(
    rf"(?:\b(?P<day>\d{{1,2}})\s+)?\b{_MONTH}(?:\s+(?P<other_day>\d{{1,2}})\b(?!\s*%|[.\d]))?(?:,?\s+(?P<with_year>(?:1[5-9]|20)\d\d)\b)?|{_YEAR}"
)
_NUMBER = re.compile(
    r"(?<![\w.,])(?<!\w-)(?P<minus>[(\u2212-]?)[\u00a3$\u20ac\u00a5]?\s?(?P<number>\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)(?![\d.,]*\d|\w*-\w)"
    r"(?:\s?(?P<percent>%|per\s?cent\b)|\s?(?P<scale>thousand|million|billion|trillion|mn|bn|[mk])\b)?",
    re.IGNORECASE,
)
_CLAUSE = re.compile(r"(?:[,;]\s|\s(?:and|but|while|against|than)\s)(?!(?:1[5-9]|20)\d\d\b)", re.IGNORECASE)
_POINTER = re.compile(
    r"\b(?:paragraph|page|section|figure|fig\.|table|chart|exhibit|note|item|chapter|step|appendix|equation)s?\s+\d[\d.]*",
    re.IGNORECASE,
)
_COLUMN = re.compile(r"(?P<header>[^:|]{1,80}):\s+(?P<cell>.+)", re.DOTALL)
_LONGEST_UNIT = 12  # characters that stand beside the number in a cell


class ValueKind(StrEnum):
    """What a value is; only values of one kind can be compared."""

    NUMBER = "number"
    PERCENTAGE = "percentage"
    DATE = "date"


@dataclass(frozen=True, slots=True)
class QuotedValue:
    """A value, what it is of, and when.

    `number` is scaled to ones ("184.6 million" is 184,600,000; a date is 0), `date` is "2024", "2024-03" or "2024-03-12". `subject`
    holds the stems of the row and column or of the words before it, `dates` the years and dates that the value holds for.
    """

    kind: ValueKind
    subject: frozenset[str]
    dates: frozenset[str]
    number: float
    date: str = ""


def quoted_values(text: str) -> list[QuotedValue]:
    """Return the values of a sentence, or of a table's row as ingest writes it ("caption | header: cell | ..."), in order.

    Years and dates say when a number holds; where a text has no number they are its values themselves. Left out is what is said
    of nothing, what may hold for either of two years, and where the text says several values of one thing: "from 31 to 58".
    """
    values = [value for value in dict.fromkeys(_of_row(text) if " | " in text else _of_sentence(text)) if value.subject]
    times = Counter((value.kind, value.subject, value.dates) for value in values)
    return [value for value in values if times[value.kind, value.subject, value.dates] == 1]


def _of_row(text: str) -> Iterator[QuotedValue]:
    """Yield each cell that is a number or date: the row's own words and those of its column say what it is."""
    parts = [_read_part(part) for part in text.split(" | ")]
    cells = [(header, cell) for header, cell in parts if header]
    # What opens a row names it, also where it is a year.
    named = [cell for place, (_, cell) in enumerate(cells) if place == 0 or not (_number_in(cell) or _DATE.fullmatch(cell))]
    label = " ".join(named) or " ".join(cell for header, cell in parts if not header)
    for header, cell in cells[1:]:
        of = f"{label} {header}"
        if match := _number_in(cell):
            yield _number(match, of, of, is_percentage="%" in header or "per cent" in header.casefold())
        elif _DATE.fullmatch(cell):
            yield QuotedValue(ValueKind.DATE, _stems(of), frozenset(), 0.0, _dates(cell)[0])


def _read_part(part: str) -> tuple[str, str]:
    """Return header and cell of a part of a row; no header for a caption or a cell without one."""
    match = None if read_label(part) else _COLUMN.fullmatch(part)
    return (match["header"], match["cell"]) if match else ("", part)


def _number_in(cell: str) -> re.Match[str] | None:
    """Return the number that a cell is, its unit included; None where it is a date, or words that hold a number."""
    match = _NUMBER.search(cell)
    if match is None or _DATE.fullmatch(cell) or len(cell) - len(match[0]) > _LONGEST_UNIT:
        return None
    return match


def _of_sentence(text: str) -> Iterator[QuotedValue]:
    """Yield each number with the words before it; one that follows at once ("from 31 to 58") has those of the number before."""
    values_only = text
    for pattern in (_DATE, _POINTER):
        values_only = pattern.sub(lambda match: " " * len(match[0]), values_only)
    matches = list(_NUMBER.finditer(values_only))
    ends = [0, *(match.end() for match in matches)]
    starts = [*(match.start() for match in matches), len(text)]
    words = ""
    for place, match in enumerate(matches):
        before, after = text[ends[place] : starts[place]], text[ends[place + 1] : starts[place + 1]]
        words = before if _stems(before) else words
        nearest = next((part for part in (_CLAUSE.split(before)[-1], _CLAUSE.split(after)[0], text) if _dates(part)), "")
        if len(_dates(nearest)) < 2:
            yield _number(match, words, nearest, is_percentage=False)
    if not matches:
        yield from (QuotedValue(ValueKind.DATE, _stems(text), frozenset(), 0.0, date) for date in _dates(text)[:1])


def _number(match: re.Match[str], of: str, when: str, *, is_percentage: bool) -> QuotedValue:
    scale = _SCALES[match["scale"].casefold()] if match["scale"] else 1.0
    sign = -1.0 if match["minus"] else 1.0
    kind = ValueKind.PERCENTAGE if match["percent"] or is_percentage else ValueKind.NUMBER
    return QuotedValue(kind, _stems(of), frozenset(_dates(when)), sign * scale * float(match["number"].replace(",", "")))


def _dates(text: str) -> list[str]:
    """Return the dates and years of a text as "2024-03-12", as much of it as is said; a month without a year is "--03"."""
    found: dict[str, None] = {}
    for match in _DATE.finditer(text):
        year = match["year"] or match["with_year"] or "-"
        day = match["day"] or match["other_day"]
        month = f"-{_MONTHS.index(match['month'][:3].casefold()) + 1:02}" if match["month"] else ""
        found[f"{year}{month}" + (f"-{int(day):02}" if day else "")] = None
    return list(found)


def _stems(text: str) -> frozenset[str]:
    """Return the stems of a text's content words; numbers are in it only as parts of names ("CS-09")."""
    words = (word for word in words_of(_DATE.sub(" ", text)) if len(word) > 1 and word.casefold() not in STOP_WORDS)
    return frozenset(stem(word) for word in words if any(sign.isalpha() for sign in word) and word.casefold() not in _SCALES)


def value_consistency(
    *, quotes: Sequence[str], sources: Sequence[int], same_subject: float, tolerance: float, most_pairs: int
) -> float:
    """Return the share of comparable pairs of values that agree, 0..1; 1 where no two values can be compared.

    Two values can be compared when they stand in quotes of different sources, are of one kind, hold for the same dates and are
    said of the same row or subject. Rows of one table, sentences of one passage do not contradict each other.

    Args:
        quotes: the best first; a text that is given twice counts once.
        sources: the node that each is taken from.
        same_subject: share of the words of two subjects, from which on they are the same.
        tolerance: relative difference up to which two numbers agree.
        most_pairs: comparable pairs looked at, in the order of the quotes.
    """
    firsts = dict(zip(reversed(quotes), reversed(sources), strict=True))
    values = [(firsts[text], quoted_values(text)) for text in dict.fromkeys(quotes)]
    pairs = (
        pair
        for (source, first), (other_source, second) in combinations(values, 2)
        if source != other_source
        for pair in product(first, second)
        if _comparable(*pair, same_subject)
    )
    agreements = [_agree(first, second, tolerance) for first, second in islice(pairs, most_pairs)]
    return sum(agreements) / len(agreements) if agreements else 1.0


def _comparable(first: QuotedValue, second: QuotedValue, same_subject: float) -> bool:
    if first.kind is not second.kind or first.dates != second.dates:
        return False
    different = first.subject ^ second.subject
    # "CS-09" and "CS-01" are two things, however much else is the same.
    if any(sign.isdigit() for word in different for sign in word):
        return False
    return len(first.subject & second.subject) >= same_subject * len(first.subject | second.subject)


def _agree(first: QuotedValue, second: QuotedValue, tolerance: float) -> bool:
    """Say whether two values are the same, rounded; a number may be written in thousands, millions or billions, a date in part."""
    if first.kind is ValueKind.DATE:
        shorter, longer = sorted((first.date, second.date), key=len)
        return longer.startswith(shorter)
    scales = (1.0, 1e3, 1e6, 1e9) if first.kind is ValueKind.NUMBER else (1.0,)
    pairs = [(first.number * scale, second.number) for scale in scales] + [
        (first.number, second.number * scale) for scale in scales
    ]
    return any(abs(one - other) <= tolerance * max(abs(one), abs(other)) for one, other in pairs)
