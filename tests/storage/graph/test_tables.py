import numpy as np

from storage.graph.tables import TableName, edges_of, graph_tables, nodes_of, pages_of, rows_of, schemas, vectors_of
from tests.storage.worlds import DIMENSION, EMBEDDER, graph, link


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
