"""pdfium tells what a PDF is, pictures are weighed before they are decoded, and what is silent gets the words that OCR finds."""

import io

import numpy as np
import pypdfium2 as pdfium
import pytest
from PIL import Image, ImageDraw, ImageFont
from reportlab.pdfgen.canvas import Canvas

from storage.artifacts import ArtifactStore
from storage.records.documents import Block, DocumentState, NodeKind, OutlineEntry, PageParser, ParsedDocument, ParsedPage
from tasks.algorithms.layout.lines import box_of_quote, read_lines
from tasks.parsing import pictures_read as picture_reading
from tasks.parsing.jobs import Job, ParseError, Work
from tasks.parsing.pdfium import add_pictures, draw, open_pdf, read_text_layer, survey_pdf
from tasks.parsing.pictures import decode, encode, flatten, read_picture
from tasks.parsing.pictures_read import read_words
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
    assert [read_lines(page.lines)[0].text for page in (first, second)] == ["Chapter 1", "Chapter 2"]
    assert (tmp_path / "figure-1-0").stat().st_size > 100
    assert (tmp_path / "image-2").stat().st_size > 1000


def test_an_enormous_page_is_drawn_smaller(tmp_path):
    document = pdfium.PdfDocument.new()
    page = document.new_page(14_400, 14_400)
    assert draw(page, dpi=144, megapixels=1).size == (1000, 1000)


def noise() -> Image.Image:
    return Image.fromarray(np.random.default_rng(5).integers(0, 255, (64, 96, 3), dtype=np.uint8))


def test_few_colours_are_kept_exactly_and_photographs_are_made_small():
    drawing = Image.new("RGB", (100, 50), "white")
    drawing.paste("black", (10, 10, 40, 40))
    assert encode(drawing).startswith(b"\x89PNG")
    assert Image.open(io.BytesIO(encode(drawing))).tobytes() == drawing.tobytes()
    assert encode(noise()).startswith(b"\xff\xd8\xff") and encode(noise()) == encode(noise())


def test_a_picture_is_turned_as_its_camera_says():
    buffer = io.BytesIO()
    exif = Image.Exif()
    exif[0x0112] = 6
    noise().save(buffer, "JPEG", exif=exif)
    assert decode(buffer, megapixels=1).size == (64, 96)


def test_what_is_transparent_becomes_white():
    assert flatten(Image.new("RGBA", (2, 2), (255, 0, 0, 0))).getpixel((0, 0)) == (255, 255, 255)
    assert flatten(Image.new("P", (2, 2))).mode == "RGB"


@pytest.mark.parametrize("data", [b"no picture", b"\x89PNG\r\n\x1a\n" + bytes(40)])
def test_a_damaged_picture_is_refused(data):
    with pytest.raises(ParseError, match="picture"):
        decode(io.BytesIO(data), megapixels=1)


def test_a_large_picture_is_refused_before_it_is_decoded(tmp_path):
    with pytest.raises(ParseError, match="4000 x 4000 pixels; 15 megapixels"):
        decode(hostile.huge_png(tmp_path, side=4000), megapixels=15)


def test_a_picture_is_a_page_to_be_read_later(tmp_path):
    noise().save(tmp_path / "document", "TIFF")
    job = Job(
        work=Work.WHOLE, source=tmp_path / "document", folder=tmp_path, name="a.tif", media_type="image/tiff", cpu_seconds=1,
        wall_seconds=1, parse=ParseSettings(), ocr=OcrSettings(page_dpi=144), limits=LimitSettings(),
    )  # fmt: skip
    (page,) = read_picture(job).pages
    assert (page.parser, page.image, page.width_points, page.height_points) == (PageParser.NONE, "image-1", 48, 32)
    with Image.open(tmp_path / "image-1") as picture:
        assert picture.size == (96, 64)


WHOLE = (0.0, 0.0, 1.0, 1.0)


def an_image(*lines: tuple[str, int]) -> bytes:
    """Lines of text, each of its size, one below the other."""
    drawn = Image.new("RGB", (800, 600), "white")
    top = 30
    for text, size in lines:
        ImageDraw.Draw(drawn).text((40, top), text, "black", ImageFont.load_default(size))
        top += int(size * 1.25)
    buffer = io.BytesIO()
    drawn.save(buffer, "PNG")
    return buffer.getvalue()


class World:
    """An artifact store, a cache, and what the progress reported."""

    def __init__(self, folder):
        self.artifacts = ArtifactStore(folder / "artifacts")
        self.cache = folder / "words"
        self.progress = []

    def read(self, *pages, **settings):
        parsed = ParsedDocument(document_id="d", media_type="application/pdf", title="", pages=pages)
        return read_words(
            parsed=parsed,
            settings=OcrSettings(**settings),
            artifacts=self.artifacts,
            cache_folder=self.cache,
            on_pictures=lambda *done: self.progress.append(done),
        ).pages

    def figure(self, *lines, box=(0.1, 0.1, 0.6, 0.6), **fields):
        return Block(kind=NodeKind.FIGURE, text="", box=box, picture=self.artifacts.put(an_image(*lines)), **fields)


@pytest.fixture
def world(tmp_path):
    return World(tmp_path)


def page(number, *blocks, **fields):
    return ParsedPage(number, 600, 450, fields.pop("parser", PageParser.NONE), tuple(blocks), **fields)


SLIDE = [("Third quarter", 60), ("Orders rose in July and", 30), ("fell in August.", 30)]


