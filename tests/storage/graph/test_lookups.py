"""What is read of a graph: nodes and columns by ids, words and vectors by likeness, through filters that no text gets into."""

from dataclasses import astuple, fields, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.corpus.snapshot import open_for_reading
from storage.graph import view as graph_view
from storage.graph.adjacency import derive
from storage.graph.filters import Column, between, either, every, literal, one_of
from storage.graph.lookups import WORDS, matching_nodes, matching_rows, nearest_nodes, take_rows
from storage.graph.search import Scope
from storage.graph.store import GraphDamagedError, create_graph, open_graph
from storage.graph.tables import TableName, graph_tables
from storage.graph.view import GraphView, NodeColumns, WholeColumns
from storage.records.documents import Modality, NodeKind, Passage
from tests.storage.graph_worlds import ALL_NODES, GRAPHS, VECTORS, published
from tests.storage.worlds import DIMENSION, EMBEDDER, graph

HEXES = st.text("0123456789abcdef", min_size=64, max_size=64)
SAFE = HEXES | st.integers() | st.sampled_from(list(Modality))


@given(st.text())
def test_no_text_but_an_id_gets_into_a_filter(text):
    with pytest.raises(ValueError, match="may not stand in a filter"):
        literal(text)


@pytest.mark.parametrize(
    "value",
    ["' OR true --", "a" * 63, "A" * 64, "a" * 64 + "\n", "a" * 64 + "'", None, 1.5, True, b"a" * 64, ["a" * 64], NodeKind.TABLE],
)
def test_what_is_nearly_an_id_is_refused(value):
    with pytest.raises(ValueError):
        one_of(Column.NODE, [value])


@given(st.lists(SAFE, max_size=5))
def test_equal_sets_give_equal_filters_without_anything_unquoted(values):
    built = one_of(Column.DOCUMENT, values)
    assert built == one_of(Column.DOCUMENT, values[::-1] * 2)
    assert set(built) <= set("0123456789abcdefghijklmnopqrstuvwxyz_ IN(),'-")


def test_no_value_keeps_no_row():
    assert one_of(Column.NODE, []) == "false"


def test_filters_are_joined_in_brackets():
    part = between(Column.PAGE, 3, 7)
    assert part == "page BETWEEN 3 AND 7"
    assert either(part, part) == "(page BETWEEN 3 AND 7) OR (page BETWEEN 3 AND 7)"
    assert every(part, one_of(Column.MODALITY, [Modality.TABLE])) == "(page BETWEEN 3 AND 7) AND (modality IN ('table'))"


IDS = sorted(ALL_NODES)[::11]


