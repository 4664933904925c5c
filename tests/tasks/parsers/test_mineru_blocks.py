"""MinerU's blocks become records without a word lost."""

from storage.records import NodeKind
from tasks.parsers.mineru_blocks import NO_PLACE, body_of, inline_text, table_text, to_block


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
