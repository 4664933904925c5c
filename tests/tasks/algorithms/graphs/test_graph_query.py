from collections import Counter
from dataclasses import astuple

import numpy as np
import pytest
from hypothesis import given

from storage.records.documents import EdgeKind
from tasks.algorithms.graphs.graph_query import positions_of, run_query
from tasks.algorithms.graphs.query_form import POSITIONS, Condition, GraphQuery, QueryError, Walk
from tests.tasks.algorithms.graphs.query_worlds import (
    SEEDS,
    World,
    draw_query,
    draw_world,
    index_of,
    interpreted,
    node,
)

REPORT = World(
    nodes=(
        node(1, ordinal=0, kind="title", path=("Results",), text="Results"),
        node(1, ordinal=1, path=("Results",), text="Latinos are counted in the chart below.", score=0.9),
        node(1, ordinal=2, kind="figure", modality="figure", path=("Results",), caption="Figure 1: Latinos", label="Figure 1"),
        node(2, ordinal=3, kind="title", path=("Results", "Latinos"), text="Latinos"),
        node(2, ordinal=4, kind="figure", modality="figure", path=("Results", "Latinos"), position="top-left", score=0.5),
        node(3, ordinal=5, kind="list", path=("Results", "Latinos"), text="Diaz; Gomez;"),
        node(4, ordinal=6, kind="list", path=("Results", "Latinos"), text="Perez; Ruiz."),
        node(4, ordinal=7, kind="figure", modality="figure", path=("Method",), caption="Figure 2: Costs", label="Figure 2"),
    ),
    arcs=(
        *((place, place + 1, EdgeKind.NEXT, 0.5, "") for place in range(7)),
        (1, 0, EdgeKind.PART_OF, 0.6, ""),
        (2, 0, EdgeKind.PART_OF, 0.6, ""),
        (3, 0, EdgeKind.PART_OF, 0.6, ""),
        (1, 2, EdgeKind.REFERS_TO, 0.8, ""),
        (5, 6, EdgeKind.CONTINUES, 0.9, ""),
        (1, 7, EdgeKind.SEMANTIC, 0.4, "cause"),
        (7, 1, EdgeKind.SEMANTIC, 0.4, "cause"),
    ),
)


INDEX = index_of(REPORT)


def ask(world, **query):
    return run_query(GraphQuery(**query), index_of(world))


def where(*conditions):
    return tuple(Condition(*condition) for condition in conditions)


def test_all_figures_of_a_section_are_found_wherever_they_stand():
    # LAD-RAG's figure 5: no word of the question stands in the second of them.
    found = ask(REPORT, where=where(("kind", "is", "Figure | table"), ("section", "has", "results")))
    assert (found.nodes, found.total, found.left) == ((2, 4), 2, (3, 2))
    assert ask(REPORT, where=where(("kind", "is", "figure"), ("position", "is", "top-left"))).nodes == (4,)
    assert ask(REPORT, where=where(("kind", "is", "figure"), ("position", "is_not", "top-left"))).nodes == (2, 7)
    assert ask(REPORT, where=where(("label", "is", "figure 2"))).nodes == (7,)


def test_a_list_is_followed_over_the_page():
    # Its figure 6: the second half has no word in common with the question.
    gomez = where(("text", "has", "Gomez"))
    assert ask(REPORT, where=gomez, walk=(Walk("continuation"),)).nodes == (6,)
    assert ask(REPORT, where=gomez, walk=(Walk("continuation"),), with_start=True).nodes == (5, 6)
    assert ask(REPORT, where=where(("text", "has", "ruiz")), walk=(Walk("continued"),)).nodes == (5,)
    assert ask(REPORT, where=gomez, walk=(Walk("next_page"),)).nodes == (6, 7)


def test_walks_go_on_from_what_the_one_before_reached():
    chart = where(("label", "is", "Figure 1"))
    assert ask(REPORT, where=chart, walk=(Walk("referrer"),)).nodes == (1,)
    assert ask(REPORT, where=chart, walk=(Walk("referrer"), Walk("similar", "cause"))).nodes == (7,)
    assert ask(REPORT, where=chart, walk=(Walk("title"), Walk("members"))).nodes == (1, 2, 3)
    assert ask(REPORT, where=chart, walk=(Walk("title"), Walk("members")), then=where(("kind", "is", "title"))).nodes == (3,)
    assert ask(REPORT, where=chart, walk=(Walk("next", steps=3),)).nodes == (3, 4, 5)
    # Two steps along what has no direction may lead back.
    assert ask(REPORT, where=where(("kind", "is", "list")), walk=(Walk("same_section", steps=2),)).nodes == (3, 4, 5, 6)
    assert ask(REPORT, where=where(("text", "has", "Diaz")), walk=(Walk("same_section"),)).nodes == (3, 4, 6)


def test_a_count_has_rows_in_the_order_of_their_first_nodes():
    rows = ask(REPORT, where=where(("kind", "is_not", "title")), count_by="section").counts
    assert [astuple(row) for row in rows] == [(0, "Results", 2, 1, 1), (0, "Latinos", 3, 2, 4), (0, "Method", 1, 4, 4)]
    rows = ask(REPORT, where=where(("kind", "is", "figure")), count_by="label", order="score").counts
    assert [astuple(row) for row in rows] == [(0, "", 1, 2, 2), (0, "Figure 1", 1, 1, 1), (0, "Figure 2", 1, 4, 4)]
    assert [row.key for row in ask(REPORT, count_by="page", limit=3).counts] == ["1", "2", "3"]


