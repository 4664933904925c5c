"""The words of a page's text layer with their places, by pdfium."""

import math
from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from storage.records.documents import Box
from tasks.algorithms.layout.boxes import unite

MOST_CHARACTERS = 60_000
"""What a page has beyond them is left out: to go through them takes a fifth of a second."""
GRID = 1 << 24
LEAN = 0.2
"""Radians; what leans more is turned, and read letter by letter it would be words in every line that it crosses."""
LAST_LETTER = 0x10FFFF
NO_LETTERS = frozenset(map(chr, range(33))) | {"\ufffe", "\uffff", chr(LAST_LETTER)}
"""What pdfium has for a hyphen at a line's end, and for what it cannot read."""


def words_of(page: pdfium.PdfPage) -> list[tuple[Box, str]]:
    """Return each upright word, as high as its font, with its box in shares of the page as shown, in the order of the file."""
    (left, top), (right, down), (over, bottom) = (_shown(page, x, y) for x, y in ((0, 0), (100, 0), (0, 100)))
    across, along = ((right - left) / 100, (down - top) / 100), ((over - left) / 100, (bottom - top) / 100)

    def share(x: float, y: float) -> tuple[float, float]:
        places = (left + x * across[0] + y * along[0], top + x * across[1] + y * along[1])
        return min(max(places[0], 0.0), 1.0), min(max(places[1], 0.0), 1.0)

    return [
        (unite((*corner, *corner) for corner in (share(*box[:2]), share(*box[2:]))), _whole(letters))
        for box, letters in _runs(page.get_textpage(), -math.radians(page.get_rotation()))
    ]


def _whole(letters: str) -> str:
    """Return the letters where pdfium gave some as two halves, as UTF-16 has them."""
    return letters if letters.isascii() else letters.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _shown(page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
    column, row = pdfium_c.c_int(), pdfium_c.c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, GRID, GRID, 0, x, y, column, row)
    return column.value / GRID, row.value / GRID


def _runs(text_page: pdfium.PdfTextPage, turn: float) -> Iterator[tuple[Box, str]]:
    """Yield the letters that stand together, with their left, bottom, right and top in the page's own coordinates."""
    glyph, letters = pdfium_c.FS_RECTF(), ""
    left = bottom = right = top = 0.0
    for index in range(min(text_page.count_chars(), MOST_CHARACTERS)):
        letter = chr(min(pdfium_c.FPDFText_GetUnicode(text_page, index), LAST_LETTER))
        space = letter in NO_LETTERS or letter.isspace() or not pdfium_c.FPDFText_GetLooseCharBox(text_page, index, glyph)
        gap = max(glyph.left - right, left - glyph.right, glyph.bottom - top, bottom - glyph.top)
        apart = space or gap > glyph.top - glyph.bottom
        if apart and letters:
            yield (left, bottom, right, top), letters
            letters = ""
        if space or (not letters and abs(math.remainder(pdfium_c.FPDFText_GetCharAngle(text_page, index) - turn, math.tau)) > LEAN):
            continue
        if not letters:
            left, bottom, right, top = glyph.left, glyph.bottom, glyph.right, glyph.top
        letters += letter
        left, bottom = min(left, glyph.left), min(bottom, glyph.bottom)
        right, top = max(right, glyph.right), max(top, glyph.top)
    if letters:
        yield (left, bottom, right, top), letters
