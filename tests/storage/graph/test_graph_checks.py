from dataclasses import replace

import numpy as np
import pytest

from storage.graph.checks import GraphError, check_graph
from tests.storage.worlds import EMBEDDER, graph


def first(records, **changes):
    return (replace(records[0], **changes), *records[1:])


def vectors(good, row, value):
    bad = good.copy()
    bad[row] = value
    return bad


def test_a_whole_graph_passes():
    check_graph(graph("report"), EMBEDDER)


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
