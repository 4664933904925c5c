from types import SimpleNamespace
from typing import get_args

import numpy as np
import pytest

from storage.records.documents import EdgeKind, NodeKind
from tasks.algorithms.graphs.graph_query import (
    ARC_KINDS,
    EDGES,
    RELATIONS,
    Condition,
    GraphIndex,
    GraphQuery,
    QueryError,
    run_query,
)
from tasks.algorithms.text.counting import CodedTexts, Vocabulary, code_texts
from tasks.content_graph.links import NamedLink
from tasks.content_graph.page_by_page import PageLink

WORDS = ("section", "caption", "text", "label", "position", "name")


def node(page=1, **known):
    """Return a paragraph without words on a page of the first document; what stands in `known` is otherwise."""
    plain = {"document": 0, "ordinal": 0, "kind": "paragraph", "score": 0.0, **dict.fromkeys(WORDS, "")}
    return SimpleNamespace(**{**plain, "page": page, **known})


def index_of(nodes, arcs=()):
    """Return what `run_query` takes; the words of a section, and its document, stand for the section."""
    sections, vocabulary = sorted({(each.document, each.section) for each in nodes if each.section}), Vocabulary()
    tails, heads, kinds, weights = zip(*arcs, strict=True) if arcs else [()] * 4

    def column(values):
        return np.array(list(values), dtype=np.int64)

    return GraphIndex(
        columns={
            "document": column(each.document for each in nodes),
            "ordinal": column(each.ordinal for each in nodes),
            "page": column(each.page for each in nodes),
            "kind": column(list(NodeKind).index(each.kind) for each in nodes),
            "section": column(sections.index((each.document, each.section)) if each.section else -1 for each in nodes),
        },
        words={
            {"name": "document"}.get(field, field): CodedTexts.of(
                code_texts([getattr(each, field) for each in nodes], vocabulary), vocabulary
            )
            for field in WORDS
        },
        scores=np.array([each.score for each in nodes], dtype=float),
        tails=column(tails),
        heads=column(heads),
        arc_kinds=column(map(ARC_KINDS.index, kinds)),
        weights=np.array(weights, dtype=float),
    )


REPORT = index_of(
    nodes=(
        node(1, ordinal=0, kind="title", section="Results", text="Results"),
        node(1, ordinal=1, section="Results", text="Latinos are counted in the chart below.", score=0.9),
        node(1, ordinal=2, kind="figure", section="Results", caption="Figure 1: Latinos", label="Figure 1", position="top right"),
        node(2, ordinal=3, kind="title", section="Results ; Latinos", text="Latinos"),
        node(2, ordinal=4, kind="figure", section="Results ; Latinos", score=0.5),
        node(3, ordinal=5, kind="list", section="Results ; Latinos", text="Diaz; Gomez;"),
        node(4, ordinal=6, kind="list", section="Results ; Latinos", text="Perez; Ruiz."),
        node(4, ordinal=7, kind="figure", section="Method", caption="Figure 2: Costs", label="Figure 2", name="report.pdf"),
    ),
    arcs=(
        *((place, place + 1, EdgeKind.NEXT, 0.5) for place in range(7)),
        *((place, 0, EdgeKind.PART_OF, 0.6) for place in (1, 2, 3)),
        (1, 2, EdgeKind.REFERS_TO, 0.8),
        (5, 6, EdgeKind.CONTINUES, 0.9),
        (3, 4, EdgeKind.WINDOW, 0.7),
        (4, 3, EdgeKind.WINDOW, 0.7),
        (3, 4, EdgeKind.CAPTION_OF, 0.7),
        (1, 7, EdgeKind.SEMANTIC, 0.4),
        (7, 1, EdgeKind.SEMANTIC, 0.4),
        (0, 7, "contrast", 1.0),
        (6, 2, "cause", 1.0),
    ),
)


