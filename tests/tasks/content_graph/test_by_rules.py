"""What rules say of a node, what is searched and embedded of it; and their rounds: windows, neighbours, links between documents."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from storage.records.documents import EdgeKind, Modality, NodeKind, Page, PageParser, TableRow
from tasks.algorithms.links import lite_round
from tasks.algorithms.text.words import count_words
from tasks.content_graph.analysis import NO_MEANING, analyze_nodes, embedding_text, summarize_pages
from tasks.content_graph.evolution import LinkableDocument, before_the_rounds, evolve_document, link_documents, window_pairs
from tasks.settings.ingest import AnalysisSettings, EvolutionSettings
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


def a_node(ordinal, modality=Modality.TEXT, meaningless=False):
    return node(ordinal, "x", id=f"n{ordinal}", document_id="d", modality=modality, meaningless=meaningless)


def unit_rows(seed, rows, columns=8):
    vectors = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def evolve(nodes, vectors, **changes):
    settings, evolved = EvolutionSettings(**changes), before_the_rounds(nodes, vectors)
    for number in range(1, settings.rounds + 1):
        evolved = lite_round(before=evolved, number=number, neighbours=settings.neighbours)
    return evolve_document(nodes=nodes, initial_vectors=vectors, evolved=evolved, settings=settings)


def pairs_of(edges, kind):
    return {(edge.source, edge.target) for edge in edges if edge.kind is kind}


def test_the_window_counts_text_nodes_only():
    nodes = [a_node(place, Modality.TABLE if place in (1, 4) else Modality.TEXT) for place in range(6)]
    assert sorted(map(tuple, window_pairs(nodes, 2).tolist())) == [(0, 2), (0, 3), (2, 3), (2, 5), (3, 5)]
    assert window_pairs(nodes[:1], 3).tolist() == []


def test_every_edge_has_both_arcs_and_weighs_the_cosine_of_the_last_vectors():
    nodes = [a_node(place, Modality.FIGURE if place % 4 == 3 else Modality.TEXT) for place in range(20)]
    vectors, edges = evolve(nodes, unit_rows(0, 20))
    rows = {node.id: row for node, row in zip(nodes, vectors.astype(np.float64), strict=True)}
    arcs = {(edge.source, edge.target): edge for edge in edges}
    assert len(arcs) == len(edges) > 20
    for edge in edges:
        assert edge.weight == pytest.approx(rows[edge.source] @ rows[edge.target], abs=2e-6)
        assert type(edge.weight) is float
        assert edge.weight >= 0.22
        back = arcs[edge.target, edge.source]
        assert (back.weight, back.kind, back.round) == (edge.weight, edge.kind, edge.round)
        assert edge.source_document == edge.target_document == "d"
    assert {edge.round for edge in edges if edge.kind is EdgeKind.SEMANTIC} <= {1, 2, 3}
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-6)


def test_visual_nodes_have_no_window_edges_but_find_their_like():
    nodes = [a_node(0), a_node(1, Modality.TABLE), a_node(2), a_node(3, Modality.FIGURE)]
    _, edges = evolve(nodes, np.tile(unit_rows(1, 1), (4, 1)))
    assert pairs_of(edges, EdgeKind.WINDOW) == {("n0", "n2"), ("n2", "n0")}
    assert ("n1", "n3") in pairs_of(edges, EdgeKind.SEMANTIC)


def test_a_node_without_meaning_moves_no_other_and_has_window_edges_only():
    vectors = unit_rows(2, 6) * 0.1 + 1
    vectors = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    nodes = [a_node(place, meaningless=place == 2) for place in range(6)]
    evolved, edges = evolve(nodes, vectors)
    without, _ = evolve([node for node in nodes if not node.meaningless], np.delete(vectors, 2, axis=0))
    assert np.array_equal(np.delete(evolved, 2, axis=0), without)
    assert np.array_equal(evolved[2], vectors[2])
    assert any("n2" in pair for pair in pairs_of(edges, EdgeKind.WINDOW))
    assert not any("n2" in pair for pair in pairs_of(edges, EdgeKind.SEMANTIC))


def test_without_rounds_vectors_stay_and_edges_come_from_them():
    vectors = unit_rows(3, 12)
    evolved, edges = evolve([a_node(place) for place in range(12)], vectors, rounds=0)
    assert np.array_equal(evolved, vectors)
    assert {edge.kind for edge in edges} == {EdgeKind.WINDOW, EdgeKind.SEMANTIC}
    assert {edge.round for edge in edges} == {0}


def test_zero_vectors_and_weak_pairs_have_no_edges():
    vectors = np.zeros((4, 4), dtype=np.float32)
    vectors[0, 0] = vectors[1, 1] = 1
    evolved, edges = evolve([a_node(place) for place in range(4)], vectors, minimum_edge=0.0)
    assert edges == ()
    assert np.array_equal(evolved, vectors)


def test_no_nodes_and_only_nodes_without_meaning_are_fine():
    assert evolve([], np.zeros((0, 4), dtype=np.float32))[1] == ()
    vectors = unit_rows(4, 2)
    assert np.array_equal(evolve([a_node(0, meaningless=True), a_node(1, meaningless=True)], vectors)[0], vectors)


def make_document(name, seed, count):
    # Few distinct vectors: duplicates within and across documents, and ties at the limit.
    vectors = np.random.default_rng(seed).integers(-1, 2, size=(count, 3)).astype(np.float32)
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = (vectors / np.where(lengths > 0, lengths, 1)).astype(np.float32)
    meaningless = np.random.default_rng(seed + 1).random(count) < 0.2
    return LinkableDocument.of(name, [f"{name}-{place}" for place in range(count)], meaningless, vectors)


@settings(max_examples=60)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=5), st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_links_are_a_function_of_the_set_of_documents(counts, seed, random):
    corpus = [make_document(f"{place}", seed + 10 * place, count) for place, count in enumerate(counts)]
    chosen = EvolutionSettings(cross_links=2)

    def link_one_by_one(order):
        return {edge for place, own in enumerate(order) for edge in link_documents(own=own, others=order[:place], settings=chosen)}

    shuffled = corpus.copy()
    random.shuffle(shuffled)
    edges = link_one_by_one(corpus)
    assert link_one_by_one(shuffled) == edges
    for edge in edges:
        assert edge.source.startswith(f"{edge.source_document}-")
        assert edge.target.startswith(f"{edge.target_document}-")
        assert edge.source_document != edge.target_document
        assert any((other.source, other.target) == (edge.target, edge.source) for other in edges)


def test_nodes_without_meaning_are_not_linked():
    vectors = unit_rows(6, 1)
    first = LinkableDocument.of("a", ["a0"], [True], vectors)
    second = LinkableDocument.of("b", ["b0"], [False], vectors)
    assert link_documents(own=first, others=[second], settings=EvolutionSettings()) == ()
    assert link_documents(own=first, others=[], settings=EvolutionSettings()) == ()
