"""The tables of a graph: what is put into them, which graphs are refused, and their indexes."""

from dataclasses import replace

import numpy as np
import pytest

import storage.graph.store as graph_store
from storage.graph.adjacency import derive
from storage.graph.checks import GraphError, check_graph
from storage.graph.filters import Column, between
from storage.graph.lookups import nearest_nodes
from storage.graph.search import Scope
from storage.graph.store import GraphDamagedError, create_graph, open_graph
from storage.graph.tables import TableName, edges_of, graph_tables, nodes_of, pages_of, rows_of, schemas, vectors_of
from storage.lock import LockLostError
from storage.records.documents import EmbedderIdentity, Modality
from tests.storage.worlds import DIMENSION, EMBEDDER, graph, link


def first(records, **changes):
    return (replace(records[0], **changes), *records[1:])


def vectors(good, row, value):
    bad = good.copy()
    bad[row] = value
    return bad


def test_the_vector_of_an_empty_page_may_be_zero():
    check_graph(replace(G, page_vectors=vectors(G.page_vectors, 1, 0)), EMBEDDER)


G = graph("report")
BROKEN = {
    "another dimension": (replace(G, vectors=G.vectors[:, :4]), "shape"),
    "a vector too few": (replace(G, initial_vectors=G.initial_vectors[1:]), "shape"),
    "NaN": (replace(G, vectors=vectors(G.vectors, 2, np.nan)), "row 2 has length nan"),
    "infinite": (replace(G, vectors=vectors(G.vectors, 2, np.inf)), "row 2 has length inf"),
    "zero": (replace(G, vectors=vectors(G.vectors, 1, 0)), "row 1 has length 0"),
    "a page of half length": (replace(G, page_vectors=G.page_vectors / 2), "row 0 has length 0.5"),
    "an id twice": (replace(G, nodes=(G.nodes[0], G.nodes[0], *G.nodes[2:])), "stands twice"),
    "another version": (replace(G, pages=first(G.pages, version="x")), "page belongs to another"),
    "another document": (replace(G, sections=first(G.sections, document_id="x")), "section belongs to another"),
    "a row of no table": (replace(G, rows=first(G.rows, node_id="x")), "belongs to no node"),
    "an edge twice": (replace(G, edges=(G.edges[0], G.edges[0])), "stands twice"),
    "an edge to nowhere": (replace(G, edges=first(G.edges, target="x")), "ends at no node"),
    "an edge from nowhere": (replace(G, edges=first(G.edges, source="x")), "ends at no node"),
    "an edge that leaves": (replace(G, edges=first(G.edges, target_document="x")), "leaves the document"),
    "a weight of NaN": (replace(G, edges=first(G.edges, weight=float("nan"))), "weighs nan"),
}


@pytest.mark.parametrize("name", BROKEN)
def test_a_broken_graph_is_refused(name):
    broken, words = BROKEN[name]
    with pytest.raises(GraphError, match=words):
        check_graph(broken, EMBEDDER)


def test_a_graph_comes_back_from_its_tables_as_it_went():
    report, letter = graph("report", picture="f" * 64), graph("letter")
    cross = link(report, letter)
    tables = graph_tables([report, letter], cross, EMBEDDER)
    both = sorted([report, letter], key=lambda each: each.document_id)
    assert nodes_of(tables[TableName.NODES]) == [node for each in both for node in each.nodes]
    assert pages_of(tables[TableName.PAGES]) == [page for each in both for page in each.pages]
    assert rows_of(tables[TableName.ROWS]) == [row for each in both for row in each.rows]
    edges = [*report.edges, *letter.edges, *cross]
    assert edges_of(tables[TableName.EDGES]) == sorted(edges, key=lambda edge: (edge.source, edge.target))
    stack = vectors_of(tables[TableName.NODES]["vector"], DIMENSION)
    assert np.array_equal(stack, np.concatenate([report.vectors, letter.vectors]))


def test_no_documents_make_empty_tables_of_the_same_schema():
    tables = graph_tables([], [], EMBEDDER)
    assert {name: table.schema for name, table in tables.items()} == schemas(EMBEDDER)
    assert vectors_of(tables[TableName.NODES]["vector"], DIMENSION).shape == (0, DIMENSION)


NOBODY: frozenset[str] = frozenset()


@pytest.fixture
def store(tmp_path):
    return create_graph(tmp_path, EMBEDDER)


def put(store, *graphs, edges=()):
    return store.replace(frozenset(each.document_id for each in graphs), graph_tables(graphs, edges, EMBEDDER))


def ids(store, name=TableName.NODES):
    return sorted(store.read(name, columns=["id"])["id"].to_pylist())


def test_the_same_batch_twice_is_there_once_also_without_a_document_to_replace(store):
    report = graph("report")
    for replaced in (frozenset([report.document_id]), NOBODY):
        for _ in range(2):
            store.replace(replaced, graph_tables([report], [], EMBEDDER))
            assert ids(store) == sorted(node.id for node in report.nodes)


def test_a_new_version_takes_the_place_of_the_old(store):
    put(store, graph("report"))
    put(store, graph("report", settings="b"))
    assert ids(store) == sorted(node.id for node in graph("report", settings="b").nodes)


def test_a_document_that_goes_takes_the_edges_that_end_in_it(store):
    report, letter = graph("report"), graph("letter")
    put(store, report, letter, edges=link(report, letter))
    store.replace(frozenset([letter.document_id]), graph_tables([], [], EMBEDDER))
    assert ids(store, TableName.EDGES) == sorted(edge.id for edge in report.edges)