def ask(*conditions, index=REPORT, **query):
    return run_query(GraphQuery(tuple(Condition(*condition) for condition in conditions), **query), index)


def test_all_figures_of_a_section_are_found_wherever_they_stand():
    # LAD-RAG's figure 5: no word of the question stands in the second of them.
    found = ask(("kind", "is", "Figure | table"), ("section", "has", "results"))
    assert (found.nodes, found.total, found.left) == ((2, 4), 2, (3, 2))
    assert ask(("kind", "is", "figure"), best_first=True).nodes == (4, 2, 7)
    assert ask(("label", "is", "figure 2")).nodes == (7,)
    rest = ask(("kind", "is", "figure"), skip=1, limit=1)
    assert (rest.nodes, rest.total) == ((4,), 3) and not ask(("kind", "is", "figure"), skip=3).nodes


def test_a_list_is_followed_over_the_page():
    # Its figure 6: the second half has no word in common with the question.
    assert ask(("text", "has", "Gomez"), edge="continuation").nodes == (5, 6)
    assert ask(("text", "has", "ruiz"), edge="continued").nodes == (5, 6)
    assert ask(("text", "has", "Gomez"), edge="next_page").nodes == (5, 6, 7)
    assert ask(("text", "has", "Diaz"), edge="same_section").nodes == (3, 4, 5, 6)
    assert ask(("label", "is", "Figure 1"), edge="referrer").nodes == (1, 2)


def test_every_relation_that_a_model_gives_is_an_edge_of_the_language():
    given = [*get_args(NamedLink.model_fields["relation"].annotation), *get_args(PageLink.model_fields["relation"].annotation)]
    assert {*given} == {*RELATIONS, EdgeKind.CONTINUES} and {*RELATIONS} <= {*EDGES}


def test_an_edge_keeps_the_5000_nodes_with_the_strongest_arcs():
    leaves = 6_000
    weights = np.random.default_rng(1).permutation(leaves) / leaves
    arcs = [(0, place + 1, EdgeKind.SEMANTIC, weight) for place, weight in enumerate(weights.tolist())]
    hub = index_of([node(text="hub"), *(node(2, ordinal=place + 1) for place in range(leaves))], arcs)
    found = ask(("text", "is", "hub"), index=hub, edge="similar", limit=2)
    kept = [place + 1 for place, weight in enumerate(weights.tolist()) if weight >= 1_000 / leaves]
    assert (found.total, found.left, found.nodes) == (5_001, (1, 5_000), (0, kept[0]))


@pytest.mark.parametrize(
    ("conditions", "nodes"),
    [
        ([], [0, 1, 2, 3, 4, 5, 6, 7]),
        ([("kind", "is", "title | LIST")], [0, 3, 5, 6]),
        ([("kind", "is_not", "figure")], [0, 1, 3, 5, 6]),
        ([("page", "is", " 2 ")], [3, 4]),
        ([("page", "is_not", "1")], [3, 4, 5, 6, 7]),
        ([("page", "from", "2"), ("page", "to", "3")], [3, 4, 5]),
        ([("section", "is", "result")], [0, 1, 2]),
        ([("section", "is_not", "results")], [3, 4, 5, 6, 7]),
        ([("section", "has", "Latino")], [3, 4, 5, 6]),
        ([("section", "lacks", "latinos method")], [0, 1, 2]),
        ([("text", "has", "counted chart")], [1]),
        ([("text", "has", "counted charts of costs")], []),
        ([("text", "is", "latino")], [3]),
        ([("caption", "has", "cost"), ("kind", "is", "figure")], [7]),
        ([("caption", "lacks", "figure")], [0, 1, 3, 4, 5, 6]),
        ([("label", "is", "figure")], []),
        ([("label", "is_not", "figure 1")], [0, 1, 3, 4, 5, 6, 7]),
        ([("position", "has", "right")], [2]),
        ([("position", "lacks", "top"), ("document", "has", "report.pdf")], [7]),
    ],
)
def test_a_condition_holds_by_the_stems_of_its_field(conditions, nodes):
    assert list(ask(*conditions).nodes) == nodes


