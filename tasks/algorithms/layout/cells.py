"""Words on a page as lines of cells: what stands together, and which cells are numbers."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from storage.records.documents import Box
from tasks.algorithms.layout.boxes import shared_height, unite

CELL_GAP = 0.8  # of a line's height: words of one cell stand closer
HEAD_CELL_GAP = 0.33  # heads stand closer to each other
_NUMBER_GAP = 0.2  # and numbers with a fraction or thousands, which are whole by themselves
_NUMBER = re.compile(
    r"[\s$€£¥₹(+\-\u2013\u2014\u2212~<>.]*\d[\d.,'\u2019]*[\s%)*†‡]*(?:[kmb]n?|x|bps|pp|pts)?"
    r"(?:\s*\([+\-\u2013\u2212]?[\d.,%\-\u2013\u2212]*\))?",
    re.I,
)
_DATE = re.compile(r"(?:\d{1,2}[./-]\d{1,2}[./-])?(?:19|20)\d\d\*?(?:\s*\(\d\))?")
_WHOLE = re.compile(r"[+\-\u2013\u2212]?(?:\d*\.\d|\d{1,3},\d\d\d)")
_BLANK = re.compile(r"[$€£¥₹\s]*[\-\u2013\u2014\u2212*]+%?|n/?a\.?|n\.?m\.?|\*+", re.I)
_SIGN = re.compile(r"[$€£¥₹]")
_END_SIGN = re.compile(r"[%)]+")

Words = Sequence[tuple[Box, str]]


@dataclass(frozen=True, slots=True)
class Cell:
    box: Box
    text: str
    words: tuple[int, ...]

    @classmethod
    def of(cls, words: Words, places: Sequence[int]) -> "Cell":
        return cls(unite(words[place][0] for place in places), " ".join(words[place][1] for place in places), tuple(places))


Line = list[Cell]
Span = tuple[float, float]


def cut_lines(words: Words, *, aspect: float, gap: float) -> list[Line]:
    """Return the lines of a page of this width over height, from the top; words of a cell stand closer than `gap` heights."""
    return [_join_signs(_cells(words, line, aspect, gap)) for line in group_lines(words)]


def count_rows(words: Words, *, aspect: float) -> int:
    """Count the lines that have a number apart from their other words."""
    return sum(map(is_row, cut_lines(words, aspect=aspect, gap=CELL_GAP)))


def group_lines(words: Words) -> list[list[int]]:
    """Group the words by the line that they stand on, from the top."""
    lines: list[list[int]] = []
    for place in sorted(range(len(words)), key=lambda place: words[place][0][1] + words[place][0][3]):
        if lines and shared_height(words[lines[-1][0]][0], words[place][0]) > 0.5:
            lines[-1].append(place)
        else:
            lines.append([place])
    return lines


def _cells(words: Words, line: Sequence[int], aspect: float, gap: float) -> Iterator[Cell]:
    group: list[int] = []
    for place in sorted(line, key=lambda place: words[place][0][0]):
        if group and _are_apart(words[group[-1]], words[place], aspect, gap):
            yield Cell.of(words, group)
            group = []
        group.append(place)
    if group:
        yield Cell.of(words, group)


def _are_apart(left: tuple[Box, str], right: tuple[Box, str], aspect: float, gap: float) -> bool:
    """Say whether two cells stand here; a sign belongs to the number after it, and two whole numbers are never one cell."""
    if _SIGN.fullmatch(right[1]):
        gap = 0.0
    elif _WHOLE.match(left[1]) and _WHOLE.match(right[1]):
        gap = _NUMBER_GAP
    return (right[0][0] - left[0][2]) * aspect > gap * (right[0][3] - right[0][1])


def _join_signs(cells: Iterable[Cell]) -> Line:
    """Return the cells; a sign that stands apart from its number belongs to it."""
    joined: Line = []
    for cell in cells:
        if joined and _is_sign_of(joined[-1].text, cell.text):
            last = joined.pop()
            cell = Cell(unite((last.box, cell.box)), f"{last.text} {cell.text}", last.words + cell.words)
        joined.append(cell)
    return joined


def _is_sign_of(left: str, right: str) -> bool:
    return bool((_SIGN.fullmatch(left) and is_value(right)) or (_END_SIGN.fullmatch(right) and is_value(left)))


def is_datum(text: str) -> bool:
    return is_value(text) and not _DATE.fullmatch(text)


def is_value(text: str) -> bool:
    return bool(_NUMBER.fullmatch(text) or _BLANK.fullmatch(text))


def has_data(line: Line) -> bool:
    return any(is_datum(cell.text) for cell in line[1:])


def is_row(line: Line) -> bool:
    return any(is_value(cell.text) for cell in line[1:])


def measure_gap(above: Line, below: Line) -> float:
    """Return how far apart two lines are, in heights of the lower."""
    upper, lower = unite(cell.box for cell in above), unite(cell.box for cell in below)
    return (lower[1] - upper[3]) / max(min(upper[3] - upper[1], lower[3] - lower[1]), 1e-6)


def merge_spans(cells: Iterable[Cell], spans: Iterable[Span] = ()) -> list[Span]:
    """Return what the cells and spans cover from left to right, overlapping ones as one."""
    merged: list[Span] = []
    for left, right in sorted([*spans, *((cell.box[0], cell.box[2]) for cell in cells)]):
        if merged and left < merged[-1][1]:
            merged[-1] = (merged[-1][0], max(right, merged[-1][1]))
        else:
            merged.append((left, right))
    return merged
