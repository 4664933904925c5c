"""Elements in reading order, geometry of boxes, and lines that OCR found merged into paragraphs."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from storage.records.documents import Block, Box, NodeKind

BODY_KINDS = frozenset({NodeKind.PARAGRAPH, NodeKind.LIST})
FURNITURE_KINDS = frozenset({NodeKind.HEADER, NodeKind.FOOTER, NodeKind.PAGE_NUMBER})
VISUAL_KINDS = frozenset({NodeKind.TABLE, NodeKind.FIGURE})

# Han and kana are written without spaces: each sign counts as a word.
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff]|[^\s\u3040-\u30ff\u3400-\u9fff]+")
_NOT_ALPHANUMERIC = re.compile(r"[\W_]+")


@dataclass(frozen=True, slots=True)
class Element:
    """A block on its page (1-based), in the document's reading order.

    `serial` names it within the document; `label` is a figure's or table's ("Figure 3");
    `caption_of` is the serial of the element that a caption belongs to.
    """

    serial: int
    page: int
    block: Block
    label: str = ""
    caption_of: int | None = None


def count_words(text: str) -> int:
    """Return the number of words; a Han or kana sign is one."""
    return sum(1 for _ in _WORD.finditer(text))


def word_spans(text: str) -> list[tuple[int, int]]:
    return [match.span() for match in _WORD.finditer(text)]


def simplify(text: str) -> str:
    """Return the letters and digits of a text, folded and one space apart, so that two spellings of a heading compare equal."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()


