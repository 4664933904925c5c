"""Text is read as it stands: paragraphs by empty lines, Markdown by its signs."""

import pytest

from storage.records.documents import NodeKind
from tasks.algorithms.layout.tables import Table, read_html
from tasks.parsing.jobs import Job
from tasks.parsing.plain import decode_text, read_markdown, read_plain


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
