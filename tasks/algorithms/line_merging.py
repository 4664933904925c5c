"""Lines that OCR found on a page, merged into paragraphs by their geometry alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

from storage.records import Box
from tasks.algorithms.layout import shared_height, shared_width, unite
from tasks.algorithms.reading_order import order_boxes

_SAME_HEIGHT = 1.4  # heights of two lines of one paragraph differ less: boxes hug descenders and capitals
_LINE_GAP = 0.8  # of the line's height: paragraphs stand further apart
_WORD_GAP = 1.5  # of the line's height: pieces of one line stand closer than columns
_OVERLAP = 0.5  # lines below each other share so much of the narrower one
_TITLE_HEIGHT = 1.3  # a title is so many times as high as the median line
_TITLE_BAND = 0.35  # of the page's height from its top
_TITLE_WORDS = 20
_BULLETS = ("•", "●", "○", "■", "▪", "\u2013", "·", "* ", "- ")


@dataclass(frozen=True, slots=True)
class TextLine:
    """A line of text and its box."""

    text: str
    box: Box


@dataclass(frozen=True, slots=True)
class Paragraph:
    """Lines that belong together, joined; `is_title` says that it stands large at the top."""

    text: str
    box: Box
    is_title: bool


def merge_lines(lines: Sequence[TextLine], *, width: float, height: float) -> list[Paragraph]:
    """Return the paragraphs of a page of this width and height (any unit) in reading order."""
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
    return [
        Paragraph(text=_join(groups[place]), box=boxes[place], is_title=_is_title(groups[place], usual))
        for place in order_boxes(boxes)
    ]


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
