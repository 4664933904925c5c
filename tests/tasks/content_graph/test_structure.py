from itertools import pairwise

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from storage.records.documents import Block, EdgeKind, Modality, NodeKind, OutlineEntry, PageParser
from tasks.content_graph.structure import Structured
from tests.tasks.structure_worlds import HTML, MORE, block, structure


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


LONG = "This paragraph tells of the results that Table 1 and Figure 1 show on page 2, and of those in Section 1 as well"


def links(found, kind):
    contents = {node.id: node.content for node in found.nodes}
    return {(contents[edge.source][:12], contents[edge.target][:12]) for edge in found.edges if edge.kind is kind}


def test_the_levels_that_a_model_read_go_before_those_of_the_rules_but_only_what_may_be_a_title_becomes_one():
    page = [
        block(NodeKind.TITLE, "Costs", 0.1),
        block(NodeKind.PARAGRAPH, "Limits of this study", 0.2),
        block(NodeKind.TABLE, "", 0.3, 0.4, html=HTML),
        block(NodeKind.PARAGRAPH, LONG, 0.5, 0.6),
        block(NodeKind.FIGURE, "", 0.7, 0.8, picture="p"),
    ]
    plain, read = structure(page), structure(page, levels_read=dict(enumerate((0, 2, 1, 1, 1))))
    assert [section.title for section in read.sections] == ["Limits of this study"]
    assert [node.id for node in read.nodes] == [node.id for node in plain.nodes] and read.rows == plain.rows
    kinds = [node.kind for node in plain.nodes]
    assert [node.kind for node in read.nodes] == [kinds[0], NodeKind.TITLE, *kinds[2:]]


@pytest.fixture(scope="module")
def report():
    first = [
        block(NodeKind.HEADER, "Acme", 0.02),
        block(NodeKind.TITLE, "Annual report", 0.1, 0.14, level=1),
        block(NodeKind.TITLE, "1 Results", 0.2, level=2),
        block(NodeKind.PARAGRAPH, LONG, 0.3, 0.4),
        block(NodeKind.FORMULA, "", 0.45),
        block(NodeKind.FIGURE, "", 0.5, 0.6, picture="p", picture_text="north south"),
        block(NodeKind.PARAGRAPH, "Figure 1: Growth", 0.61),
        block(NodeKind.PARAGRAPH, "Table 1: Revenue", 0.68),
        block(NodeKind.TABLE, "", 0.7, 0.9, html=HTML),
        block(NodeKind.PAGE_NUMBER, "1", 0.96),
    ]
    second = [
        block(NodeKind.HEADER, "Acme", 0.02),
        block(NodeKind.TABLE, "", 0.1, 0.3, html=MORE),
        block(NodeKind.TITLE, "2 Outlook", 0.5, level=2),
        block(NodeKind.PARAGRAPH, "Ends.", 0.6),
        block(NodeKind.PAGE_NUMBER, "2", 0.96),
    ]
    return structure(first, second, outline=[OutlineEntry("1 Results", 1, 1)])


def test_a_report_becomes_sections_nodes_and_pages_without_its_furniture(report):
    assert report.title == "Annual report"
    assert [(section.title, section.level) for section in report.sections] == [
        ("Annual report", 1),
        ("1 Results", 2),
        ("2 Outlook", 2),
    ]
    assert [page.label for page in report.pages] == ["1", "2"]
    assert not {"Acme", "1", "2", ""} & {node.content for node in report.nodes}
    outlook = report.nodes[-1]
    assert outlook.section_path == ("Annual report", "2 Outlook")
    assert outlook.section_id == report.sections[2].id


def test_a_report_s_edges_say_what_the_layout_says(report):
    assert links(report, EdgeKind.CAPTION_OF) == {("Figure 1: Gr", "north south"), ("Table 1: Rev", "| Region | 2")}
    assert links(report, EdgeKind.REFERS_TO) >= {(LONG[:12], "north south"), (LONG[:12], "| Region | 2"), (LONG[:12], "1 Results")}
    assert ("1 Results", "Annual repor") in links(report, EdgeKind.PART_OF)
    assert ("Ends.", "2 Outlook") in links(report, EdgeKind.PART_OF)
    assert len([edge for edge in report.edges if edge.kind is EdgeKind.CONTINUES]) == 1


def test_a_continued_table_inherits_header_and_caption(report):
    second = [node for node in report.nodes if node.modality is Modality.TABLE][1]
    assert (second.caption, second.label, second.html) == ("Table 1: Revenue (continued)", "Table 1", MORE)
    texts = [row.text for row in report.rows if row.node_id == second.id]
    assert texts[1] == "Table 1: Revenue (continued) | Region: South | 2023: 3.9"
    assert [row.is_header for row in report.rows] == [True, False, True, False]


