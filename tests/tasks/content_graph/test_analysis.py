"""What rules say of a node: its summary, its keywords, what is searched and what is embedded."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import NodeKind, Page, PageParser, TableRow
from tasks.algorithms.text.words import count_words
from tasks.content_graph.analysis import NO_MEANING, analyze_nodes, embedding_text, summarize_pages
from tasks.settings.ingest import AnalysisSettings
from tests.tasks.describing_worlds import node

TABLE = "| Region | 2022 | 2023 |\n|---|---|---|\n| North | 10 | 12 |\n| South | 20 | 19 |\n| | 30 | 31 |"


def make_node(content, kind=NodeKind.PARAGRAPH, **fields):
    return node(0, content, kind, **{"id": "n", "summary": "", "keywords": (), "search_text": ""} | fields)


def analyze(*nodes, rows=(), **changes):
    return analyze_nodes(nodes=nodes, rows=rows, settings=AnalysisSettings(**changes))


def make_row(row, *cells, is_header=False):
    return TableRow(
        id=f"r{row}", node_id="n", document_id="d", version="v", row=row, page=1, cells=cells, text="", is_header=is_header
    )


def test_a_paragraph_gets_summary_keywords_and_search_text():
    one = make_node(
        "Rivers rise in spring. Snow melt in the Alps feeds the Rhine, and the Rhine carries half of its water in May. "
        "That is known.",
        section_path=("Water", "Rhine"),
    )
    other = make_node("Something else about spring.", id="m")
    analyzed = analyze(one, other, summary_words=19)[0]
    assert analyzed.summary == "Snow melt in the Alps feeds the Rhine, and the Rhine carries half of its water in May."
    assert analyzed.keywords[0] == "Rhine"
    assert "Alps" in analyzed.keywords
    assert analyzed.search_text == f"Water\n{one.content}"
    assert not analyzed.meaningless
    assert replace(analyzed, summary="", keywords=(), search_text="") == one


def test_a_figure_begins_with_its_index():
    figure = make_node("Sales\n2021\n2022", NodeKind.FIGURE, caption="Fig. 3: Growth of sales", picture_text="Sales\n2021\n2022")
    analyzed = analyze(figure)[0]
    assert analyzed.summary == "Fig. 3 - Growth of sales; Sales 2021 2022"
    assert analyzed.search_text == "Fig. 3: Growth of sales\nSales\n2021\n2022"
    assert {"Growth", "sales", "2021", "2022"} <= set(analyzed.keywords)


def test_a_figure_without_an_index_in_its_caption_takes_its_label():
    assert analyze(make_node("", NodeKind.FIGURE, caption="Growth", label="Figure 7"))[0].summary == "Figure 7 - Growth"
    assert analyze(make_node("", NodeKind.FIGURE, caption="Growth"))[0].summary == "Growth"


@pytest.mark.parametrize("with_rows", [True, False])
def test_a_table_says_caption_headers_and_row_labels(with_rows):
    rows = [
        make_row(0, "Region", "2022", "2023", is_header=True),
        make_row(2, "South", "20", "19"),
        make_row(1, "North", "10", "12"),
    ]
    node = make_node(TABLE, NodeKind.TABLE, caption="Table 2. Sales by region")
    analyzed = analyze(node, rows=rows if with_rows else ())[0]
    labels = "North, South" if with_rows else "North, South, 30"
    assert analyzed.summary == f"Table 2 - Sales by region; Region, 2022, 2023; {labels}"
    assert {"North", "South", "2022", "Sales"} <= set(analyzed.keywords)


def test_a_title_is_its_own_summary():
    assert analyze(make_node("3 Results", NodeKind.TITLE, section_path=("3 Results",)))[0].summary == "3 Results"


@pytest.mark.parametrize(
    "node",
    [
        make_node("Annual report 2023", NodeKind.FOOTER),
        make_node("", NodeKind.FIGURE),
        make_node("Doe, A. (2020). On rivers. Journal of Water.", section_path=("References",)),
        make_node("This page intentionally left blank"),
    ],
)
def test_nodes_without_meaning_say_so(node):
    analyzed = analyze(node)[0]
    assert (analyzed.meaningless, analyzed.summary, analyzed.keywords) == (True, NO_MEANING, ())


def test_the_title_of_a_reference_list_has_meaning():
    assert not analyze(make_node("References", NodeKind.TITLE, section_path=("References",)))[0].meaningless


def test_the_vector_of_a_table_sees_header_and_labels_before_values():
    node = analyze(make_node(TABLE, NodeKind.TABLE, caption="Table 2. Sales", section_path=("A", "B", "C")))[0]
    assert embedding_text(node, "content") == "B C Table 2. Sales Region 2022 2023 North, South, 30 10 12 20 19 31"


def test_the_vector_of_the_paper_is_summary_and_keywords():
    node = make_node("x", summary="Rivers rise.", keywords=("Rhine", "May"))
    assert embedding_text(node, "paper") == "Rivers rise. keywords: Rhine, May"


def test_what_is_embedded_is_never_empty_and_never_repeats_a_part():
    figure = analyze(make_node("", NodeKind.FIGURE))[0]
    assert embedding_text(figure, "content") == NO_MEANING
    node = make_node("Sales rose", section_path=("Sales",), caption="Sales rose", picture_text="rose")
    assert embedding_text(node, "content") == "Sales rose"
    assert count_words(embedding_text(make_node("word " * 500), "content")) <= 201


def make_page(number):
    return Page(
        id=f"p{number}", document_id="d", version="v", number=number, label=None, width_points=1, height_points=1,
        parser=PageParser.MINERU, note="", summary="", image=None,
    )  # fmt: skip


def test_a_page_says_its_titles_and_its_best_sentences():
    nodes = analyze(
        make_node("Rivers", NodeKind.TITLE),
        make_node("The Rhine is long."),
        make_node("Snow falls.", page=2),
        make_node("--", page=3),
    )
    pages = summarize_pages(pages=[make_page(number) for number in (1, 2, 3, 4)], nodes=nodes, settings=AnalysisSettings())
    assert [page.summary for page in pages] == ["Rivers: The Rhine is long.", "Snow falls.", NO_MEANING, NO_MEANING]


def test_a_page_of_titles_only_is_summarized_by_them():
    nodes = analyze(make_node("Rivers", NodeKind.TITLE), make_node("Lakes", NodeKind.TITLE))
    assert summarize_pages(pages=[make_page(1)], nodes=nodes, settings=AnalysisSettings())[0].summary == "Rivers; Lakes"


@given(st.lists(st.tuples(st.text(max_size=120), st.sampled_from(NodeKind), st.text(max_size=30)), max_size=5))
def test_any_text_in_any_script_is_analyzed_and_what_has_content_has_a_summary(parts):
    nodes = [make_node(content, kind, caption=caption, id=str(place)) for place, (content, kind, caption) in enumerate(parts)]
    analyzed = analyze(*nodes)
    assert analyzed == analyze(*nodes)
    for each in analyzed:
        assert each.summary
        assert embedding_text(each, "content")
        assert each.meaningless == (each.summary == NO_MEANING)
        assert len(each.keywords) <= 10
