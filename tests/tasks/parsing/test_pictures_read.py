"""Pages and figures without text get the words that OCR finds in them; what was found is remembered."""

import io

import pytest
from PIL import Image, ImageDraw, ImageFont

from storage.artifacts import ArtifactStore
from storage.records.documents import Block, NodeKind, PageParser, ParsedDocument, ParsedPage
from tasks.parsing import pictures_read as picture_reading
from tasks.parsing.pictures_read import read_words
from tasks.settings.ingest import OcrSettings

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
