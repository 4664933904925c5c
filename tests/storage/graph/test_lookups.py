from dataclasses import replace

import numpy as np
import pytest

from storage.graph.adjacency import derive
from storage.graph.lookups import WORDS, matching_nodes, matching_rows, nearest_nodes, take_rows
from storage.graph.search import Scope
from storage.graph.store import GraphDamagedError, create_graph, open_graph
from storage.graph.tables import TableName, graph_tables
from storage.records.documents import Modality
from tests.storage.graph_worlds import ALL_NODES, GRAPHS, VECTORS, published
from tests.storage.worlds import DIMENSION, EMBEDDER, graph

PAGE = Scope((GRAPHS[1].document_id,), 2, 2, Modality.TEXT)
NOTHING = [
    [],
    [""],
    ["  "],
    ["the", "of", "and"],
    ["中文", "вопрос"],
    ['"', "(", "*", "AND"],
    ["\ud800"],
    ["a\x00"],
    ["x" * 100_000],
]


@pytest.fixture(scope="module", params=["indexed", "not indexed"])
def store(tmp_path_factory, request):
    return open_graph(published(tmp_path_factory.mktemp("home"), indexed=request.param == "indexed").lance)


def names(store, rows):
    adjacency = derive(store)
    return adjacency.hex_ids(adjacency.positions_of_rows(rows))


def test_the_nearest_by_cosine_are_found_with_their_distances(store):
    asked = GRAPHS[0].vectors[4]
    rows, distances = nearest_nodes(store, asked, limit=10, where=None)
    expected = sorted(ALL_NODES, key=lambda name: -float(VECTORS[name] @ asked))[:10]
    assert set(names(store, rows)) == set(expected)
    assert np.allclose(np.sort(distances), [1 - VECTORS[name] @ asked for name in expected], atol=1e-5)


def test_the_nearest_stay_inside_a_filter_and_are_as_many_as_it_holds(store):
    rows, _ = nearest_nodes(store, GRAPHS[0].vectors[4], limit=100, where=PAGE.node_filter())
    inside = [node for node in GRAPHS[1].nodes if node.page == 2 and node.modality is Modality.TEXT]
    assert sorted(names(store, rows)) == sorted(node.id for node in inside)


def test_words_find_nodes_with_any_of_them_the_rarer_word_first(store):
    rows, scores = matching_nodes(store, ["letter", "words", "letter"], limit=500, where=None)
    assert len(rows) == len(ALL_NODES)
    assert {ALL_NODES[name].document_id for name in names(store, rows[np.argsort(-scores)][:40])} == {GRAPHS[1].document_id}
    rows, _ = matching_nodes(store, ["letters"], limit=500, where=PAGE.node_filter())
    assert {ALL_NODES[name].page for name in names(store, rows)} == {2}


@pytest.mark.parametrize(
    ("language", "asked", "count"),
    [("", "Haus", 0), ("german", "Haus", 1), ("german", "die", 0), ("polish", "Haus", 0), ("polish", "Häuser", 1)],
)
def test_full_text_knows_the_inflections_of_the_language_that_a_corpus_is_made_in(tmp_path, monkeypatch, language, asked, count):
    monkeypatch.setenv("FLOWREADER_LANGUAGE", language)
    report = graph("report", nodes=1)
    store = create_graph(tmp_path, EMBEDDER)
    german = replace(report, nodes=(replace(report.nodes[0], search_text="Die Häuser am Fluss"),))
    store.replace(frozenset(), graph_tables([german], [], EMBEDDER))
    assert len(matching_nodes(store, [asked], limit=5, where=None)[0]) == count


def test_words_find_the_nodes_of_table_rows(store):
    found, _ = matching_rows(store, ["counts"], limit=500, where=None)
    assert sorted(set(found)) == sorted(each.nodes[0].id for each in GRAPHS)
    assert matching_rows(store, ["counts"], limit=500, where=PAGE.row_filter())[0] == []


@pytest.mark.parametrize("words", NOTHING, ids=range(len(NOTHING)))
def test_what_says_nothing_finds_nothing(store, words):
    assert len(matching_nodes(store, words, limit=10, where=None)[0]) == 0
    assert matching_rows(store, words, limit=10, where=None)[0] == []


def test_no_word_is_read_as_syntax(store):
    for word in ('"letter', "letter)", "+letter", "letter AND", "search_text:letter", "'; DROP TABLE nodes; letter"):
        assert len(matching_nodes(store, [word], limit=500, where=None)[0]) >= 40


def test_words_beyond_the_limit_are_not_looked_for(store):
    many = [f"nowhere{number}" for number in range(WORDS)]
    assert len(matching_nodes(store, [*many, "letter"], limit=500, where=None)[0]) == 0
    assert len(matching_nodes(store, [*many[1:], "letter"], limit=500, where=None)[0]) == 40


def test_rows_come_in_their_order(store):
    rows = derive(store).rows[::-5][::-1]
    found = take_rows(store, TableName.NODES, rows, ["id", "page"])
    assert found["id"].to_pylist() == names(store, rows)
    assert take_rows(store, TableName.NODES, rows[:0], ["id", "page"]).num_rows == 0


def test_unreadable_rows_are_named(tmp_path):
    store = create_graph(tmp_path, EMBEDDER)
    store.replace(frozenset(), graph_tables([graph("report")], [], EMBEDDER))
    for path in (tmp_path / "nodes.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    for ask in (
        lambda graph: nearest_nodes(graph, np.ones(DIMENSION, np.float32), limit=3, where=None),
        lambda graph: matching_nodes(graph, ["words"], limit=3, where=None),
        lambda graph: take_rows(graph, TableName.NODES, np.array([0], np.uint64), ["id"]),
    ):
        with pytest.raises(GraphDamagedError, match="table nodes of the graph cannot be read"):
            ask(open_graph(tmp_path))
