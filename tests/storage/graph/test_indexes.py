import numpy as np
import pytest

from storage.graph import store as graph_store
from storage.graph.adjacency import derive
from storage.graph.lookups import nearest_nodes
from storage.graph.search import Scope
from storage.graph.store import create_graph
from storage.graph.tables import TableName, graph_tables
from storage.records.documents import EmbedderIdentity, Modality
from tests.storage.worlds import graph

DIMENSION = 32
EMBEDDER = EmbedderIdentity("small", "fp32", DIMENSION)
MANY, MORE = graph("many", nodes=600, dimension=DIMENSION), graph("more", nodes=600, dimension=DIMENSION)


def indexed_columns(store, name):
    return sorted(column for index in store.tables[name].list_indices() for column in index.columns)


@pytest.fixture
def store(tmp_path, monkeypatch):
    monkeypatch.setattr(graph_store, "NEAREST_FROM", 600)
    store = create_graph(tmp_path, EMBEDDER)
    store.replace(frozenset(), graph_tables([MANY], [], EMBEDDER))
    return store


def found(store, vector, limit, where=None):
    rows, distances = nearest_nodes(store, vector, limit=limit, where=where)
    adjacency = derive(store)
    return adjacency.hex_ids(adjacency.positions_of_rows(rows[np.argsort(distances)]))


def test_each_table_is_indexed_by_what_it_is_asked_for(store):
    store.index()
    assert indexed_columns(store, TableName.NODES) == ["document_id", "modality", "page", "search_text", "vector"]
    assert indexed_columns(store, TableName.ROWS) == ["document_id", "node_id", "text"]
    assert indexed_columns(store, TableName.EDGES) == ["source_document", "target_document"]
    assert indexed_columns(store, TableName.PAGES) == ["document_id"]


def test_few_vectors_are_searched_one_by_one(store, monkeypatch):
    monkeypatch.setattr(graph_store, "NEAREST_FROM", 601)
    store.index()
    assert "vector" not in indexed_columns(store, TableName.NODES)


def test_the_vector_index_finds_nodes_put_before_and_after_it_was_made(store):
    store.index()
    store.replace(frozenset(), graph_tables([MORE], [], EMBEDDER))
    for _ in range(2):
        for part in (MANY, MORE):
            for node, vector in list(zip(part.nodes, part.vectors, strict=True))[::60]:
                assert node.id in found(store, vector, 20)[:3]
        store.index()


def test_the_vector_index_gives_as_much_as_a_narrow_filter_holds(store):
    store.index()
    scope = Scope((MANY.document_id,), 1, 1, Modality.TABLE)
    assert found(store, MANY.vectors[1], 50, scope.node_filter()) == [MANY.nodes[0].id]


def test_what_was_removed_is_not_found_and_not_in_the_indexes_written_anew(store, tmp_path):
    store.index()
    store.replace(frozenset([MANY.document_id]), graph_tables([MORE], [], EMBEDDER))
    gone = {node.id for node in MANY.nodes}
    assert not gone & set(found(store, MANY.vectors[5], 100))
    before = {index.index_uuid for index in store.tables[TableName.NODES].list_indices()}
    store.rewrite()
    assert not before & {index.index_uuid for index in store.tables[TableName.NODES].list_indices()}
    assert len(set(found(store, MANY.vectors[5], 100))) == 100
