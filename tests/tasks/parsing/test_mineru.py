"""MinerU reads without starting processes of its own, and what it embeds becomes pictures."""

import io

import docx
from PIL import Image

from storage.records.documents import NodeKind
from tasks.parsing.jobs import Job, Work
from tasks.parsing.mineru import (
    NO_PLACE,
    body_of,
    inline_text,
    read_pages,
    read_whole,
    table_text,
    to_block,
)
from tasks.settings.ingest import LimitSettings, OcrSettings, ParseSettings
from tests import hostile


def run(words: str, **more) -> dict[str, object]:
    return {"type": "text", "content": words, **more}


def test_runs_are_joined_as_they_stand_and_links_keep_their_words():
    content = [
        run("See "),
        {"type": "hyperlink", "url": "http://x.example", "content": [run("the page")]},
        run(".", styles=["bold"]),
    ]
    block = to_block({"type": "text", "bbox": [0.1, 0.2, 0.3, 0.4], "content": content, "continues_prev": True})
    assert (block.kind, block.text, block.box, block.continues) == (NodeKind.PARAGRAPH, "See the page.", (0.1, 0.2, 0.3, 0.4), True)


def test_items_of_a_list_are_lines():
    block = to_block(
        {"type": "list", "content": [{"type": "text", "content": [run("- a")]}, {"type": "text", "content": [run("- b")]}]}
    )
    assert (block.kind, block.text, block.box) == (NodeKind.LIST, "- a\n- b", NO_PLACE)


def test_a_title_has_its_level_and_nothing_else_has_one():
    assert to_block({"type": "paragraph_title", "level": 2, "content": [run("Two")]}).level == 2
    assert to_block({"type": "text", "level": 2, "content": [run("Two")]}).level is None


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


def test_a_table_of_aligned_words_has_no_markup():
    block = to_block({"type": "table", "content": [{"type": "table_body", "content": " A   B\n 1   2"}]})
    assert (block.html, block.text) == (None, " A   B\n 1   2")


def test_the_words_in_a_figure_are_its_picture_text():
    block = to_block({"type": "chart", "content": [{"type": "chart_body", "content": "Sales 2020"}]})
    assert (block.kind, block.text, block.picture_text) == (NodeKind.FIGURE, "", "Sales 2020")


def test_what_a_later_mineru_invents_is_a_paragraph():
    assert to_block({"type": "oracle", "content": [run("Words")]}).kind is NodeKind.PARAGRAPH


def test_a_box_is_cut_to_the_page_and_turned_right():
    assert to_block({"type": "text", "bbox": [0.9, 1.2, 0.1, -0.1], "content": []}).box == (0.1, 0.0, 0.9, 1.0)


def test_no_content_is_no_words():
    assert inline_text(None) == ""
    assert inline_text(["stray"]) == ""
    assert body_of({"type": "image", "content": "words"}) == {}
    assert table_text("<table></table>") == ""


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