@pytest.fixture(scope="module", params=["small", "large"])
def snapshot(tmp_path_factory, request):
    """Give the same graph as one that is kept whole, and as one of which only some nodes are."""
    with pytest.MonkeyPatch.context() as patch, open_for_reading(published(tmp_path_factory.mktemp("home"))) as opened:
        if request.param == "large":
            patch.setattr(graph_view, "KEPT_NODES", len(ALL_NODES) // 2)
        yield opened


def test_nodes_come_whole_in_the_order_asked_but_those_that_are_gone(snapshot):
    asked = IDS[::-1] + IDS[:2]
    assert snapshot.find_nodes(asked) == [ALL_NODES[name] for name in asked]
    assert snapshot.find_nodes(["f" * 64, IDS[3], "no id", IDS[1]]) == [ALL_NODES[IDS[3]], ALL_NODES[IDS[1]]]
    assert snapshot.find_nodes([]) == snapshot.find_nodes(["f" * 64]) == []


def test_rows_come_by_their_node_in_order(snapshot):
    tables = [each.nodes[0].id for each in GRAPHS[:2]]
    assert snapshot.view.rows_by_node([*tables, GRAPHS[2].nodes[1].id]) == {each.nodes[0].id: each.rows for each in GRAPHS[:2]}
    assert snapshot.view.rows_by_node([GRAPHS[0].nodes[1].id]) == {}
    assert snapshot.view.rows_by_node([]) == {}


def test_what_is_read_of_nodes_comes_in_the_order_asked_with_the_rows_of_tables(snapshot):
    asked = [GRAPHS[0].nodes[0].id, *IDS[::-1]]
    passages, rows = snapshot.passages_and_rows(asked)
    wanted = [field.name for field in fields(Passage)]
    assert [astuple(passage) for passage in passages] == [
        tuple(getattr(ALL_NODES[name], field) for field in wanted) for name in asked
    ]
    assert rows == snapshot.view.rows_by_node(asked) and GRAPHS[0].nodes[0].id in rows


def test_a_node_that_is_not_there_is_named(snapshot):
    view = snapshot.view
    for ask in (view.passages_by_id, snapshot.passages_and_rows, view.rows_by_node):
        with pytest.raises(LookupError, match="node 'ffffffffffff' is not in this snapshot"):
            ask([IDS[0], "f" * 64])


def test_a_result_is_made_once_and_the_longest_unused_is_forgotten(snapshot, monkeypatch):
    monkeypatch.setattr(graph_view, "KEPT_RESULTS", 2)
    view, made = GraphView(snapshot.graph_store, DIMENSION), []
    for key in ("a", "b", "a", "c", "a", "b"):
        assert view.remember(key, lambda key=key: made.append(key) or key) == key
    assert made == ["a", "b", "c", "b"]


def test_a_graph_of_another_dimension_is_refused(snapshot):
    with pytest.raises(GraphDamagedError, match=f"have {DIMENSION} dimensions, their embedder 384; run `flowreader doctor`"):
        GraphView(snapshot.graph_store, 384)


# LanceDB itself refuses to write a NaN into `vector`.
@pytest.mark.parametrize(("column", "wrong"), [("vector", np.inf), ("initial_vector", np.inf), ("initial_vector", np.nan)])
def test_a_vector_that_is_not_finite_is_named(tmp_path, column, wrong):
    report = graph("report")
    broken = report.nodes[2].id
    (report.vectors if column == "vector" else report.initial_vectors)[2, 1] = wrong
    store = create_graph(tmp_path, EMBEDDER)
    store.replace(frozenset(), graph_tables([report], [], EMBEDDER))
    view = GraphView(store, DIMENSION)
    everything = np.arange(len(report.nodes))
    with pytest.raises(GraphDamagedError, match=f"node {broken} has a {column} that is not finite; run `flowreader doctor`"):
        view.columns.take(everything, ["search_text", column])
    assert len(view.columns.take(everything, ["search_text"])["search_text"]) == 6


def test_rows_that_are_gone_are_counted(tmp_path):
    report = graph("report")
    store = create_graph(tmp_path, EMBEDDER)
    store.replace(frozenset(), graph_tables([report], [], EMBEDDER))
    view = GraphView(store, DIMENSION)
    store.tables[TableName.NODES].delete(f"id = '{report.nodes[2].id}'")
    with pytest.raises(GraphDamagedError):
        view.columns.take(np.arange(len(report.nodes)), ["search_text"])


NODES = 12
TEXTS = np.array([f"text {number}" for number in range(NODES)], object)
PAIRS = np.arange(NODES * 2, dtype=np.float32).reshape(NODES, 2)
TABLE = {"text": TEXTS, "vector": PAIRS}
ASKED = st.tuples(
    st.lists(st.integers(0, NODES - 1), unique=True),
    st.sampled_from([("text",), ("vector",), ("text", "vector"), ("vector", "text")]),
)


class Reader:
    """Reads the table and counts the values."""

    def __init__(self):
        self.values = 0

    def __call__(self, positions, columns):
        assert (np.diff(positions) > 0).all()
        self.values += len(positions) * len(columns)
        return {name: TABLE[name][positions] for name in columns}


@given(st.lists(ASKED, max_size=12), st.integers(1, NODES + 3))
def test_what_is_taken_is_what_the_table_holds_whatever_was_kept(questions, capacity):
    kept = NodeColumns(Reader(), nodes=NODES, capacity=capacity)
    for positions, columns in questions:
        taken = kept.take(np.array(positions, np.int64), columns)
        assert set(taken) == set(columns)
        for name in columns:
            assert np.array_equal(taken[name], TABLE[name][positions])


def test_the_longest_kept_go_first():
    reader = Reader()
    kept = NodeColumns(reader, nodes=NODES, capacity=4)
    for positions in ([0, 1], [2, 3], [4, 5]):
        kept.take(np.array(positions), ["text"])
    assert reader.values == 6
    kept.take(np.array([2, 3, 4, 5]), ["text"])
    assert reader.values == 6
    kept.take(np.array([0]), ["text"])
    assert reader.values == 7


def test_a_column_that_is_kept_whole_is_read_once_whatever_is_taken_of_it():
    reader = Reader()
    kept = WholeColumns(reader, nodes=NODES)
    for positions in ([3, 1, 3], [], [11]):
        taken = kept.take(np.array(positions, np.int64), ["text", "vector"])
        assert taken["text"].tolist() == TEXTS[positions].tolist() and np.array_equal(taken["vector"], PAIRS[positions])
    assert reader.values == 2 * NODES


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


def names_of(store, rows):
    adjacency = derive(store)
    return adjacency.hex_ids(adjacency.positions_of_rows(rows))


def test_the_nearest_by_cosine_are_found_with_their_distances(store):
    asked = GRAPHS[0].vectors[4]
    rows, distances = nearest_nodes(store, asked, limit=10, where=None)
    expected = sorted(ALL_NODES, key=lambda name: -float(VECTORS[name] @ asked))[:10]
    assert set(names_of(store, rows)) == set(expected)
    assert np.allclose(np.sort(distances), [1 - VECTORS[name] @ asked for name in expected], atol=1e-5)


def test_the_nearest_stay_inside_a_filter_and_are_as_many_as_it_holds(store):
    rows, _ = nearest_nodes(store, GRAPHS[0].vectors[4], limit=100, where=PAGE.node_filter())
    inside = [node for node in GRAPHS[1].nodes if node.page == 2 and node.modality is Modality.TEXT]
    assert sorted(names_of(store, rows)) == sorted(node.id for node in inside)


def test_words_find_nodes_with_any_of_them_the_rarer_word_first(store):
    rows, scores = matching_nodes(store, ["letter", "words", "letter"], limit=500, where=None)
    assert len(rows) == len(ALL_NODES)
    assert {ALL_NODES[name].document_id for name in names_of(store, rows[np.argsort(-scores)][:40])} == {GRAPHS[1].document_id}
    rows, _ = matching_nodes(store, ["letters"], limit=500, where=PAGE.node_filter())
    assert {ALL_NODES[name].page for name in names_of(store, rows)} == {2}


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
    assert found["id"].to_pylist() == names_of(store, rows)
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
