import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from storage.graph.adjacency import SYMMETRIC
from storage.graph.candidates import MODALITIES, CandidateGraph
from storage.graph.search import (
    EVERYTHING,
    Scope,
    by_turns,
    expand,
    find_places,
    find_seeds,
    load_around,
    load_nodes,
    load_scope,
    nodes_in_scope,
    scope_sample,
)
from storage.records.documents import Modality, NodeKind
from tests.storage.graph_worlds import ALL_EDGES, ALL_NODES, GRAPHS, VECTORS, published
from tests.storage.worlds import DIMENSION

SEEDS = sorted(ALL_NODES)[5:90:17]


def expected(seeds, hops, limit, allowed):
    """The same over plain records: neighbours by their strongest arc from the hop before, ties by id; one-way arcs go both ways."""
    found = list(seeds)
    frontier = list(seeds)
    for _ in range(hops):
        reached = {}
        for edge in ALL_EDGES:
            ways = [(edge.source, edge.target), (edge.target, edge.source)]
            for one, other in ways[: 1 if edge.kind in SYMMETRIC else 2]:
                if one in frontier and other in allowed and other not in found:
                    reached[other] = max(reached.get(other, -1), edge.weight)
        frontier = sorted(reached, key=lambda name: (-reached[name], name))[: limit - len(found)]
        found += frontier
    return found


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("limit", [5, 9, 40, 1000])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_hops_reach_what_a_plain_search_reaches_in_the_same_order(adjacency, hops, limit, share):
    names = adjacency.hex_ids(np.arange(len(ALL_NODES)))
    allowed = np.array([name in SEEDS or int(name[:4], 16) < share * 2**16 for name in names])
    seeds = adjacency.positions_of(SEEDS)
    positions = expand(adjacency, seeds, hops=hops, limit=limit, allowed=None if share == 1 else allowed)
    assert adjacency.hex_ids(positions) == expected(
        SEEDS, hops, limit, {name for name, kept in zip(names, allowed, strict=True) if kept}
    )


def test_more_seeds_than_the_limit_are_cut(adjacency):
    positions = expand(adjacency, adjacency.positions_of(SEEDS), hops=2, limit=3, allowed=None)
    assert adjacency.hex_ids(positions) == SEEDS[:3]


REPORT, LETTER, MINUTES = GRAPHS
TEXTS = ("search_text", "keywords")
SCOPES = [
    Scope(),
    Scope(documents=(LETTER.document_id,)),
    Scope(documents=(REPORT.document_id, MINUTES.document_id), first_page=2),
    Scope(last_page=1, modality=Modality.TABLE),
    Scope(first_page=2, last_page=2, modality=Modality.FIGURE),
    Scope(documents=("f" * 64,)),
    Scope(first_page=7),
]


ID = "a" * 64


def test_a_scope_is_a_filter_whose_pages_fit_their_column():
    assert (EVERYTHING.node_filter(), EVERYTHING.row_filter()) == (None, None)
    assert Scope(last_page=10**12).row_filter() == "(page BETWEEN 0 AND 2147483647)"
    built, scope = f"(document_id IN ('{ID}')) AND (page BETWEEN 1 AND 1)", Scope((ID,), 1, 1, Modality.TABLE)
    assert (scope.row_filter(), scope.node_filter()) == (built, f"{built} AND (modality IN ('table'))")
    assert Scope(modality=Modality.FIGURE).row_filter() == "(false)", "only tables have rows"


@pytest.fixture(scope="module", params=["indexed", "not indexed"])
def snapshot(tmp_path_factory, request):
    with open_for_reading(published(tmp_path_factory.mktemp("home"), indexed=request.param == "indexed")) as opened:
        yield opened


def inside(scope: Scope) -> list[str]:
    first, last = scope.pages
    return sorted(
        node.id
        for node in ALL_NODES.values()
        if first <= node.page <= last
        and (not scope.documents or node.document_id in scope.documents)
        and scope.modality in {None, node.modality}
    )


def ask(snapshot, scope=SCOPES[0], **changes) -> CandidateGraph:
    asked = {"vector": REPORT.vectors[4], "words": ("letter",), "by_vector": 5, "by_text": 5} | changes
    around = {"hops": asked.pop("hops", 2), "limit": asked.pop("limit", 1000)}
    return load_around(snapshot.view, scope, find_seeds(snapshot.view, scope, **asked), **around, columns=TEXTS)


def same(one: CandidateGraph, other: CandidateGraph) -> bool:
    pairs = [(getattr(one, field.name), getattr(other, field.name)) for field in fields(CandidateGraph)]
    return all(
        all(np.array_equal(a[name], b[name]) for name in TEXTS) if isinstance(a, dict) else np.array_equal(a, b) for a, b in pairs
    )


@pytest.mark.parametrize("scope", SCOPES, ids=range(len(SCOPES)))
def test_a_scope_is_counted_and_loaded_whole(snapshot, scope):
    graph = load_scope(snapshot.view, scope, columns=TEXTS, initial_vectors=True)
    names = inside(scope)
    assert list(graph.ids) == names
    assert nodes_in_scope(snapshot.view, scope) == len(names)
    assert graph.vectors.shape == graph.initial_vectors.shape == (len(names), DIMENSION)
    assert np.array_equal(graph.vectors, np.array([VECTORS[name] for name in names]).reshape(-1, DIMENSION))
    assert graph.columns["search_text"].tolist() == [ALL_NODES[name].search_text for name in names]
    assert graph.columns["keywords"].tolist() == [ALL_NODES[name].keywords for name in names]
    assert len(graph.tails) == sum(edge.source in names and edge.target in names for edge in ALL_EDGES)


