import random
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import EdgeKind, NodeKind
from tasks.algorithms.graphs.graph_query import ARCS, EDGES, Condition, GraphIndex, GraphQuery, QueryError, run_query
from tasks.algorithms.text.counting import CodedTexts, Vocabulary, code_texts
from tasks.algorithms.text.stems import stems_in

WORDS = ("section", "caption", "text", "label")


def node(page=1, **known):
    """Return a paragraph without words on a page of the first document; what stands in `known` is otherwise."""
    plain = {"document": 0, "ordinal": 0, "kind": "paragraph", "section": "", "caption": "", "text": "", "label": "", "score": 0.0}
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
            field: CodedTexts.of(code_texts([getattr(each, field) for each in nodes], vocabulary), vocabulary) for field in WORDS
        },
        scores=np.array([each.score for each in nodes], dtype=float),
        tails=column(tails),
        heads=column(heads),
        arc_kinds=column(list(EdgeKind).index(kind) for kind in kinds),
        weights=np.array(weights, dtype=float),
    )


REPORT = index_of(
    nodes=(
        node(1, ordinal=0, kind="title", section="Results", text="Results"),
        node(1, ordinal=1, section="Results", text="Latinos are counted in the chart below.", score=0.9),
        node(1, ordinal=2, kind="figure", section="Results", caption="Figure 1: Latinos", label="Figure 1"),
        node(2, ordinal=3, kind="title", section="Results ; Latinos", text="Latinos"),
        node(2, ordinal=4, kind="figure", section="Results ; Latinos", score=0.5),
        node(3, ordinal=5, kind="list", section="Results ; Latinos", text="Diaz; Gomez;"),
        node(4, ordinal=6, kind="list", section="Results ; Latinos", text="Perez; Ruiz."),
        node(4, ordinal=7, kind="figure", section="Method", caption="Figure 2: Costs", label="Figure 2"),
    ),
    arcs=(
        *((place, place + 1, EdgeKind.NEXT, 0.5) for place in range(7)),
        *((place, 0, EdgeKind.PART_OF, 0.6) for place in (1, 2, 3)),
        (1, 2, EdgeKind.REFERS_TO, 0.8),
        (5, 6, EdgeKind.CONTINUES, 0.9),
        (1, 7, EdgeKind.SEMANTIC, 0.4),
        (7, 1, EdgeKind.SEMANTIC, 0.4),
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


def test_a_list_is_followed_over_the_page():
    # Its figure 6: the second half has no word in common with the question.
    assert ask(("text", "has", "Gomez"), edge="continuation").nodes == (5, 6)
    assert ask(("text", "has", "ruiz"), edge="continued").nodes == (5, 6)
    assert ask(("text", "has", "Gomez"), edge="next_page").nodes == (5, 6, 7)
    assert ask(("text", "has", "Diaz"), edge="same_section").nodes == (3, 4, 5, 6)
    assert ask(("label", "is", "Figure 1"), edge="referrer").nodes == (1, 2)


def test_an_edge_keeps_the_5000_nodes_with_the_strongest_arcs():
    leaves = 6_000
    weights = np.random.default_rng(1).permutation(leaves) / leaves
    arcs = [(0, place + 1, EdgeKind.SEMANTIC, weight) for place, weight in enumerate(weights.tolist())]
    hub = index_of([node(text="hub"), *(node(2, ordinal=place + 1) for place in range(leaves))], arcs)
    found = ask(("text", "is", "hub"), index=hub, edge="similar", limit=2)
    kept = [place + 1 for place, weight in enumerate(weights.tolist()) if weight >= 1_000 / leaves]
    assert (found.total, found.left, found.nodes) == (5_001, (1, 5_000), (0, kept[0]))


TEXTS = ("", "share of Latinos", "Latino surveys", "costs of a survey", "(a+)+$", "収入高", "COVID-19 costs")
SAID = ("latino", "Latinos' share", "survey", "results", "cost", "(a+)+$", "収入", "covid", "' OR 1=1 --")
CONDITIONS = {
    "kind": (("is", "is_not"), ("figure", "figure|table", "paragraph|title|list")),
    "page": (("is", "is_not", "from", "to"), ("1", "2", "3")),
    **dict.fromkeys(("section", "caption", "text"), (("is", "is_not", "has", "lacks"), SAID)),
    "label": (("is", "is_not"), ("figure 5", "Table 2", "Table")),
}
SEEDS = st.integers(0, 2**32 - 1).map(random.Random)
"""Where graphs and queries come from: to have Hypothesis draw each of their hundred words takes ten times as long."""


def draw_nodes(rng):
    """Return up to 9 nodes of two documents with few different words, pages and sections."""
    return [
        node(
            document=rng.randint(0, 1),
            ordinal=-place,
            page=rng.randint(1, 4),
            kind=rng.choice(("paragraph", "title", "figure", "table")),
            section=rng.choice(("", "Results", "Results ; Latinos in surveys", "Method")),
            caption=rng.choice(TEXTS),
            text=rng.choice(TEXTS),
            label=rng.choice(("", "Figure 5", "Table 2")),
            score=rng.randint(0, 2) / 2,
        )
        for place in range(rng.randint(0, 9))
    ]


def draw_query(rng):
    conditions = []
    for field in rng.choices(tuple(CONDITIONS), k=rng.randint(0, 2)):
        conditions.append(Condition(field, *map(rng.choice, CONDITIONS[field])))
    return GraphQuery(tuple(conditions), rng.choice(("", *EDGES)), rng.random() < 0.5, rng.choice((1, 3, 50)))


def holds(each, condition):
    """Say whether a node passes a condition, by its words."""
    known, op, value = getattr(each, condition.field), condition.op, condition.value
    if op == "is_not":
        return not holds(each, Condition(condition.field, "is", value))
    if condition.field == "kind":
        return known in value.split("|")
    if condition.field == "page":
        return {"is": known == int(value), "from": known >= int(value), "to": known <= int(value)}[op]
    stems, asked = stems_in(known), stems_in(value)
    return {"is": stems == asked, "has": stems >= asked, "lacks": not stems & asked}[op]


def led_to(nodes, graph, place, edge):
    """Yield the nodes that an edge leads to."""
    here = nodes[place]
    for other, there in enumerate(nodes):
        beside = {
            "same_page": other != place and here.page == there.page,
            "same_section": other != place and here.section and here.section == there.section,
            "next_page": there.page == here.page + 1,
            "previous_page": there.page == here.page - 1,
        }
        if here.document == there.document and beside.get(edge):
            yield other
    for side, arcs, end in ((0, graph.out_edges, 1), (1, graph.in_edges, 0)):
        yield from (arc[end] for arc in arcs(place, data="kind") if edge in (ARCS[arc[2]][side], "any"))


def interpreted(nodes, arcs, query):
    """Return nodes, total and what each step left, node by node and arc by arc."""
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(len(nodes)))
    for tail, head, kind, _weight in arcs:
        graph.add_edge(tail, head, kind=kind)
    found, left = set(graph), []
    for condition in query.where:
        found = {place for place in found if holds(nodes[place], condition)}
        left.append(len(found))
    if query.edge:
        reached = {other for place in found for other in led_to(nodes, graph, place, query.edge)}
        found, left = found | reached, [*left, len(reached)]
    ranks = [(-each.score * query.best_first, each.document, each.ordinal) for each in nodes]
    return sorted(found, key=ranks.__getitem__)[: query.limit], len(found), left


@given(SEEDS)
def test_the_language_means_what_an_interpreter_that_goes_from_node_to_node_makes_of_it(rng):
    nodes = draw_nodes(rng)
    ends = [rng.sample(range(len(nodes)), 2) for _ in range(rng.randint(0, 14))] if len(nodes) > 1 else []
    arcs = [(*pair, rng.choice(tuple(EdgeKind)), rng.choice((0.0, 0.5))) for pair in ends]
    index = index_of(nodes, arcs)
    # ten queries a graph are 500 in all, and 10,000 in the campaign
    for query in [draw_query(rng) for _ in range(10)]:
        found = run_query(query, index)
        assert (list(found.nodes), found.total, list(found.left)) == interpreted(nodes, arcs, query), query


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
            assert len(str(error)) < 300 and str(error).isprintable()
            refused += 1
    assert refused >= 5


@pytest.mark.parametrize(
    ("condition", "words"),
    [
        (("color", "is", "red"), "there is no field 'color'; there is kind, page, section, caption, text, label"),
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