def test_a_page_without_text_gets_a_title_and_paragraphs(world):
    (read,) = world.read(page(1, image=world.artifacts.put(an_image(*SLIDE))))
    assert read.parser is PageParser.OCR and read.note == ""
    assert [(block.kind, block.text) for block in read.blocks] == [
        (NodeKind.TITLE, "Third quarter"),
        (NodeKind.PARAGRAPH, "Orders rose in July and fell in August."),
    ]
    assert world.progress == [(1, 1)]
    august = box_of_quote("fell in August.", block=read.blocks[1].box, lines=read_lines(read.lines))
    assert read.blocks[1].box[1] < august[1] and august[3] == pytest.approx(read.blocks[1].box[3], abs=1e-4)


def test_the_words_of_a_figure_stand_where_it_stands_on_its_page(world):
    chart = world.figure(("Tidal energy", 40), ("Wind", 40), box=(0.5, 0.5, 0.9, 0.9))
    (read,) = world.read(page(1, chart, parser=PageParser.MINERU, lines="1000 1000 2000 1100 A line above"))
    above, tidal, wind = read_lines(read.lines)
    assert (above.text, tidal.text, wind.text) == ("A line above", "Tidal energy", "Wind")
    # the picture is 800 by 600, its first line begins at 40, 30
    assert (
        tidal.box[:2] == pytest.approx((0.5 + 0.4 * 40 / 800, 0.5 + 0.4 * 30 / 600), abs=0.01) and tidal.box[3] < wind.box[3] < 0.6
    )


def test_with_ocr_off_pages_are_left_alone(world):
    blank = page(1, image=world.artifacts.put(an_image(*SLIDE)))
    assert world.read(blank, enabled=False) == (blank,)
    assert not world.cache.exists() and not world.progress


def test_a_page_where_nothing_is_found_stays_as_it_is(world):
    blank = page(1, image=world.artifacts.put(an_image()), note="no text layer")
    assert world.read(blank) == (blank,)


def test_a_damaged_page_image_leaves_a_note(world):
    (read,) = world.read(page(1, image=world.artifacts.put(b"no picture"), note="no text layer"))
    assert read.note.startswith("no text layer; OCR: the picture is damaged") and read.parser is PageParser.NONE


def test_words_inside_a_figure_of_a_scan_belong_to_it_and_the_scan_itself_is_no_figure(world):
    scan = world.artifacts.put(an_image(*SLIDE))
    chart = world.figure(box=(0.0, 0.0, 1.0, 0.2))
    whole = world.figure(box=WHOLE)
    (read,) = world.read(page(1, chart, whole, image=scan))
    assert [(block.kind, block.text, block.picture_text) for block in read.blocks] == [
        (NodeKind.FIGURE, "", "Third quarter"),
        (NodeKind.PARAGRAPH, "Orders rose in July and fell in August.", ""),
    ]


def test_only_large_rare_silent_figures_are_read(world):
    chart = world.figure(("Tidal energy", 40))
    small = world.figure(("Small print", 40), box=(0.1, 0.1, 0.2, 0.2))
    known = world.figure(("Known words", 40), picture_text="from the text layer")
    logo = world.figure(("Merrow logo", 40))
    text = Block(kind=NodeKind.PARAGRAPH, text="text", box=WHOLE)
    pages = [page(1, text, chart, small, known, logo, parser=PageParser.MINERU)]
    pages += [page(number, logo, parser=PageParser.MINERU) for number in (2, 3)]
    read = world.read(*pages)
    assert [block.picture_text for block in read[0].blocks] == ["", "Tidal energy", "", "from the text layer", ""]
    assert read[1:] == tuple(pages[1:])
    assert read[0].parser is PageParser.MINERU and world.progress == [(1, 1)]


def test_a_damaged_figure_leaves_a_note_once(world):
    broken = Block(kind=NodeKind.FIGURE, text="", box=WHOLE, picture=world.artifacts.put(b"no picture"))
    (read,) = world.read(page(1, broken, broken))
    assert read.note.count("OCR: the picture is damaged") == 1 and read.blocks[0].picture_text == ""


def test_unsure_lines_are_left_out_without_reading_again(world, monkeypatch):
    chart = world.figure(("Tidal energy", 40))
    assert world.read(page(1, chart))[0].blocks[0].picture_text == "Tidal energy"
    monkeypatch.setattr(picture_reading, "read_pictures", lambda pictures: [] if not pictures else pytest.fail("read again"))
    assert world.read(page(1, chart), minimum_confidence=1.0)[0].blocks[0].picture_text == ""


@pytest.mark.parametrize("damage", [lambda body: body.replace(b"Tidal", b"Tical"), lambda body: body[:-20], lambda body: b""])
def test_a_damaged_memory_is_read_again_and_mended(world, damage):
    chart = world.figure(("Tidal energy", 40))
    world.read(page(1, chart))
    (remembered,) = world.cache.rglob("*.json")
    body = remembered.read_bytes()
    remembered.write_bytes(damage(body))
    assert world.read(page(1, chart))[0].blocks[0].picture_text == "Tidal energy"
    assert remembered.read_bytes() == body


def test_many_pictures_are_read_in_batches(world, monkeypatch):
    monkeypatch.setattr(picture_reading, "PICTURES_AT_ONCE", 2)
    pages = [page(number, world.figure((f"Figure {number}", 40))) for number in range(1, 4)]
    read = world.read(*pages)
    assert [one.blocks[0].picture_text for one in read] == ["Figure 1", "Figure 2", "Figure 3"]
    assert world.progress == [(2, 3), (3, 3)]
