"""Text is read as it stands: paragraphs by empty lines, Markdown by its signs."""

import pytest

from storage.records.documents import NodeKind
from tasks.parsing.media import MARKDOWN, PLAIN
from tasks.parsing.plain import decode_text, read_plain


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
    (tmp_path / "a").write_text("One\ntwo.\n\n \n# Three\n\n- a\n- b\n")
    (page,) = read_plain(tmp_path / "a", PLAIN)
    assert [(block.kind, block.text) for block in page.blocks] == [
        (NodeKind.PARAGRAPH, "One two."),
        (NodeKind.PARAGRAPH, "# Three"),
        (NodeKind.LIST, "- a\n- b"),
    ]


def test_markdown_has_titles_code_tables_and_lists(tmp_path):
    (tmp_path / "a").write_text(
        "# Top #\nWords\n## Next\n```py\nx = 1\n\n# no title\n```\n| a | b |\n|---|---|\n| 1 | 2 |\n\n1. x\n2. y\n"
    )
    (page,) = read_plain(tmp_path / "a", MARKDOWN)
    assert [(block.kind, block.text, block.level) for block in page.blocks] == [
        (NodeKind.TITLE, "Top", 1),
        (NodeKind.PARAGRAPH, "Words", None),
        (NodeKind.TITLE, "Next", 2),
        (NodeKind.CODE, "x = 1\n\n# no title", None),
        (NodeKind.TABLE, "| a | b |\n|---|---|\n| 1 | 2 |", None),
        (NodeKind.LIST, "1. x\n2. y", None),
    ]


def test_an_open_fence_ends_with_the_text(tmp_path):
    (tmp_path / "a").write_text("```\ncode\n\nmore")
    (page,) = read_plain(tmp_path / "a", MARKDOWN)
    assert [block.text for block in page.blocks] == ["code\n\nmore"]