def unite(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around boxes (one at least)."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return (min(left), min(top), max(right), max(bottom))


def area(box: Box) -> float:
    return (box[2] - box[0]) * (box[3] - box[1])


def holds_middle(outer: Box, inner: Box) -> bool:
    x, y = (inner[0] + inner[2]) / 2, (inner[1] + inner[3]) / 2
    return outer[0] <= x <= outer[2] and outer[1] <= y <= outer[3]


def shared_width(first: Box, second: Box) -> float:
    """Return the horizontal overlap as a share of the narrower box, 0..1."""
    narrower = min(first[2] - first[0], second[2] - second[0])
    overlap = min(first[2], second[2]) - max(first[0], second[0])
    return max(0.0, overlap) / narrower if narrower > 0 else float(overlap >= 0)


def shared_height(first: Box, second: Box) -> float:
    """Return the vertical overlap as a share of the lower box, 0..1."""
    return shared_width((first[1], 0, first[3], 0), (second[1], 0, second[3], 0))


def letter_height(box: Box, characters: int, *, page_size: tuple[float, float]) -> float:
    """Estimate the height in points of a line in a box of text on a page of this width and height in points.

    Letters are taken as half as wide as their line is high, lines as
    1.2 of it apart; a box of one line is its own height.
    """
    height = (box[3] - box[1]) * page_size[1]
    width = (box[2] - box[0]) * page_size[0]
    if characters < 1 or height <= 0 or width <= 0:
        return max(height, 0.0)
    letter = math.sqrt(height * width / (0.6 * characters))
    return height / max(1, round(height / (1.2 * letter)))


_SPANNING_WIDTH = 0.6  # wider than a column of a two-column page can be
_GUTTER = 0.01  # the narrowest gap between two columns, as a share of the page's width
_CELL_HEIGHT = 0.04  # of the page: two lines; what is higher is a paragraph
_ALIGNED_SHARE = 0.7  # this share of cells on common lines makes rows of a table, not columns of text


def order_boxes(boxes: Sequence[Box]) -> list[int]:
    """Return the indices of a page's boxes in reading order.

    Full-width boxes cut the page into bands; a band is read column by column, from the left, unless its boxes stand on
    common lines as a table's cells do: then line by line.
    """
    ordered: list[int] = []
    band: list[int] = []
    for index in sorted(range(len(boxes)), key=lambda index: (boxes[index][1], boxes[index][0])):
        if boxes[index][2] - boxes[index][0] > _SPANNING_WIDTH:
            ordered += [*_order_band(boxes, band), index]
            band = []
        else:
            band.append(index)
    return ordered + _order_band(boxes, band)


def _order_band(boxes: Sequence[Box], band: Sequence[int]) -> list[int]:
    columns = _find_columns(boxes, band)
    if len(columns) > 1 and not _is_grid(boxes, columns):
        return [index for column in columns for index in column]
    return list(band)


def _find_columns(boxes: Sequence[Box], band: Sequence[int]) -> list[list[int]]:
    """Group a band's boxes by the vertical gutters that no box crosses; each group keeps the order from the top."""
    columns: list[list[int]] = []
    right = -1.0
    for index in sorted(band, key=lambda index: boxes[index][0]):
        if not columns or boxes[index][0] >= right + _GUTTER:
            columns.append([])
        columns[-1].append(index)
        right = max(right, boxes[index][2])
    position = {index: place for place, index in enumerate(band)}
    return [sorted(column, key=position.__getitem__) for column in columns]


def _is_grid(boxes: Sequence[Box], columns: Sequence[Sequence[int]]) -> bool:
    """Say whether the shorter columns' boxes stand on the lines of the longest, two lines at least."""
    longest = max(columns, key=len)
    others = [index for column in columns if column is not longest for index in column]
    # Two pointers, both from the top, so that a page of many fragments stays linear.
    aligned = place = 0
    for index in sorted(others, key=lambda index: boxes[index][1]):
        while place < len(longest) - 1 and boxes[longest[place]][3] <= boxes[index][1]:
            place += 1
        aligned += _same_line(boxes[index], boxes[longest[place]])
    return len(longest) > 1 and aligned > 1 and aligned >= _ALIGNED_SHARE * len(others)


def _same_line(first: Box, second: Box) -> bool:
    heights = sorted((first[3] - first[1], second[3] - second[1]))
    return shared_height(first, second) > 0.5 and heights[1] <= min(_CELL_HEIGHT, 2 * heights[0])


_SAME_HEIGHT = 1.4  # heights of two lines of one paragraph differ less: boxes hug descenders and capitals
_LINE_GAP = 0.8  # of the line's height: paragraphs stand further apart
_WORD_GAP = 1.5  # of the line's height: pieces of one line stand closer than columns
_OVERLAP = 0.5  # share of the narrower line that lines below each other have in common
_TITLE_HEIGHT = 1.3  # times the height of the median line
_TITLE_BAND = 0.35  # of the page's height from its top
_TITLE_WORDS = 20
_BULLETS = ("•", "●", "○", "■", "▪", "\u2013", "·", "* ", "- ")


@dataclass(frozen=True, slots=True)
class TextLine:
    text: str
    box: Box


def merge_lines(lines: Sequence[TextLine], *, width: float, height: float) -> list[Block]:
    """Return the paragraphs of a page of this width and height (any unit) in reading order; large text at the top is a title."""
    groups: list[list[TextLine]] = []
    for line in sorted(lines, key=lambda line: (line.box[1], line.box[0])):
        home = next((group for group in reversed(groups) if _belongs(group, line, width / height)), None)
        if home is None:
            groups.append([line])
        else:
            home.append(line)
    if not groups:
        return []
    usual = median(_height(line) for line in lines)
    boxes = [unite(line.box for line in group) for group in groups]
    kinds = [NodeKind.TITLE if _is_title(group, usual) else NodeKind.PARAGRAPH for group in groups]
    return [Block(kinds[place], _join(groups[place]), boxes[place]) for place in order_boxes(boxes)]


def _height(line: TextLine) -> float:
    return line.box[3] - line.box[1]


def _belongs(group: Sequence[TextLine], line: TextLine, aspect: float) -> bool:
    last = group[-1]
    low, high = sorted((_height(last), _height(line)))
    if high > _SAME_HEIGHT * low:
        return False
    if shared_height(last.box, line.box) > _OVERLAP:
        gap = max(line.box[0] - last.box[2], last.box[0] - line.box[2])
        return 0 <= gap * aspect < _WORD_GAP * high
    below = line.box[1] - last.box[3] < _LINE_GAP * low
    around = unite(piece.box for piece in group)
    return below and shared_width(around, line.box) > _OVERLAP and not line.text.startswith(_BULLETS)


def _join(group: Sequence[TextLine]) -> str:
    text = group[0].text
    for line in group[1:]:
        broken_word = text.endswith("-") and text[-2:-1].isalpha() and line.text[:1].islower()
        text = text[:-1] + line.text if broken_word else f"{text} {line.text}"
    return text


def _is_title(group: Sequence[TextLine], usual_height: float) -> bool:
    words = sum(len(line.text.split()) for line in group)
    high = median(_height(line) for line in group) > _TITLE_HEIGHT * usual_height
    return high and group[0].box[1] < _TITLE_BAND and words <= _TITLE_WORDS