def test_a_continued_table_without_a_caption_inherits_its_header_alone():
    found = structure([block(NodeKind.TABLE, "", 0.7, 0.9, html=HTML)], [block(NodeKind.TABLE, "", 0.1, 0.3, html=MORE)])
    assert [(row.text, row.is_header) for row in found.rows][2:] == [("Region | 2023", True), ("Region: South | 2023: 3.9", False)]
    assert found.nodes[1].caption == ""


TITLED = (
    "<table><tr><th colspan=3>{}</th></tr><tr><td>Item</td><td>Q1</td><td>Q2</td></tr>"
    "<tr><td>Wages</td><td>5</td><td>5</td></tr></table>"
)


def test_what_stands_over_a_table_s_columns_is_its_caption_and_opens_its_rows():
    (found,) = structure([block(NodeKind.TABLE, "", 0.7, 0.9, html=TITLED.format("Table 3: Costs"))]).nodes
    assert (found.caption, found.label) == ("Table 3: Costs", "Table 3")
    two = structure(
        [block(NodeKind.TABLE, "", 0.7, 0.9, html=TITLED.format("in pounds"), caption="Table 1: Costs")],
        [block(NodeKind.TABLE, "", 0.1, 0.3, html=TITLED.format("in euros"))],
    )
    assert [row.text for row in two.rows if not row.is_header] == [
        "Table 1: Costs | in pounds | Item: Wages | Q1: 5 | Q2: 5",
        "in euros | Item: Wages | Q1: 5 | Q2: 5",
    ]
    assert not [edge for edge in two.edges if edge.kind is EdgeKind.CONTINUES], "another title makes another table"


def test_no_two_nodes_or_rows_have_one_id(report):
    assert len({node.id for node in report.nodes}) == len(report.nodes)
    assert len({row.id for row in report.rows}) == len(report.rows)


def test_nothing_becomes_nothing_and_aligned_text_a_table():
    assert structure() == Structured("", (), (), (), (), ())
    assert structure([], title="report").title == "report"
    found = structure([block(NodeKind.TABLE, "          2023\nSales      1", 0.3, 0.5), block(NodeKind.HEADER, "word " * 50, 0.6)])
    assert [row.text for row in found.rows] == ["2023", "Sales | 2023: 1"]
    assert found.nodes[1].kind is NodeKind.PARAGRAPH


kinds = st.sampled_from([NodeKind.TITLE, NodeKind.PARAGRAPH, NodeKind.LIST, NodeKind.FOOTNOTE, NodeKind.CODE, NodeKind.FIGURE])
words = st.lists(
    st.sampled_from(["Table", "1", "alpha.", "Beta", "Section", "2.1", "gamma", "Figure", "(continued)", "7"]),
    min_size=1,
    max_size=30,
)
numbers = st.floats(0, 0.9)
drawn_blocks = st.builds(
    lambda kind, text, left, top: Block(kind=kind, text=" ".join(text), box=(left, top, left + 0.1, top + 0.1)),
    kinds,
    words,
    numbers,
    numbers,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None, max_examples=60)
@given(st.lists(st.lists(drawn_blocks, max_size=6), max_size=5))
def test_no_word_is_lost_next_is_one_chain_and_nothing_refers_to_itself(pages):
    found = structure(*pages)
    # Furniture may take lines that return on three pages; with fewer there is none but page numbers.
    if len(pages) < 3:
        kept = sorted(word for node in found.nodes for word in node.content.split())
        given_words = sorted(word for page in pages for part in page for word in part.text.split())
        assert [word for word in kept if word != "7" and word != "1"] == [
            word for word in given_words if word != "7" and word != "1"
        ]
    ids = [node.id for node in found.nodes]
    assert [(edge.source, edge.target) for edge in found.edges if edge.kind is EdgeKind.NEXT] == list(pairwise(ids))
    assert all(edge.source != edge.target for edge in found.edges)
    assert len({edge.id for edge in found.edges}) == len(found.edges)
    assert [node.ordinal for node in found.nodes] == list(range(len(ids)))


def test_rows_of_a_table_without_header_open_with_the_line_above_it():
    table = block(NodeKind.TABLE, "", 0.3, 0.5, html=MORE)
    near = structure([block(NodeKind.PARAGRAPH, "In millions, 2023", 0.27), table])
    far = structure([block(NodeKind.PARAGRAPH, "In millions, 2023", 0.1), table])
    other = structure([block(NodeKind.FOOTNOTE, "In millions, 2023", 0.27), table])
    assert [found.rows[0].text for found in (near, far, other)] == ["In millions, 2023 | South | 3.9", *["South | 3.9"] * 2]
