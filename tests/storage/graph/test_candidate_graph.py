import numpy as np
import pytest

from storage.graph.adjacency import derive
from storage.graph.candidates import EDGE_KINDS, MODALITIES, NODE_KINDS, arcs_among, assemble
from storage.graph.store import open_graph
from tests.storage.graph_worlds import ALL_EDGES, ALL_NODES, published


@pytest.fixture(scope="module")
def adjacency(tmp_path_factory):
    return derive(open_graph(published(tmp_path_factory.mktemp("home")).lance))


def test_some_nodes_keep_the_arcs_among_them_in_order(adjacency):
    names = sorted(ALL_NODES)[::2]
    tails, heads, kinds, weights = arcs_among(adjacency, adjacency.positions_of(names))
    found = [
        (names[tail], names[head], EDGE_KINDS[kind], float(weight))
        for tail, head, kind, weight in zip(tails, heads, kinds, weights, strict=True)
    ]
    inside = [edge for edge in ALL_EDGES if edge.source in names and edge.target in names]
    inside.sort(key=lambda edge: (edge.source, edge.target, EDGE_KINDS.index(edge.kind)))
    assert found == [(edge.source, edge.target, edge.kind, edge.weight) for edge in inside]


def test_the_columns_are_those_of_the_records(adjacency):
    names = sorted(ALL_NODES)[3:60]
    positions = adjacency.positions_of(names)
    vectors, texts = np.ones((len(names), 2), np.float32), np.array(["text"] * len(names), object)
    graph = assemble(adjacency, positions, {"search_text": texts, "vector": vectors})
    nodes = [ALL_NODES[name] for name in names]
    assert list(graph.ids) == names
    assert len(graph) == len(names)
    assert list(graph.document_ids) == sorted({node.document_id for node in nodes})
    assert [graph.document_ids[document] for document in graph.documents] == [node.document_id for node in nodes]
    assert graph.pages.tolist() == [node.page for node in nodes]
    assert [NODE_KINDS[code] for code in graph.kinds] == [node.kind for node in nodes]
    assert [MODALITIES[code] for code in graph.modalities] == [node.modality for node in nodes]
    assert graph.meaningless.tolist() == [node.meaningless for node in nodes]
    assert graph.summary_words.tolist() == [len(node.summary.split()) for node in nodes]
    assert graph.vectors is vectors
    assert (graph.initial_vectors, set(graph.columns)) == (None, {"search_text"})


def test_no_node_is_a_graph_of_nothing(adjacency):
    nobody = np.empty(0, np.int64)
    graph = assemble(adjacency, nobody, {"vector": np.empty((0, 2), np.float32), "initial_vector": np.empty((0, 2))})
    assert (len(graph), graph.document_ids, len(graph.tails)) == (0, (), 0)
    assert graph.initial_vectors.shape == (0, 2)
