"""Numbers as answers state them, and when two of them are the same: 6.3M is 6,300,000, and 0.82 is 82 %."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.algorithms.questions.places import NUMBER_WORDS

SPELLED = {"zero": 0} | NUMBER_WORDS
"""The numbers in words that are read as numbers."""

_SCALES = {
    **dict.fromkeys(("thousand", "k", "K"), 1e3),
    **dict.fromkeys(("lakh", "lac"), 1e5),
    **dict.fromkeys(("million", "mn", "mio", "m", "M"), 1e6),
    "crore": 1e7,
    **dict.fromkeys(("billion", "bn", "b", "B"), 1e9),
    **dict.fromkeys(("trillion", "tn"), 1e12),
}
_UNSAID_SCALES = (1.0, 1e3, 1e6, 1e9)
_CURRENCY = r"[$\u00a3\u20ac\u00a5\u20b9]"
_DIGITS = r"(?:\d{1,3}(?:,\d{3})+(?!\d)|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)|\d+)(?:\.\d+)?|(?<!\w)\.\d+"
_SCALE_WORD = r"thousand|million|billion|trillion|mn|mio|bn|tn|lakh|lac|crore"
NUMBER = re.compile(
    rf"(?P<dotted>\d+(?:\.\d+){{2,}})|(?P<sign>(?<![\w)%])[-+\u2212\u2013])?(?P<currency>{_CURRENCY}\s?)?(?P<inner>(?<={_CURRENCY})-)?"
    rf"(?P<digits>{_DIGITS})(?:\s?(?P<percent>%|(?i:per\s?cent\b|percentage\spoints?\b))|[\s-]?(?P<word>(?i:{_SCALE_WORD}))s?\b"
    r"|(?P<letter>[KMBk]|(?(currency)[mb]|(?!)))(?!\w))?"
)
"""A number with all that belongs to it; `dotted` is none but a version, an address or a date."""

_LONGEST_WORD = 24  # characters before a number in which its word is looked for
_YEAR = re.compile(r"(?:1[5-9]|20)\d\d")
_POINTER = re.compile(
    r"\b(?:paragraph|page|pp?\.|slide|section|figure|fig\.|table|chart|exhibit|chapter|appendix|equation|question)s?\s*$",
    re.IGNORECASE,
)
_NAME = re.compile(r"[^\W\d_][-_.]?$")
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?"
    r"|dec(?:ember)?)"
)
_AFTER_MONTH = re.compile(rf"\b{_MONTH}\.?\s+$", re.IGNORECASE)
_BEFORE_MONTH = re.compile(rf"(?:st|nd|rd|th)?\s+(?:of\s+)?{_MONTH}\b", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class StatedNumber:
    """A number that stands in a text from `start` to `end`.

    `value` is in ones, a percentage as it is written; `scale` is that of its word or letter, 1 where it has none. `aside` says that
    it belongs to a name ("GPT-4"), points to a place ("Table 3") or is a day of a month, `whole` that no decimal point is written.
    """

    value: float
    percent: bool
    scale: float
    whole: bool
    aside: bool
    year: bool
    start: int
    end: int


def stated_numbers(text: str) -> list[StatedNumber]:
    """Return the numbers of a text in order; those in words only where it has none in digits."""
    numbers = [read_number(match) for match in NUMBER.finditer(text) if not match["dotted"]]
    return numbers or list(_find_spelled_numbers(text))


def read_number(match: re.Match[str]) -> StatedNumber:
    """Return the number that was matched by NUMBER, not a dotted one."""
    unit = match["word"] or match["letter"] or ""
    scale = _SCALES[unit.casefold() if match["word"] else unit] if unit else 1.0
    digits = match["digits"].replace(",", "")
    negative = (match["sign"] or match["inner"] or "+") != "+"
    return StatedNumber(
        value=(-1.0 if negative else 1.0) * float(digits) * scale,
        percent=match["percent"] is not None,
        scale=scale,
        whole="." not in digits,
        aside=_is_aside(match),
        year=_YEAR.fullmatch(match[0]) is not None,
        start=match.start(),
        end=match.end(),
    )


def _is_aside(match: re.Match[str]) -> bool:
    before = match.string[max(0, match.start() - _LONGEST_WORD) : match.start()]
    is_plain = match[0] == match["digits"]
    if not is_plain:
        return match["currency"] is None and _NAME.search(before) is not None
    if _YEAR.fullmatch(match[0]) is None and (_AFTER_MONTH.search(before) or _BEFORE_MONTH.match(match.string, match.end())):
        return True
    return _NAME.search(before) is not None or _POINTER.search(before) is not None


def _find_spelled_numbers(text: str) -> Iterator[StatedNumber]:
    for match in re.finditer(r"[^\W\d_]+", text):
        value = SPELLED.get(match[0].casefold())
        if value is not None:
            yield StatedNumber(float(value), False, 1.0, True, False, False, match.start(), match.end())


def same_number(gold: StatedNumber, given: StatedNumber, *, tolerance: float) -> bool:
    """Whether a number is the right one; its sign counts.

    A gold number without a scale may be in thousands, millions or billions where the other one has a scale: 6,063 and "6,063
    million". Where one of them is a percentage, the other may be that number or, written with a decimal point, its fraction.

    Args:
        gold: the right one.
        given: the one that is judged.
        tolerance: relative difference that does not count; 0 is for counts, which are no fractions either.
    """
    if gold.percent != given.percent:
        percentage, bare = (gold, given) if gold.percent else (given, gold)
        as_fraction = tolerance > 0 and not bare.whole and _near(bare.value * 100.0, percentage.value, tolerance)
        return as_fraction or _near(bare.value, percentage.value, tolerance)
    scales = [scale for scale in _UNSAID_SCALES if gold.scale == 1.0 and scale <= given.scale] or [1.0]
    return any(_near(gold.value * scale, given.value, tolerance) for scale in scales)


def _near(one: float, other: float, tolerance: float) -> bool:
    return abs(one - other) <= max(tolerance, 1e-12) * max(abs(one), abs(other))
