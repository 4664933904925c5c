"""pdfium tells what a PDF is, and reads its words with their places."""

import pypdfium2 as pdfium
import pytest
from reportlab.pdfgen.canvas import Canvas

from storage.records.documents import Block, DocumentState, NodeKind, OutlineEntry, PageParser, ParsedPage
from tasks.parsing.jobs import Job, ParseError, Work
from tasks.parsing.pdfium import add_pictures, draw, open_pdf, read_text_layer, survey_pdf
from tasks.settings.ingest import LimitSettings, OcrSettings, ParseSettings
from tests import hostile


def job_for(source, folder, **changes) -> Job:
    given = {"parse": ParseSettings(), "ocr": OcrSettings(), "limits": LimitSettings(), "last_page": 1} | changes
    return Job(work=Work.TEXT_LAYER, source=source, folder=folder, name=source.name, cpu_seconds=9, wall_seconds=9, **given)


def test_bookmarks_labels_and_title_are_found(tmp_path):
    path = tmp_path / "a.pdf"
    canvas = Canvas(str(path), pagesize=(595, 842))
    canvas.setTitle("The Report")
    for number, prefix in enumerate(("i", "ii", "1")):
        canvas.bookmarkPage(f"p{number}")
        canvas.addOutlineEntry(f"Part {number}", f"p{number}", level=min(number, 1))
        canvas.drawString(72, 700, prefix)
        canvas.showPage()
    canvas.addPageLabel(0, style="ROMAN_LOWER")
    canvas.addPageLabel(2, style="ARABIC", start=1)
    canvas.save()
    survey = survey_pdf(job_for(path, tmp_path))
    assert (survey.title, survey.page_labels, survey.decrypted) == ("The Report", ("i", "ii", "1"), None)
    assert survey.outline == (OutlineEntry("Part 0", 1, 1), OutlineEntry("Part 1", 2, 2), OutlineEntry("Part 2", 2, 3))


def test_a_locked_file_is_copied_without_its_lock(tmp_path):
    survey = survey_pdf(job_for(hostile.owner_locked_pdf(tmp_path), tmp_path))
    assert survey.decrypted == "decrypted.pdf"
    assert b"/Encrypt" not in (tmp_path / "decrypted.pdf").read_bytes()


def test_a_password_is_asked_for_and_damage_is_named(tmp_path):
    with pytest.raises(ParseError, match="damaged beyond repair"):
        open_pdf(hostile.truncated_pdf(tmp_path))
    with pytest.raises(ParseError, match="--password-file") as caught:
        open_pdf(hostile.encrypted_pdf(tmp_path))
    assert caught.value.state is DocumentState.NEEDS_PASSWORD


def test_lines_near_each_other_are_a_paragraph_with_its_box(tmp_path):
    (page,) = read_text_layer(job_for(hostile.plain_pdf(tmp_path, pages=1), tmp_path))
    assert (page.parser, page.width_points, page.height_points) == (PageParser.PDFIUM, 595, 842)
    title, paragraph = page.blocks
    assert title.text == "Chapter 1"
    assert title.box[1] == pytest.approx((842 - 760 - 15) / 842, abs=0.02)
    assert title.box[0] == pytest.approx(72 / 595, abs=0.01)
    assert paragraph.text.count("tonnes") == 12


def test_places_follow_a_turned_page(tmp_path):
    canvas = Canvas(str(tmp_path / "upright.pdf"), pagesize=(595, 842))
    canvas.translate(595, 0)
    canvas.rotate(90)
    canvas.drawString(72, 500, "A line on a landscape page")
    canvas.save()
    document = pdfium.PdfDocument(tmp_path / "upright.pdf")
    document[0].set_rotation(90)
    document.save(tmp_path / "turned.pdf")
    (page,) = read_text_layer(job_for(tmp_path / "turned.pdf", tmp_path))
    assert (page.width_points, page.height_points) == (842, 595)
    (line,) = page.blocks
    assert line.text == "A line on a landscape page"
    assert line.box[0] == pytest.approx(72 / 842, abs=0.01)
    assert line.box[3] == pytest.approx(1 - 500 / 595, abs=0.02)


def test_figures_and_tables_are_cut_formulas_read_and_silent_pages_drawn(tmp_path):
    path = hostile.plain_pdf(tmp_path, pages=2)
    figure = Block(kind=NodeKind.FIGURE, text="", box=(0.1, 0.1, 0.6, 0.3))
    ornament = Block(kind=NodeKind.FIGURE, text="", box=(0.1, 0.1, 0.11, 0.11))
    formula = Block(kind=NodeKind.FORMULA, text="", box=(0.0, 0.05, 1.0, 0.12))
    words = Block(kind=NodeKind.PARAGRAPH, text="Words enough for a page to speak.", box=(0, 0, 1, 1))
    stamp = Block(kind=NodeKind.HEADER, text="A stamp at the edge of a scanned page", box=(0, 0, 1, 0.02))
    table = Block(kind=NodeKind.TABLE, text="a | b", box=(0.1, 0.4, 0.6, 0.5))
    speaking = ParsedPage(1, 595, 842, PageParser.MINERU, (figure, ornament, formula, words, table))
    silent = ParsedPage(2, 595, 842, PageParser.MINERU, (stamp,))
    first, second = add_pictures((speaking, silent), job_for(path, tmp_path))
    assert [block.picture for block in first.blocks] == ["figure-1-0", None, None, None, "figure-1-4"]
    assert first.blocks[2].text == "Chapter 1"
    assert (first.image, second.image) == (None, "image-2")
    assert (tmp_path / "figure-1-0").stat().st_size > 100
    assert (tmp_path / "image-2").stat().st_size > 1000


def test_an_enormous_page_is_drawn_smaller(tmp_path):
    document = pdfium.PdfDocument.new()
    page = document.new_page(14_400, 14_400)
    assert draw(page, dpi=144, megapixels=1).size == (1000, 1000)
