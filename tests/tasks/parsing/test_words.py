"""Where the words of a PDF stand, and that a sentence, a row and a line of a scan are found there again."""

import io

import pypdfium2 as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from tasks.algorithms.layout.lines import box_of_quote, join_words
from tasks.parsing import words as reading
from tasks.parsing.words import whole_signs, words_of

WIDTH, HEIGHT, SIZE = 595, 842, 11
PAGE = (0.0, 0.0, 1.0, 1.0)


def drawn(*lines, turned=0, crop=None):
    """A page with texts, each at its left and base line in points; shown turned, or only what is inside the crop."""
    buffer = io.BytesIO()
    canvas = Canvas(buffer, pagesize=(WIDTH, HEIGHT))
    canvas.setFont("Helvetica", SIZE)
    for text, left, base in lines:
        canvas.drawString(left, base, text)
    canvas.save()
    document = pdfium.PdfDocument(buffer.getvalue())
    document[0].set_rotation(turned)
    if crop:
        document[0].set_cropbox(*crop)
    saved = io.BytesIO()
    document.save(saved)
    return pdfium.PdfDocument(saved.getvalue())[0]


def found(page, quote, block=PAGE):
    width, height = page.get_size()
    return box_of_quote(quote, block=block, lines=join_words(words_of(page), aspect=width / height))


def covers(box, left, base, *, width=WIDTH, height=HEIGHT):
    """Whether the box stands on this base line, begins at this point, and is one line high."""
    top, bottom = height * (1 - box[3]), height * (1 - box[1])
    return abs(box[0] * width - left) < 2 and -4 < top - base < 1 and SIZE / 2 < bottom - top < 1.2 * SIZE


SENTENCES = (("The ships came in May.", 72, 700), ("The cranes were sold in June.", 72, 685))


def test_of_two_sentences_in_a_paragraph_the_box_has_the_lines_of_the_quoted_one():
    assert covers(found(drawn(*SENTENCES), "The cranes were sold in June."), 72, 685)


def test_a_line_beside_another_column_has_its_own_box():
    page = drawn(*SENTENCES, ("A second column begins", 330, 700), ("and ends.", 330, 685))
    box = found(page, "A second column begins")
    assert covers(box, 330, 700)
    assert found(page, "The ships came in May.")[2] < 0.5


def test_a_row_is_found_by_its_cells():
    rows = [("Region", "2023", "2024"), ("North", "12", "15"), ("South", "12", "18")]
    cells = [(cell, 72 + 150 * column, 700 - 15 * row) for row, texts in enumerate(rows) for column, cell in enumerate(texts)]
    box = found(drawn(*cells), "Orders | Region: South | 2023: 12 | 2024: 18")
    assert covers(box, 72, 670) and box[2] * WIDTH > 372


@pytest.mark.parametrize("turned", [90, 180, 270])
def test_on_a_turned_page_places_are_those_of_the_page_as_it_is_shown(turned):
    (upright,) = [box for box, word in words_of(drawn(*SENTENCES)) if word == "cranes"]
    (box,) = [box for box, word in words_of(drawn(*SENTENCES, turned=turned)) if word == "cranes"]
    left, top, right, bottom = upright
    shown = {
        90: (1 - bottom, left, 1 - top, right),
        180: (1 - right, 1 - bottom, 1 - left, 1 - top),
        270: (top, 1 - right, bottom, 1 - left),
    }
    assert box == pytest.approx(shown[turned], abs=0.001)


def test_of_a_cropped_page_there_are_the_words_that_are_shown():
    page = drawn(*SENTENCES, crop=(60, 600, 360, 694))
    assert [word for _box, word in words_of(page)] == ["The", "cranes", "were", "sold", "in", "June."]
    assert covers(found(page, "The cranes were sold in June."), 72 - 60, 685 - 600, width=300, height=94)


def test_the_words_of_a_page_without_end_are_read_in_part(monkeypatch):
    monkeypatch.setattr(reading, "MOST_CHARACTERS", 8)
    assert [word for _box, word in words_of(drawn(*SENTENCES))] == ["The", "ship"]


def test_a_page_without_words_has_none():
    assert words_of(pdfium.PdfDocument.new().new_page(WIDTH, HEIGHT)) == []


def test_a_letter_without_a_box_has_no_place(monkeypatch):
    page = drawn(*SENTENCES)
    ask = reading.pdfium_c.FPDFText_GetLooseCharBox
    monkeypatch.setattr(
        reading.pdfium_c, "FPDFText_GetLooseCharBox", lambda layer, place, *sides: place > 2 and ask(layer, place, *sides)
    )
    assert [word for _box, word in words_of(page)][:2] == ["ships", "came"]


def test_mathematical_letters_are_whole_and_can_be_written():
    halves = "E(" + "\ud835\udc34" + ")"
    assert whole_signs(halves) == "E(\U0001d434)" and whole_signs("Größe") == "Größe"
    assert whole_signs("half\ud835").encode() == b"half\xef\xbf\xbd"
