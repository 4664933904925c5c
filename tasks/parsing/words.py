"""The words of a PDF page's text layer, and where each of them stands on the page as it is shown."""

import re
import sys
from ctypes import c_int
from math import radians, remainder, tau

import numpy as np
import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from storage.records.documents import Box
from tasks.algorithms.arrays import FloatArray

GRID = 1 << 24
MOST_CHARACTERS = 60_000
"""Of one page; a full page of a newspaper has some 30,000."""
LEAN = 0.2
"""Radians."""
WORD = re.compile(r"[^\s\x00-\x1f\x7f\ufffe\uffff]+")
"""pdfium marks a hyphen that ends a line by a sign that nobody writes."""


def words_of(page: pdfium.PdfPage, *, upright: bool = False) -> list[tuple[Box, str]]:
    """Return the words in the order of the text layer, with their boxes in shares of the page as it is shown.

    A word has the box around its first and its last letter, as high as their font. Those without a box, or outside of what is
    shown, are left out, and where only `upright` ones are wanted those that are turned.
    """
    layer = page.get_textpage()
    count = min(layer.count_chars(), MOST_CHARACTERS)
    # the raw handle: to unwrap it takes as long as the call
    text = "".join([chr(min(pdfium_c.FPDFText_GetUnicode(layer.raw, place), sys.maxunicode)) for place in range(count)])
    turn = radians(page.get_rotation())
    words = [word for word in WORD.finditer(text) if not upright or not _leans(layer, word.start(), turn)]
    corners = _corners(layer, [place for word in words for place in (word.start(), word.end() - 1)])
    shares = np.clip(corners @ _to_shares(page), 0.0, 1.0).reshape(-1, 4, 2)
    low, high = shares.min(axis=1), shares.max(axis=1)
    boxes, seen = np.concatenate([low, high], axis=1).tolist(), (low < high).all(axis=1).tolist()
    return [(tuple(box), whole_signs(word[0])) for box, word, shown in zip(boxes, words, seen, strict=True) if shown]


def whole_signs(word: str) -> str:
    """Return the word with the halves joined in which pdfium gives mathematical letters; a half alone cannot be read."""
    return word if word.isascii() else word.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _leans(layer: pdfium.PdfTextPage, place: int, turn: float) -> bool:
    """Say whether a letter is turned on the page as it is shown."""
    return abs(remainder(pdfium_c.FPDFText_GetCharAngle(layer.raw, place) + turn, tau)) > LEAN


def _corners(layer: pdfium.PdfTextPage, places: list[int]) -> FloatArray:
    """Return two corners of each letter's box as (x, y, 1), in page coordinates; those of a letter without a box are NaN."""
    found, box = [], pdfium_c.FS_RECTF()
    for place in places:
        if pdfium_c.FPDFText_GetLooseCharBox(layer.raw, place, box):
            found += [box.left, box.bottom, 1.0, box.right, box.top, 1.0]
        else:
            found += [np.nan] * 6
    return np.array(found, dtype=np.float64).reshape(-1, 3)


def _to_shares(page: pdfium.PdfPage) -> FloatArray:
    """Return the matrix (3, 2) from page coordinates to shares of the page as it is shown: rotated, cropped, from its top left."""
    width, height = (max(side, 1.0) for side in page.get_size())
    places = np.zeros((3, 2))
    for place, (x, y) in enumerate(((width, 0.0), (0.0, height), (0.0, 0.0))):
        column, row = c_int(), c_int()
        pdfium_c.FPDF_PageToDevice(page, 0, 0, GRID, GRID, 0, x, y, column, row)
        places[place] = column.value / GRID, row.value / GRID
    return np.array([(places[0] - places[2]) / width, (places[1] - places[2]) / height, places[2]])
