from dataclasses import astuple, fields

import numpy as np
import pytest

from storage.corpus.snapshot import open_for_reading
from storage.graph import view as graph_view
from storage.graph.adjacency import UnknownNodeError
from storage.graph.store import GraphDamagedError, create_graph
from storage.graph.tables import TableName, graph_tables
from storage.graph.view import GraphView
from storage.records.documents import Passage
from tests.storage.graph_worlds import ALL_NODES, GRAPHS, VECTORS, published
from tests.storage.worlds import DIMENSION, EMBEDDER, graph

IDS = sorted(ALL_NODES)[::11]


@pytest.fixture(scope="module", params=["small", "large"])
def snapshot(tmp_path_factory, request):
    """Give the same graph as one that is kept whole, and as one of which only some nodes are."""
    with pytest.MonkeyPatch.context() as patch, open_for_reading(published(tmp_path_factory.mktemp("home"))) as opened:
        if request.param == "large":
            patch.setattr(graph_view, "KEPT_NODES", len(ALL_NODES) // 2)
        yield opened


def test_nodes_come_whole_and_in_the_order_asked(snapshot):
    asked = IDS[::-1] + IDS[:2]
    for _ in range(2):
        assert snapshot.view.nodes_by_id(asked) == [ALL_NODES[name] for name in asked]
    assert snapshot.view.nodes_by_id([]) == []


def test_of_nodes_that_may_be_gone_those_that_are_there_come(snapshot):
    assert snapshot.nodes_found(["f" * 64, IDS[3], "no id", IDS[1]]) == [ALL_NODES[IDS[3]], ALL_NODES[IDS[1]]]
    assert snapshot.nodes_found([]) == snapshot.nodes_found(["f" * 64]) == []


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
    for ask in (view.nodes_by_id, view.passages_by_id, snapshot.passages_and_rows, view.rows_by_node):
        with pytest.raises(UnknownNodeError, match="node 'ffffffffffff' is not in this snapshot"):
            ask([IDS[0], "f" * 64])


def test_columns_are_those_of_the_table(snapshot):
    positions = snapshot.view.adjacency.positions_of(IDS)
    taken = snapshot.view.columns.take(positions, ["vector", "keywords", "section_id", "search_text"])
    assert np.array_equal(taken["vector"], np.array([VECTORS[name] for name in IDS]))
    for column in ("keywords", "section_id", "search_text"):
        assert taken[column].tolist() == [getattr(ALL_NODES[name], column) for name in IDS]


def test_a_result_is_made_once_and_the_longest_unused_is_forgotten(snapshot, monkeypatch):
    monkeypatch.setattr(graph_view, "KEPT_RESULTS", 2)
    view, made = GraphView(snapshot.graph_store, DIMENSION), []
    for key in ("a", "b", "a", "c", "a", "b"):
        assert view.remembered(key, lambda key=key: made.append(key) or key) == key
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
