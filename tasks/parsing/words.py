"""The words of a page's text layer with their places, by pdfium."""

from collections.abc import Iterator

import pypdfium2 as pdfium
import pypdfium2.raw as pdfium_c

from storage.records.documents import Box
from tasks.algorithms.layout.boxes import unite

MOST_CHARACTERS = 60_000
"""What a page has beyond them is left out: to go through them takes a fifth of a second."""
GRID = 1 << 24


def words_of(page: pdfium.PdfPage) -> list[tuple[Box, str]]:
    """Return each word, in the file's order, with its box in shares of the page as it is shown; its height is its font's."""
    (left, top), (right, down), (over, bottom) = (_shown(page, x, y) for x, y in ((0, 0), (1000, 0), (0, 1000)))
    across, along = ((right - left) / 1000, (down - top) / 1000), ((over - left) / 1000, (bottom - top) / 1000)

    def share(x: float, y: float) -> tuple[float, float]:
        places = (left + x * across[0] + y * along[0], top + x * across[1] + y * along[1])
        return min(max(places[0], 0.0), 1.0), min(max(places[1], 0.0), 1.0)

    return [
        (unite((*corner, *corner) for corner in (share(*box[:2]), share(*box[2:]))), letters)
        for box, letters in _runs(page.get_textpage())
    ]


def _shown(page: pdfium.PdfPage, x: float, y: float) -> tuple[float, float]:
    column, row = pdfium_c.c_int(), pdfium_c.c_int()
    pdfium_c.FPDF_PageToDevice(page, 0, 0, GRID, GRID, 0, x, y, column, row)
    return column.value / GRID, row.value / GRID


def _runs(text_page: pdfium.PdfTextPage) -> Iterator[tuple[Box, str]]:
    """Yield the letters that stand together, with their left, bottom, right and top in the page's own coordinates."""
    glyph, letters = pdfium_c.FS_RECTF(), ""
    left = bottom = right = top = 0.0
    for index in range(min(text_page.count_chars(), MOST_CHARACTERS)):
        letter = chr(pdfium_c.FPDFText_GetUnicode(text_page, index))
        space = letter <= " " or letter.isspace() or not pdfium_c.FPDFText_GetLooseCharBox(text_page, index, glyph)
        apart = space or glyph.bottom > top or glyph.top < bottom or not 0 <= glyph.right - left <= right - left + top - bottom
        if apart and letters:
            yield (left, bottom, right, top), letters
            letters = ""
        if space:
            continue
        if not letters:
            left, bottom, right, top = glyph.left, glyph.bottom, glyph.right, glyph.top
        letters += letter
        left, bottom = min(left, glyph.left), min(bottom, glyph.bottom)
        right, top = max(right, glyph.right), max(top, glyph.top)
    if letters:
        yield (left, bottom, right, top), letters
