"""Tables of PDFs that have words and no lines: where the words stand, and what becomes of the page."""

import pypdfium2 as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from storage.records.documents import Block, Modality, NodeKind, PageParser, ParsedPage
from tasks.content_graph.structure import structure_document
from tasks.parsing.pdfium import add_pictures
from tasks.parsing.words import MOST_CHARACTERS, words_of
from tasks.settings.ingest import ReadingSettings
from tests import hostile
from tests.tasks.parsing.test_parsing import read
from tests.tasks.parsing.test_pictures import job_for

WIDTH, HEIGHT = 600, 800
SHEET = {
    "Cash and equivalents": ("9,889", "8,348"),
    "Short-term investments": ("3,587", "439"),
    "Accounts receivable, net": ("4,463", "2,749"),
    "Inventories": ("6,854", "7,367"),
    "Prepaid expenses": ("1,498", "1,653"),
    "Total current assets": ("26,291", "20,556"),
}


def draw(path, drawn, *, turned=0, box=None):
    # reportlab swaps the sides of a page that it turns by a quarter
    size = (HEIGHT, WIDTH) if turned % 180 else (WIDTH, HEIGHT)
    canvas = Canvas(str(path), pagesize=size, invariant=1, cropBox=box)
    canvas.setFont("Helvetica", 9)
    canvas.setPageRotation(turned)
    drawn(canvas)
    canvas.showPage()
    canvas.save()
    return path


def draw_sheet(canvas, *, top=740):
    """A balance sheet without a ruling line; its heads stand as high as running headers do."""
    canvas.drawCentredString(455, top + 28, "MAY 31,")
    for x, year in ((430, "2021"), (520, "2020")):
        canvas.drawRightString(x, top + 14, year)
    canvas.drawString(50, top, "Current assets:")
    for place, (label, values) in enumerate(SHEET.items(), 1):
        canvas.drawString(60, top - 14 * place, label)
        for x, value in zip((430, 520), values, strict=True):
            canvas.drawRightString(x, top - 14 * place, value)
            if place in {1, len(SHEET)}:
                canvas.drawString(x - 55, top - 14 * place, "$")


def draw_text(canvas, *, top, left=50, lines=14, size=9):
    canvas.setFont("Helvetica", size)
    for line in range(lines):
        canvas.drawString(left, top - 13 * line, hostile.LINE.format(1000 + line))


def words_drawn(path):
    with pdfium.PdfDocument(path) as document:
        return words_of(document[0], upright=True)


@pytest.mark.parametrize("turned", [0, 90, 180, 270])
def test_words_have_their_place_on_the_page_as_it_is_shown_and_turned_ones_are_left_out(tmp_path, turned):
    def drawn(canvas):
        # what the page's rotation will set upright stands at 25% from the left and 10% from the top of what is shown
        width, height = (WIDTH, HEIGHT) if turned in {0, 180} else (HEIGHT, WIDTH)
        left, down = 0.25 * width, 0.1 * height
        x, y = {0: (left, HEIGHT - down), 90: (down, left), 180: (WIDTH - left, down), 270: (WIDTH - down, HEIGHT - left)}[turned]
        canvas.translate(x, y)
        canvas.rotate(turned)
        canvas.drawString(0, 0, "two words")
        canvas.rotate(90)
        canvas.drawString(-100, -100, "along the axis")

    (first, two), (second, words) = words_drawn(draw(tmp_path / "turned.pdf", drawn, turned=turned))
    assert (two, words) == ("two", "words")
    assert first[0] == pytest.approx(0.25, abs=0.01) and first[1] < 0.1 < first[3]
    assert first[2] < second[0] and second[1] == pytest.approx(first[1])


def test_words_of_a_cropped_page_are_placed_on_what_is_left_and_letters_set_apart_are_one_word(tmp_path):
    def drawn(canvas):
        canvas.drawString(300, 400, "J a n u a r y", charSpace=-2.4)
        canvas.drawString(300, 300, "\U0001d434\u2014b")

    path = draw(tmp_path / "cropped.pdf", drawn, box=(300, 200, 600, 600))
    box, _ = words_drawn(path)[0]
    assert box[0] == pytest.approx(0.0, abs=0.01) and box[1] < 0.5 < box[3]
    assert "".join(word for _, word in words_drawn(path)).encode("utf-8").startswith(b"January")


