"""The pages that are cited, with a box where each citation stands; a cited element itself, where there is no page to show it on."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from storage.records.answers import NamedDocument
from storage.records.documents import Box, Node
from storage.text import shorten
from tasks.algorithms.layout.tables import Table, read_html
from tasks.report.pictures import Picture

TEXT_LETTERS = 3000
"""Of an element's text around the quoted words."""
TABLE_ROWS = 24
MOST_QUOTE_WORDS = 400
MOST_COLUMNS = 24
CELL_LETTERS = 240
SHORT_CELL = 3
NEAR = 0.045
"""Badges nearer than this share of the page would hide each other."""
SMALLEST = 0.004
"""Shares of the page; a thinner box would be a line too fine to see."""
CORNERS = ("start", "end", "low-start", "low-end")


Numbers = tuple[int, ...]
"""Of the citations that quote something; of what none quotes there are none."""


class Rows(NamedTuple):
    """Rows of a table: those of its header, those shown with the citations that repeat each, and how many are left out."""

    head: list[list[str]]
    body: list[tuple[list[str], Numbers]]
    left_out: int


@dataclass(frozen=True, slots=True)
class Mark:
    """A box on the picture of a page, the citations that stand there and what the first quotes; a corner has their numbers."""

    box: Box
    numbers: tuple[int, ...]
    quote: str = ""
    corner: str = CORNERS[0]


@dataclass(frozen=True, slots=True)
class Exhibit:
    """A cited element that is shown itself; `node` is None where the corpus does not hold it any more."""

    node: Node | None
    numbers: tuple[int, ...]
    quotes: tuple[str, ...]
    crop: Picture | None

    @property
    def numbered(self) -> list[tuple[int, str]]:
        return list(zip(self.numbers, self.quotes, strict=True))

    @property
    def table(self) -> Rows | None:
        """Return the table; None if the node is gone, is shown as a picture, or has no cells."""
        table = read_html(self.node.html) if self.node and self.node.html and not self.crop else None
        return rows_shown(table, self.numbered) if table and table.rows else None

    @property
    def words(self) -> list[tuple[str, Numbers]]:
        """Return the text as `mark_quotes` does; none of a figure whose caption says it already."""
        if not self.node:
            return []
        texts = (self.node.content, self.node.picture_text)
        text = next(filter(None, reversed(texts) if self.crop else texts), "")
        return [] if self.crop and text == self.node.caption else list(mark_quotes(text, self.numbered))


@dataclass(frozen=True, slots=True)
class Sheet:
    """A page with citations: its picture with marks, or the elements themselves; `remark` says why there is no picture."""

    document: NamedDocument
    page: int
    picture: Picture | None
    marks: tuple[Mark, ...]
    exhibits: tuple[Exhibit, ...]
    remark: str

    @property
    def cited(self) -> list[tuple[int, ...]]:
        """Return the numbers of the citations that each box, or element, shows."""
        return [mark.numbers for mark in self.marks] + [exhibit.numbers for exhibit in self.exhibits]


def mark_quotes(text: str, quotes: Iterable[tuple[int, str]]) -> Iterator[tuple[str, Numbers]]:
    """Yield the text around the first quote in pieces, each with the numbers of the citations that quote it."""
    spans = {number: span for number, quote in quotes if (span := find_quote(text, quote))}
    first = next(iter(spans.values()), (0, 0))[0]
    begin = max(0, min(first - TEXT_LETTERS // 3, len(text) - TEXT_LETTERS))
    end = min(len(text), begin + TEXT_LETTERS)
    edges = {begin, end} | {edge for span in spans.values() for edge in span if begin < edge < end}
    yield ("… " if begin else ""), ()
    for left, right in pairwise(sorted(edges)):
        yield text[left:right], tuple(number for number, (start, stop) in spans.items() if start <= left and right <= stop)
    yield (" …" if end < len(text) else ""), ()


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return where the quoted words stand in the text, however they are spaced; None where they do not, or are too many."""
    words = quote.split()
    if not 0 < len(words) <= MOST_QUOTE_WORDS:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.span() if found else None


def rows_shown(table: Table, quotes: Sequence[tuple[int, str]]) -> Rows:
    """Return the header and the rows around the first that a quote repeats; cells are cut, and so is a row that is too wide."""
    head, body = table.rows[: table.header_rows], table.rows[table.header_rows :]
    cited = [tuple(number for number, quote in quotes if _repeats(quote, row)) for row in body]
    first = next((at for at, numbers in enumerate(cited) if numbers), 0)
    begin = max(0, min(first - TABLE_ROWS // 3, len(body) - TABLE_ROWS))
    shown = list(zip(body, cited, strict=True))[begin : begin + TABLE_ROWS]
    return Rows([_cells(row) for row in head], [(_cells(row), numbers) for row, numbers in shown], len(body) - len(shown))


def _cells(row: Sequence[str]) -> list[str]:
    more = [f"and {len(row) - MOST_COLUMNS} more"] if len(row) > MOST_COLUMNS else []
    return [shorten(cell, CELL_LETTERS) for cell in row[:MOST_COLUMNS]] + more


def _repeats(quote: str, cells: Sequence[str]) -> bool:
    """Say whether the quote holds every cell of the row; a row of nothing but a digit or two is too little to know."""
    folded = " ".join(quote.casefold().split())
    folded_cells = [" ".join(cell.casefold().split()) for cell in cells if cell.strip()]
    return any(len(cell) >= SHORT_CELL for cell in folded_cells) and all(_says(folded, cell) for cell in folded_cells)


def _says(quote: str, cell: str) -> bool:
    """Say whether the quote holds the cell as words, or a number, of its own: 50 is not in 500, nor 1 in 1.3."""
    return cell in quote and re.search(rf"(?<![\w.,]){re.escape(cell)}(?!\w|[.,]\d)", quote) is not None


def box_rules(sheets: Sequence[Sheet]) -> str:
    """Return the style sheet's rules that put each box in its place; the page's policy allows no style attributes."""
    rules = []
    for mark in (mark for sheet in sheets for mark in sheet.marks):
        x0, y0, x1, y1 = (min(max(edge, 0.0), 1.0) for edge in mark.box)
        width, height = max(x1 - x0, SMALLEST), max(y1 - y0, SMALLEST)
        place = f"left:{100 * x0:.3f}%;top:{100 * y0:.3f}%;width:{100 * width:.3f}%;height:{100 * height:.3f}%"
        rules.append(f"#box-{mark.numbers[0]}{{{place}}}")
    return "\n".join(rules)


def place_badges(boxes: Sequence[tuple[float, float, float, float]]) -> list[str]:
    """Return for each box the first corner whose badge hides none of an earlier box, the first of all where every corner does."""
    taken: list[tuple[float, float]] = []
    corners = []
    for x0, y0, x1, y1 in boxes:
        points = dict(zip(CORNERS, ((x0, y0), (x1, y0), (x0, y1), (x1, y1)), strict=True))
        free = [name for name, (x, y) in points.items() if all(max(abs(x - a), abs(y - b)) > NEAR for a, b in taken)]
        corner = free[0] if free else CORNERS[0]
        taken.append(points[corner])
        corners.append(corner)
    return corners
