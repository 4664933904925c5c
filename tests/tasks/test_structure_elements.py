"""Blocks become elements: slides by their titles, pages read by OCR in the order people read."""

from storage.records import Block, NodeKind, PageParser
from tests.tasks.structure_worlds import block, structure


def test_slides_have_one_section_each_and_repeated_titles_one_together():
    def slide(title, text):
        return [
            block(NodeKind.PARAGRAPH, title, 0.1, 0.2),
            block(NodeKind.PARAGRAPH, text, 0.5),
            block(NodeKind.TITLE, "Aside", 0.8),
        ]

    plain = [slide(title, "body text")[:2] for title in ("Alpha", "Alpha", "Beta")]
    assert [(section.title, section.level) for section in structure(*plain, size=(800, 600)).sections] == [
        ("Alpha", 1),
        ("Beta", 1),
    ]
    titled = [[block(NodeKind.TITLE, "Gamma", 0.1, 0.2), *slide("x", "y")[1:]], slide("Delta", "z")[:2]]
    shown = structure(*titled, size=(800, 600)).sections
    assert [(section.title, section.level) for section in shown] == [("Gamma", 1), ("Aside", 2), ("Delta", 1)]


def test_pages_read_by_ocr_are_put_in_order():
    left = [Block(NodeKind.PARAGRAPH, f"left {n} " * 50, (0.1, top, 0.45, top + 0.3)) for n, top in enumerate((0.1, 0.5))]
    right = [Block(NodeKind.PARAGRAPH, f"right {n} " * 50, (0.55, top, 0.9, top + 0.25)) for n, top in enumerate((0.15, 0.6))]
    found = structure([left[0], right[0], left[1], right[1]], parser=PageParser.OCR)
    assert [node.content[:7] for node in found.nodes] == ["left 0 ", "left 1 ", "right 0", "right 1"]