def test_a_sheet_without_lines_is_a_table_with_its_heads_and_its_rows_are_found(tmp_path):
    def drawn(canvas):
        draw_sheet(canvas)
        draw_text(canvas, top=600)

    document = read(draw(tmp_path / "sheet.pdf", drawn), tmp_path)
    blocks = document.pages[0].blocks
    (table,) = [block for block in blocks if block.kind is NodeKind.TABLE]
    assert table.picture is not None
    assert "1013 tonnes" in " ".join(block.text for block in blocks if block.kind is NodeKind.PARAGRAPH)
    structured = structure_document(parsed=document, version="v", settings=ReadingSettings())
    (node,) = [node for node in structured.nodes if node.modality is Modality.TABLE]
    texts = [row.text for row in structured.rows if row.node_id == node.id and not row.is_header]
    assert "Current assets | Inventories | MAY 31, 2021: 6,854 | MAY 31, 2020: 7,367" in texts
    assert "Current assets | Cash and equivalents | MAY 31, 2021: $ 9,889 | MAY 31, 2020: $ 8,348" in texts
    assert not any("tonnes" in text for text in texts)


def draw_two_columns(canvas):
    draw_text(canvas, top=740, left=30, lines=40, size=6)
    draw_text(canvas, top=740, left=310, lines=40, size=6)


def draw_contents(canvas):
    for place in range(14):
        canvas.drawString(60, 700 - 20 * place, f"Chapter {place + 1} " + "." * 60)
        canvas.drawRightString(520, 700 - 20 * place, str(3 + 11 * place))


def draw_references(canvas):
    for place in range(14):
        canvas.drawString(60, 700 - 30 * place, f"[{place + 1}]   A. Author and B. Writer. On the tides of {1990 + place}. Tidal")
        canvas.drawString(80, 688 - 30 * place, f"Letters, {20 + place}({place}):{100 + place}-{120 + place}, {1990 + place}.")


def draw_chart(canvas):
    for place, value in enumerate((52, 48, 63, 57, 65, 59)):
        canvas.drawString(60, 700 - 20 * place, f"Ages {10 * place} to {10 * place + 9}")
        canvas.rect(150, 698 - 20 * place, 4 * value, 10)
        canvas.drawString(154 + 4 * value - 30, 700 - 20 * place, str(value))
        canvas.drawString(460 - 2 * value, 700 - 20 * place, str(100 - value))
    for place in range(6):
        canvas.drawString(150 + 60 * place, 560, str(20 * place))


@pytest.mark.parametrize("drawn", [draw_two_columns, draw_contents, draw_references, draw_chart])
def test_numbers_in_text_contents_references_and_charts_are_no_tables(tmp_path, drawn):
    blocks = read(draw(tmp_path / "page.pdf", drawn), tmp_path).pages[0].blocks
    assert not [block for block in blocks if block.html and "<t" in block.html]


def draw_numbers(canvas):
    for place in range(300):
        canvas.drawString(20, 790 - 2.6 * place, " ".join(str(place * other) for other in range(60)))


def draw_rows(canvas):
    canvas.setFont("Helvetica", 0.15)
    for place in range(4000):
        canvas.drawString(50, 790 - 0.19 * place, f"Label {place}")
        canvas.drawRightString(300, 790 - 0.19 * place, f"{place},123")
        canvas.drawRightString(500, 790 - 0.19 * place, f"{place},456")


def draw_far_away(canvas):
    canvas.drawString(1e9, -1e9, "12 34 56")
    canvas.setFont("Helvetica", 1e-6)
    canvas.drawString(100, 100, "12 34 56")
    canvas.setFont("Helvetica", 1e6)
    canvas.drawString(0, 0, "9")


@pytest.mark.parametrize("drawn", [draw_numbers, draw_rows, draw_far_away])
def test_a_page_of_numbers_of_rows_without_end_or_of_words_far_away_stays_within_its_bounds(tmp_path, drawn):
    path = draw(tmp_path / "hostile.pdf", drawn)
    words = words_drawn(path)
    lines = Block(kind=NodeKind.LIST, text="\n".join("9 9 9" for _ in range(3)), box=(0.0, 0.0, 1.0, 1.0))
    (page,) = add_pictures((ParsedPage(1, WIDTH, HEIGHT, PageParser.MINERU, (lines,)),), job_for(path, tmp_path))
    assert sum(len(word) for _, word in words) <= MOST_CHARACTERS
    for box in [*(box for box, _ in words), *(block.box for block in page.blocks)]:
        assert 0 <= box[0] <= box[2] <= 1 and 0 <= box[1] <= box[3] <= 1
