"""What a file is follows from its content; text is read as it stands, and MinerU's blocks become ours."""

import io
import zipfile

import docx
import openpyxl
import pptx
import pytest
from PIL import Image

from storage.records.documents import DocumentState, NodeKind
from tasks.algorithms.layout.tables import Table, read_html
from tasks.parsing.formats import detect
from tasks.parsing.jobs import PDF, Job, ParseError, Work
from tasks.parsing.mineru import (
    NO_PLACE,
    body_of,
    inline_text,
    read_pages,
    read_whole,
    table_text,
    to_block,
)
from tasks.parsing.plain import decode_text, read_markdown, read_plain
from tasks.settings.ingest import LimitSettings, OcrSettings, ParseSettings
from tests import hostile

LIMITS = LimitSettings()
OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"


def kind(folder, data: bytes, name: str = "file") -> str:
    path = folder / "copy"
    path.write_bytes(data)
    return detect(path, name=name, limits=LIMITS)


@pytest.mark.parametrize(
    ("data", "name", "expected"),
    [
        (b"\n%PDF-1.7\n", "a.txt", PDF),
        (b"\x89PNG\r\n\x1a\n....", "a.pdf", "image/png"),
        (b"\xff\xd8\xff\xe0", "a", "image/jpeg"),
        (b"RIFF\x00\x00\x00\x00WEBPVP8 ", "a", "image/webp"),
        (b"{\\rtf1 Hello}", "a.txt", "application/rtf"),
        (b"<!DOCTYPE html><html><p>x", "a.txt", "text/html"),
        (b"\xef\xbb\xbf<?xml version='1.0'?>\n<html>", "a", "text/html"),
        (b"<p>Only a piece of a page</p>", "a.html", "text/html"),
        (b"From: x\nMIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n", "a.mht", "multipart/related"),
        (b"# Title\n\nWords", "a.MD", "text/markdown"),
        (b"a,b\n1,2\n", "a.csv", "text/csv"),
        (b"Words", "no-suffix", "text/plain"),
        ("Gr\u00fc\u00dfe aus K\u00f6ln".encode("latin-1"), "a.txt", "text/plain"),
        ("\ufeffWords".encode("utf-16"), "a.txt", "text/plain"),
        (("\u00e9" * 40_000).encode()[: (1 << 16) + 1], "a.txt", "text/plain"),
    ],
)
def test_content_names_the_kind(data, name, expected, tmp_path):
    assert kind(tmp_path, data, name) == expected


def test_office_documents_are_distinguished_by_what_is_in_the_archive(tmp_path):
    docx.Document().save(tmp_path / "a")
    openpyxl.Workbook().save(tmp_path / "b")
    pptx.Presentation().save(tmp_path / "c")
    endings = [detect(tmp_path / name, name="x.zip", limits=LIMITS).rpartition(".")[2] for name in "abc"]
    assert endings == ["document", "sheet", "presentation"]