@given(SEEDS)
def test_the_language_means_what_an_interpreter_that_goes_from_node_to_node_makes_of_it(rng):
    world = draw_world(rng)
    index = index_of(world)
    # ten queries a graph are 500 in all, and 10,000 in the campaign
    for query in [draw_query(rng, world) for _ in range(10)]:
        found = run_query(query, index)
        rows = [astuple(row) for row in found.counts]
        assert (list(found.nodes), rows, found.total, list(found.left)) == interpreted(world, query), query


def test_a_walk_keeps_the_5000_nodes_with_the_strongest_arcs():
    leaves = 6_000
    weights = np.random.default_rng(1).permutation(leaves) / leaves
    arcs = tuple((0, place + 1, EdgeKind.SEMANTIC, weight, "") for place, weight in enumerate(weights.tolist()))
    world = World((node(text="hub"), *(node(2, ordinal=place + 1) for place in range(leaves))), arcs)
    found = ask(world, where=where(("text", "is", "hub")), walk=(Walk("similar"),), limit=1)
    kept = [place + 1 for place, weight in enumerate(weights.tolist()) if weight >= 1_000 / leaves]
    assert (found.total, found.left, found.nodes) == (5_000, (1, 5_000), (kept[0],))
    by_two = ask(world, where=where(("text", "is", "hub")), walk=(Walk("similar"), Walk("same_page")), limit=1)
    assert by_two.left == (1, 5_000, 5_000)


def test_a_box_stands_where_its_middle_is():
    boxes = [(0.0, 0.0, 0.3, 0.3), (0.1, 0.4, 0.9, 0.6), (0.9, 0.9, 1.0, 1.0), (0.3, 0.0, 0.37, 0.1), None, (0.0, 0.0, 1.0, 1.0)]
    names = [POSITIONS[place] if place >= 0 else None for place in positions_of(boxes).tolist()]
    assert names == ["top-left", "middle-center", "bottom-right", "top-center", None, None]


HOSTILE = ["' OR 1=1 --", "__import__('os')", "(a+)+$", "a" * 1_000_000, "$\\" * 500_000, "a\0b", "\0", "\u202egpj", "\ud800",
           "", " ", "%", "1e9", "-1", "٣", "9" * 400, "figure|", "|", "nan", "😀", " ".join("bcdfghij" * 19)]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_is_data_or_refused_in_few_words(value):
    fields = ("kind", "page", "text", "section", "document", "printed")
    asked = [GraphQuery(where((field, "is", value))) for field in fields]
    asked += [GraphQuery(where((value, "is", "1"))), GraphQuery(where(("page", value, "1"))), GraphQuery(walk=(Walk(value),))]
    asked += [
        GraphQuery(walk=(Walk("any", value or "?"),)),
        GraphQuery(count_by=value),
        GraphQuery(order=value),
        GraphQuery(show=value),
    ]
    refused = Counter()
    for query in asked:
        try:
            assert run_query(query, INDEX).total == 0
        except QueryError as error:
            assert len(str(error)) < 300 and str(error).isprintable()
            refused["refused"] += 1
    assert refused["refused"] >= 9


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"where": where(("color", "is", "red"))}, "there is no field 'color'; there is kind, modality, position, page"),
        ({"where": where(("page", "has", "3"))}, "there is no operator of page 'has'; there is is, is_not, from, to"),
        ({"then": where(("kind", "is", "chart"))}, "there is no kind 'chart'; there is title, paragraph, list"),
        ({"where": where(("page", "is", "three"))}, "page is a whole number, not 'three'; write it in digits"),
        ({"where": where(("text", "has", "--"))}, "words of text '--': 0, but must be 1 to 30"),
        ({"where": where(("text", "has", "x" * 301))}, "characters of text: 301, but must be 1 to 300"),
        ({"where": where(*[("page", "is", "1")] * 10_000)}, "conditions: 10000, but must be 0 to 20"),
        ({"where": where(*[("page", "is", "1")] * 11), "then": where(*[("page", "is", "1")] * 10)}, "conditions: 21"),
        ({"walk": (Walk("shares"),)}, "there is no edge 'shares'; there is next, previous, near, similar, title, members"),
        ({"walk": (Walk("next", steps=4),)}, "steps of next: 4, but must be 1 to 3"),
        ({"walk": (Walk("next"),) * 4}, "walks: 4, but must be 0 to 3"),
        ({"walk": (Walk("similar", "reason"),)}, "there is no relation of similar 'reason'; there is cause"),
        ({"limit": 51}, "limit: 51, but must be 1 to 50"),
        ({"count_by": "color"}, "there is no count_by 'color'; there is none, page, section, kind, label, document"),
        ({"order": "color"}, "there is no order 'color'; there is reading, score"),
        ({"show": "html"}, "there is no show 'html'; there is ids, lines, text"),
    ],
)
def test_what_the_language_does_not_have_is_refused_with_what_it_has(query, words):
    with pytest.raises(QueryError) as raised:
        ask(REPORT, **query)
    assert words in str(raised.value)
