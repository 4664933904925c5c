"""Elements in reading order, and the plain geometry of boxes and words that the rules of structure share."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import dataclass

from storage.records import Block, Box, NodeKind

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
    """Return where each word begins and ends."""
    return [match.span() for match in _WORD.finditer(text)]


def simplify(text: str) -> str:
    """Return the letters and digits of a text, folded and one space apart, so that two spellings of a heading compare equal."""
    return _NOT_ALPHANUMERIC.sub(" ", text.casefold()).strip()


def unite(boxes: Iterable[Box]) -> Box:
    """Return the smallest box around boxes (one at least)."""
    left, top, right, bottom = zip(*boxes, strict=True)
    return (min(left), min(top), max(right), max(bottom))


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