@pytest.mark.parametrize(
    ("page", "edge", "reached"),
    [
        (3, "next", [6]),
        (3, "previous", [4]),
        (1, "similar", [7]),
        (4, "similar", [1]),
        (2, "near", [3, 4]),
        (1, "title", [0]),
        (1, "members", [1, 2, 3]),
        (1, "target", [2]),
        (1, "referrer", [1]),
        (2, "captioned", [4]),
        (2, "caption", [3]),
        (3, "continuation", [6]),
        (4, "continued", [5]),
        (3, "any", [4, 6]),
        (4, "any", [0, 1, 2, 5, 6, 7]),
        (1, "contrast", [7]),
        (1, "cause", [6]),
        (4, "cause", [2]),
        (4, "part", []),
        (3, "same_page", []),
        (4, "same_page", [6, 7]),
        (3, "same_section", [3, 4, 6]),
        (4, "same_section", [3, 4, 5]),
        (1, "next_page", [3, 4]),
        (1, "previous_page", []),
        (4, "previous_page", [5]),
    ],
)
def test_an_edge_leads_along_the_arcs_of_its_kind_or_to_what_stands_beside(page, edge, reached):
    here = ask(("page", "is", str(page))).nodes
    found = ask(("page", "is", str(page)), edge=edge)
    assert set(found.nodes) == {*here, *reached} and found.left == (len(here), len(reached))


def test_pages_and_sections_of_other_documents_are_others():
    two = index_of([node(1, section="A"), node(1, section="A", document=1), node(2, document=1, ordinal=1)])
    assert ask(("page", "is", "1"), index=two, edge="same_section").left == (2, 0)
    assert ask(("section", "has", "a"), index=two, edge="next_page").nodes == (0, 1, 2)
    assert ask(index=index_of([])).nodes == ask(index=index_of([]), edge="same_page").nodes == ()


HOSTILE = ["' OR 1=1 --", "__import__('os')", "(a+)+$", "a" * 1_000_000, "$\\" * 500_000, "a\0b", "\0", "\u202egpj", "\ud800",
           "", " ", "%", "1e9", "-1", "٣", "9" * 400, "figure|", "|", "nan", "😀", " ".join("bcdfghij" * 19)]  # fmt: skip


@pytest.mark.parametrize("value", HOSTILE, ids=range(len(HOSTILE)))
def test_a_hostile_value_is_data_or_refused_in_few_words(value):
    asked = [{"conditions": [(field, "is", value)]} for field in ("kind", "page", "text", "section")]
    asked += [
        {"conditions": [(value, "is", "1")]},
        {"conditions": [("page", value, "1")]},
        {"conditions": [], "edge": value or "?"},
    ]
    refused = 0
    for query in asked:
        try:
            assert ask(*query.pop("conditions"), **query).total == 0
        except QueryError as error:
            assert len(str(error)) < 400 and str(error).isprintable()
            refused += 1
    assert refused >= 5


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (("color", "is", "red"), "there is no field 'color'; there is kind, page, section, caption, text, label, position"),
        (("page", "has", "3"), "there is no operator of page 'has'; there is is, is_not, from, to"),
        (("kind", "is", "chart"), "there is no kind 'chart'; there is title, paragraph, list"),
        (("page", "is", "three"), "page is a whole number, not 'three'; write it in digits"),
        (("text", "has", "--"), "words of text '--': 0, but must be 1 to 30"),
        (("text", "has", "x" * 301), "characters of text: 301, but must be 1 to 300"),
    ],
)
def test_what_the_language_does_not_have_is_refused_with_what_it_has(condition, words):
    with pytest.raises(QueryError) as raised:
        ask(condition)
    assert words in str(raised.value)