def test_an_open_document_names_its_own_type(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.odt", "w") as archive:
        archive.writestr("mimetype", "application/vnd.oasis.opendocument.text")
    assert detect(tmp_path / "a.odt", name="a.odt", limits=LIMITS).endswith("opendocument.text")


@pytest.mark.parametrize(
    ("stream", "expected"),
    [
        ("WordDocument", "application/msword"),
        ("PowerPoint Document", "application/vnd.ms-powerpoint"),
        ("Workbook", "application/vnd.ms-excel"),
    ],
)
def test_old_office_documents_are_distinguished_by_their_streams(stream, expected, tmp_path):
    assert kind(tmp_path, OLE + bytes(504) + stream.encode("utf-16-le")) == expected


@pytest.mark.parametrize(
    ("data", "name", "words", "state"),
    [
        (b"", "a.pdf", "zero bytes", DocumentState.FAILED),
        (bytes(range(256)) * 9, "a.pdf", "neither text", DocumentState.FAILED),
        (b"\xe9\xe8" * 900, "a.txt", "neither text", DocumentState.FAILED),
        (b"Words", "a.docx", "its name says DOCX, its content is plain text", DocumentState.FAILED),
        (b"PK\x03\x04 cut short", "a.docx", "damaged ZIP", DocumentState.FAILED),
        (OLE + bytes(99), "a.doc", "OLE container", DocumentState.FAILED),
        (OLE + "EncryptedPackage".encode("utf-16-le"), "a.docx", "encrypted Office", DocumentState.NEEDS_PASSWORD),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(data, name, words, state, tmp_path):
    with pytest.raises(ParseError, match=words) as caught:
        kind(tmp_path, data, name)
    assert caught.value.state is state


def test_a_plain_archive_is_no_document(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr("x.txt", "x")
    with pytest.raises(ParseError, match="unpack it"):
        detect(tmp_path / "a.zip", name="a.zip", limits=LIMITS)


@pytest.mark.parametrize(
    ("limits", "name"),
    [
        (LimitSettings(archive_entries=10), "archive_entries"),
        (LimitSettings(archive_megabytes=1), "archive_megabytes"),
        (LIMITS, "archive_ratio"),
    ],
)
def test_an_archive_is_weighed_before_it_is_opened(limits, name, tmp_path):
    with pytest.raises(ParseError, match=name):
        detect(hostile.zip_bomb_docx(tmp_path, megabytes=40), name="bomb.docx", limits=limits)


def blocks_of(folder, words, parser):
    (folder / "a").write_text(words)
    (page,) = parser(Job.model_construct(source=folder / "a")).pages
    return page.blocks


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("é".encode(), "é"),
        ("\ufeffé".encode(), "é"),
        ("é".encode("utf-16"), "é"),
        ("é".encode("latin-1"), "é"),
        (b"a\r\nb\rc", "a\nb\nc"),
    ],
)
def test_every_encoding_gives_the_same_words(data, expected):
    assert decode_text(data) == expected


def test_empty_lines_part_paragraphs_and_lines_are_joined(tmp_path):
    blocks = blocks_of(tmp_path, "One\ntwo.\n\n \n# Three\n\n- a\n- b\n", read_plain)
    assert [(block.kind, block.text) for block in blocks] == [
        (NodeKind.PARAGRAPH, "One two."),
        (NodeKind.PARAGRAPH, "# Three"),
        (NodeKind.LIST, "- a\n- b"),
    ]


def test_markdown_has_titles_code_tables_and_lists(tmp_path):
    words = "# Top #\nWords\n## Next\n```py\nx = 1\n\n# no title\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n2. y\n"
    assert [(block.kind, block.text, block.level) for block in blocks_of(tmp_path, words, read_markdown)] == [
        (NodeKind.TITLE, "Top", 1),
        (NodeKind.PARAGRAPH, "Words", None),
        (NodeKind.TITLE, "Next", 2),
        (NodeKind.CODE, "x = 1\n\n# no title", None),
        (NodeKind.TABLE, "| a | b |\n|---|---|\n| 1 | 2 |", None),
        (NodeKind.LIST, "1. x\n2. y", None),
    ]


@pytest.mark.parametrize(
    ("lines", "rows"),
    [
        ("| a | b |\n|:--|--:|\n| 1 \\| 2 | <x> |", (("a", "b"), ("1 | 2", "<x>"))),
        ("Bolt | Torque\n---|---\nM6 | 10\nM8 | 25", (("Bolt", "Torque"), ("M6", "10"), ("M8", "25"))),
        ("| a | b |\n|---|---|\n| **1** | 2\n| x<br>y | R&amp;D `c` |", (("a", "b"), ("1", "2"), ("x y", "R&D c"))),
    ],
)
def test_a_table_of_markdown_has_cells_wherever_it_stands(tmp_path, lines, rows):
    before, table, after = blocks_of(tmp_path, f"Words before\n{lines}\n\nand after", read_markdown)
    assert (before.text, after.text) == ("Words before", "and after")
    assert read_html(table.html) == Table(rows, 1) and table.text == lines


def test_front_matter_and_references_are_words_and_spaces_cost_no_time(tmp_path):
    words = f"---\nlang: en\n---\n\nSee [a].\n\n[a]: b\n\n# x{' ' * 16_000}y{' ' * 16_000}z\n"
    blocks = blocks_of(tmp_path, words, read_markdown)
    assert [block.text for block in blocks[:-1]] == ["---", "lang: en", "---", "See [a].", "[a]: b"]
    assert blocks[-1].kind is NodeKind.TITLE


def test_an_open_fence_ends_with_the_text(tmp_path):
    assert [block.text for block in blocks_of(tmp_path, "```\ncode\n\nmore", read_markdown)] == ["code\n\nmore"]


def run(words: str, **more) -> dict[str, object]:
    return {"type": "text", "content": words, **more}


SEE = [run("See "), {"type": "hyperlink", "url": "http://x.example", "content": [run("the page")]}, run(".", styles=["bold"])]


@pytest.mark.parametrize(
    ("raw", "expected"),
    [
        ({"type": "text", "content": SEE, "continues_prev": True}, (NodeKind.PARAGRAPH, "See the page.", NO_PLACE, True)),
        ({"type": "text", "bbox": [0.9, 1.2, 0.1, -0.1], "content": []}, (NodeKind.PARAGRAPH, "", (0.1, 0.0, 0.9, 1.0), False)),
        ({"type": "oracle", "content": [run("Words")]}, (NodeKind.PARAGRAPH, "Words", NO_PLACE, False)),
        (
            {"type": "list", "content": [{"type": "text", "content": [run(words)]} for words in ("- a", "- b")]},
            (NodeKind.LIST, "- a\n- b", NO_PLACE, False),
        ),
    ],
    ids=["runs and links", "a box beyond the page", "what a later MinerU invents", "items of a list"],
)
def test_a_block_of_mineru_becomes_one_of_ours(raw, expected):
    block = to_block(raw)
    assert (block.kind, block.text, block.box, block.continues) == expected


def test_only_a_title_has_a_level_and_a_figure_keeps_the_words_in_it():
    assert to_block({"type": "paragraph_title", "level": 2, "content": [run("Two")]}).level == 2
    assert to_block({"type": "text", "level": 2, "content": [run("Two")]}).level is None
    figure = to_block({"type": "chart", "content": [{"type": "chart_body", "content": "Sales 2020"}]})
    assert (figure.kind, figure.text, figure.picture_text) == (NodeKind.FIGURE, "", "Sales 2020")
    assert inline_text(None) == inline_text(["stray"]) == table_text("<table></table>") == ""


def test_a_table_keeps_its_markup_words_caption_and_footnotes():
    raw = {
        "type": "table",
        "bbox": [0, 0, 1, 0.5],
        "content": [
            {"type": "table_caption", "bbox": [0, 0, 1, 0.1], "content": [run("Table 1: Both.")]},
            {"type": "table_body", "content": "<table><tr><th>A &amp; B</th><th>C</th></tr><tr><td>1</td><td></td></tr></table>"},
            {"type": "table_footnote", "content": [run("In tonnes.")]},
        ],
    }
    block = to_block(raw)
    assert block.html == body_of(raw)["content"]
    assert block.text == "A & B | C\n1 |"
    assert (block.caption, block.caption_box, block.footnote) == ("Table 1: Both.", (0.0, 0.0, 1.0, 0.1), "In tonnes.")
    aligned = to_block({"type": "table", "content": [{"type": "table_body", "content": " A   B\n 1   2"}]})
    assert (aligned.html, aligned.text) == (None, " A   B\n 1   2")


def job_for(source, folder, **changes) -> Job:
    given = {"parse": ParseSettings(), "ocr": OcrSettings(), "limits": LimitSettings()} | changes
    return Job(work=Work.MINERU, source=source, folder=folder, name=source.name, cpu_seconds=9, wall_seconds=9, **given)


def test_a_range_has_the_numbers_of_the_whole_document(tmp_path):
    pages = read_pages(job_for(hostile.plain_pdf(tmp_path, pages=5), tmp_path, first_page=3, last_page=4))
    assert [page.number for page in pages] == [3, 4]
    assert "4000 tonnes" in " ".join(block.text for block in pages[1].blocks)


def test_pictures_in_a_document_are_kept_and_tiny_or_broken_ones_do_no_harm(tmp_path):
    buffer = io.BytesIO()
    Image.radial_gradient("L").save(buffer, "PNG")
    document = docx.Document()
    document.add_heading("Letter", 0)
    document.add_picture(buffer)
    document.save(tmp_path / "a.docx")
    reading = read_whole(job_for(tmp_path / "a.docx", tmp_path), format_name="docx")
    assert reading.title == ""
    (page,) = reading.pages
    (figure,) = [block for block in page.blocks if block.kind is NodeKind.FIGURE]
    assert figure.picture is not None
    with Image.open(tmp_path / figure.picture) as picture:
        assert picture.size == (256, 256)