def test_readers_of_a_version_see_only_that(store, tmp_path):
    pinned = put(store, graph("report"))
    put(store, graph("letter"))
    reader = open_graph(tmp_path, pinned)
    assert nodes_of(reader.read(TableName.NODES)) == list(graph("report").nodes)
    assert reader.versions() == pinned


def test_restoring_makes_the_old_version_the_newest(store, tmp_path):
    pinned = put(store, graph("report"))
    assert store.restore(pinned) == []
    put(store, graph("letter"))
    assert set(store.restore(pinned)) == set(TableName)
    assert len(ids(open_graph(tmp_path))) == 6


def test_a_write_by_another_process_is_noticed(store, tmp_path):
    class Meddling:
        """A table that another writer appends to right before our commit."""

        def __init__(self, table):
            self._table = table

        def __getattr__(self, name):
            return getattr(self._table, name)

        def delete(self, where):
            put(open_graph(tmp_path), graph("zombie"))
            return self._table.delete(where)

    store.tables[TableName.NODES] = Meddling(store.tables[TableName.NODES])
    with pytest.raises(LockLostError, match="written by another process"):
        put(store, graph("report"))


def test_filters_choose_rows_in_reads_and_streams(store):
    put(store, graph("report"))
    where = between(Column.PAGE, 2, 9)
    assert store.read(TableName.NODES, where).num_rows == 3
    assert sum(part.num_rows for part in store.stream(TableName.NODES, ["id"], where)) == 3
    assert sum(part.num_rows for part in store.stream(TableName.NODES, ["id"])) == 6


def test_a_missing_table_and_a_missing_version_are_named(store, tmp_path):
    with pytest.raises(GraphDamagedError, match="table nodes version 99"):
        open_graph(tmp_path, store.versions() | {"nodes": 99})
    with pytest.raises(GraphDamagedError, match=r"table nodes in .* cannot be opened"):
        open_graph(tmp_path / "elsewhere")
    with pytest.raises(GraphDamagedError, match="table rows version None"):
        open_graph(tmp_path, {"nodes": 2})


def test_reading_through_meets_damage_wherever_it_is(store, tmp_path):
    put(store, graph("report"))
    store.read_through()
    for path in (tmp_path / "pages.lance" / "data").iterdir():
        path.write_bytes(path.read_bytes()[:40])
    with pytest.raises(GraphDamagedError, match="table pages of the graph cannot be read"):
        open_graph(tmp_path).read_through()


WIDE = 32
WIDE_EMBEDDER = EmbedderIdentity("small", "fp32", WIDE)
MANY, MORE = graph("many", nodes=600, dimension=WIDE), graph("more", nodes=600, dimension=WIDE)


def indexed_columns(indexed, name):
    return sorted(column for index in indexed.tables[name].list_indices() for column in index.columns)


@pytest.fixture
def indexed(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_store, "NEAREST_FROM", 600)
    indexed = create_graph(tmp_path, WIDE_EMBEDDER)
    indexed.replace(frozenset(), graph_tables([MANY], [], WIDE_EMBEDDER))
    return indexed


def found(indexed, vector, limit, where=None):
    rows, distances = nearest_nodes(indexed, vector, limit=limit, where=where)
    adjacency = derive(indexed)
    return adjacency.hex_ids(adjacency.positions_of_rows(rows[np.argsort(distances)]))


def test_each_table_is_indexed_by_what_it_is_asked_for(indexed):
    indexed.index()
    assert indexed_columns(indexed, TableName.NODES) == ["document_id", "modality", "page", "search_text", "vector"]
    assert indexed_columns(indexed, TableName.ROWS) == ["document_id", "node_id", "text"]
    assert indexed_columns(indexed, TableName.EDGES) == ["source_document", "target_document"]
    assert indexed_columns(indexed, TableName.PAGES) == ["document_id"]


def test_few_vectors_are_searched_one_by_one(indexed, monkeypatch):
    monkeypatch.setattr(graph_store, "NEAREST_FROM", 601)
    indexed.index()
    assert "vector" not in indexed_columns(indexed, TableName.NODES)


def test_the_vector_index_finds_nodes_put_before_and_after_it_was_made(indexed):
    indexed.index()
    indexed.replace(frozenset(), graph_tables([MORE], [], WIDE_EMBEDDER))
    for _ in range(2):
        for part in (MANY, MORE):
            for node, vector in list(zip(part.nodes, part.vectors, strict=True))[::60]:
                assert node.id in found(indexed, vector, 20)[:3]
        indexed.index()


def test_the_vector_index_gives_as_much_as_a_narrow_filter_holds(indexed):
    indexed.index()
    scope = Scope((MANY.document_id,), 1, 1, Modality.TABLE)
    assert found(indexed, MANY.vectors[1], 50, scope.node_filter()) == [MANY.nodes[0].id]


def test_what_was_removed_is_not_found_and_not_in_the_indexes_written_anew(indexed, tmp_path):
    indexed.index()
    indexed.replace(frozenset([MANY.document_id]), graph_tables([MORE], [], WIDE_EMBEDDER))
    gone = {node.id for node in MANY.nodes}
    assert not gone & set(found(indexed, MANY.vectors[5], 100))
    before = {index.index_uuid for index in indexed.tables[TableName.NODES].list_indices()}
    indexed.rewrite()
    assert not before & {index.index_uuid for index in indexed.tables[TableName.NODES].list_indices()}
    assert len(set(found(indexed, MANY.vectors[5], 100))) == 100