def test_nodes_that_are_named_are_loaded_in_any_order_and_one_that_is_not_there_is_an_error(snapshot):
    named = sorted(ALL_NODES)[3:60:7]
    graph = load_nodes(snapshot.view, reversed(named), columns=TEXTS)
    assert list(graph.ids) == named and graph.initial_vectors is None
    assert len(graph.tails) == sum(edge.source in named and edge.target in named for edge in ALL_EDGES)
    with pytest.raises(LookupError):
        load_nodes(snapshot.view, [*named, "0" * 64], columns=TEXTS)


@pytest.mark.parametrize("scope", SCOPES, ids=range(len(SCOPES)))
def test_candidates_stay_inside_the_scope(snapshot, scope):
    graph = ask(snapshot, scope)
    assert set(graph.ids) <= set(inside(scope))
    assert graph.initial_vectors is None


def test_with_room_for_all_the_candidates_are_the_whole_scope(snapshot):
    whole, found = load_scope(snapshot.view, Scope(), columns=TEXTS), ask(snapshot, by_vector=200)
    assert found.ids == whole.ids
    assert np.array_equal(found.tails, whole.tails)
    assert np.array_equal(found.weights, whole.weights)


def test_what_was_searched_for_comes_before_its_neighbours_and_the_limit_holds(snapshot):
    graph = ask(snapshot, by_vector=6, by_text=6, limit=30)
    found = set(ask(snapshot, by_vector=6, by_text=6, hops=0).ids)
    nearest = sorted(ALL_NODES, key=lambda name: -float(VECTORS[name] @ REPORT.vectors[4]))[:6]
    assert len(graph) == 30
    assert set(nearest) <= found < set(graph.ids)
    assert sum(ALL_NODES[name].document_id == LETTER.document_id for name in found) >= 6
    assert list(graph.ids) == sorted(graph.ids)
    few = ask(snapshot, by_vector=6, by_text=6, limit=4)
    assert set(few.ids) <= found
    assert nearest[0] in few.ids


def test_words_of_a_table_row_find_its_table(snapshot):
    graph = ask(snapshot, words=("count",), by_vector=1, by_text=20, hops=0)
    tables = {name for name in graph.ids if ALL_NODES[name].modality is Modality.TABLE}
    assert tables == {each.nodes[0].id for each in GRAPHS}
    figures = ask(snapshot, Scope(modality=Modality.FIGURE), words=("count",))
    assert {MODALITIES[code] for code in figures.modalities} == {Modality.FIGURE}


def standing(snapshot, documents, scope=SCOPES[0], *, pages=(), labels=(), kinds=(), limit=1000):
    """Return which nodes of GRAPHS are found at a place, as (name of the document, ordinal)."""
    ids = [document.document_id for document in documents]
    found = find_places(snapshot.view, scope, ids, pages=pages, labels=labels, kinds=kinds, limit=limit)
    nodes = [ALL_NODES[name] for name in snapshot.view.adjacency.hex_ids(found)]
    return [(next(each.title for each in GRAPHS if each.document_id == node.document_id), node.ordinal) for node in nodes]


def test_places_are_found_by_document_and_page_elements_asked_for_first(snapshot):
    second = [(each.document_id, 2) for each in (REPORT, LETTER)]
    even = [("letter", ordinal) for ordinal in range(1, 40, 2)]
    # the figure of each document is its fourth node, on page 2; the table its first, on page 1
    assert standing(snapshot, [LETTER], pages=second[1:]) == even
    assert standing(snapshot, [LETTER, REPORT], pages=second, kinds=[NodeKind.FIGURE], limit=4) == [
        ("letter", 3),
        ("report", 3),
        ("letter", 1),
        ("letter", 5),
    ]
    assert standing(snapshot, [MINUTES, REPORT], kinds=[NodeKind.TABLE, NodeKind.FIGURE]) == [
        ("minutes", 0),
        ("minutes", 3),
        ("report", 0),
        ("report", 3),
    ]
    assert standing(snapshot, [REPORT, MINUTES], labels=["figure 1", "table 9"]) == [("report", 3), ("minutes", 3)]
    assert standing(snapshot, [REPORT], Scope(first_page=2), kinds=[NodeKind.TABLE, NodeKind.FIGURE]) == [("report", 3)]
    assert standing(snapshot, [REPORT]) == standing(snapshot, [], kinds=[NodeKind.TABLE]) == []


@pytest.mark.parametrize("words", [(), ("the", "and"), ("中文",), ('"(', "*")])
def test_a_question_whose_words_find_nothing_is_answered_by_its_vector(snapshot, words):
    assert len(ask(snapshot, words=words, hops=0)) == 5


def test_the_same_question_has_the_same_candidates_in_32_threads(snapshot):
    expected = ask(snapshot, limit=40)
    together = threading.Barrier(32)

    def question(_number: int) -> bool:
        together.wait()
        return same(ask(snapshot, limit=40), expected)

    with ThreadPoolExecutor(32) as pool:
        assert all(pool.map(question, range(32)))


@pytest.mark.parametrize("scope", SCOPES[:3], ids=range(3))
def test_a_sample_is_the_lowest_ids_of_the_scope(snapshot, scope):
    names = inside(scope)
    for size in (0, 7, 1000):
        texts = scope_sample(snapshot.view, scope, size, column="search_text")
        assert list(texts) == [ALL_NODES[name].search_text for name in names[:size]]


def test_rankings_are_taken_from_by_turns():
    one, other = np.array([4, 2, 9]), np.array([2, 7, 4, 5, 6])
    assert by_turns(one, other).tolist() == [4, 2, 7, 9, 5, 6]
    assert by_turns(one, other[:0]).tolist() == [4, 2, 9]
