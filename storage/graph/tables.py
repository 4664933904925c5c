"""Records to Arrow tables and back: a column of LanceDB for each of their fields, and for their vectors."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from types import UnionType
from typing import Any, TypeVar, cast, get_args

import numpy as np
import pyarrow as pa

from storage.codec import from_plain
from storage.records.documents import Box, DocumentGraph, Edge, EmbedderIdentity, Node, Page, TableRow, Vectors

T = TypeVar("T")


class TableName(StrEnum):
    NODES = "nodes"
    ROWS = "rows"
    EDGES = "edges"
    PAGES = "pages"


VECTOR_COLUMNS = ("initial_vector", "vector")
SECOND_VECTOR = "second_vector"
"""Of the second embedder, in the corpora that have one."""
TOKENS = "tokens"
"""Of nodes, null where none are kept; an older corpus has no such column before its next ingest."""
STORED_AS: dict[object, pa.DataType] = {
    str: pa.string(),
    int: pa.int32(),
    float: pa.float64(),
    bool: pa.bool_(),
    tuple[str, ...]: pa.list_(pa.string()),
    Box: pa.list_(pa.float64(), 4),
}


def column(name: str, kind: Any) -> pa.Field:  # noqa: ANN401 - a type, or a union of one with None
    """Return the column for a field of a record; it may be null where the field may be None."""
    of_value = get_args(kind)[0] if isinstance(kind, UnionType) else kind
    is_enum = isinstance(of_value, type) and issubclass(of_value, StrEnum)
    return pa.field(name, STORED_AS[str if is_enum else of_value], nullable=isinstance(kind, UnionType))


def schemas(embedder: EmbedderIdentity) -> dict[TableName, pa.Schema]:
    vector = pa.list_(pa.float32(), embedder.dimension)
    made = [pa.field(name, vector, nullable=False) for name in VECTOR_COLUMNS]
    if embedder.second:
        made.append(pa.field(SECOND_VECTOR, pa.list_(pa.float32(), embedder.second.dimension), nullable=False))
    made.append(pa.field(TOKENS, pa.binary()))
    own = {kind: [column(field.name, field.type) for field in fields(kind)] for kind in (Node, TableRow, Edge, Page)}
    return {
        TableName.NODES: pa.schema([*own[Node], *made]),
        TableName.ROWS: pa.schema(own[TableRow]),
        TableName.EDGES: pa.schema([column("id", str), *own[Edge]]),
        TableName.PAGES: pa.schema([*own[Page], pa.field("vector", vector, nullable=False)]),
    }


def vector_column(parts: Sequence[Vectors], dimension: int) -> pa.Array:
    """Return the stacked vectors as one fixed-size column."""
    stack = np.concatenate([np.empty((0, dimension), np.float32), *parts]).astype(np.float32, copy=False)
    return pa.FixedSizeListArray.from_arrays(pa.array(stack.ravel()), dimension)


def columns(kind: type[Any], records: Sequence[Any]) -> dict[str, list[Any]]:
    return {field.name: [getattr(record, field.name) for record in records] for field in fields(kind)}


def table(schema: pa.Schema, data: Mapping[str, Any]) -> pa.Table:
    return pa.table([pa.array(data[name], schema.field(name).type) for name in schema.names], schema=schema)


def graph_tables(
    graphs: Sequence[DocumentGraph], cross_edges: Iterable[Edge], embedder: EmbedderIdentity
) -> dict[TableName, pa.Table]:
    schema, dimension = schemas(embedder), embedder.dimension
    nodes = columns(Node, [node for graph in graphs for node in graph.nodes])
    nodes["initial_vector"] = vector_column([graph.initial_vectors for graph in graphs], dimension)
    nodes["vector"] = vector_column([graph.vectors for graph in graphs], dimension)
    if embedder.second:
        seconds = [graph.second_vectors for graph in graphs if graph.second_vectors is not None]
        nodes[SECOND_VECTOR] = vector_column(seconds, embedder.second.dimension)
    nodes[TOKENS] = [tokens for graph in graphs for tokens in graph.tokens or [None] * len(graph.nodes)]
    pages = columns(Page, [page for graph in graphs for page in graph.pages])
    pages["vector"] = vector_column([graph.page_vectors for graph in graphs], dimension)
    arcs = [*(edge for graph in graphs for edge in graph.edges), *cross_edges]
    edges = columns(Edge, arcs) | {"id": [edge.id for edge in arcs]}
    rows = columns(TableRow, [row for graph in graphs for row in graph.rows])
    data = {TableName.NODES: nodes, TableName.ROWS: rows, TableName.EDGES: edges, TableName.PAGES: pages}
    return {name: table(schema[name], data[name]) for name in TableName}


def nodes_of(found: pa.Table) -> list[Node]:
    """Return the rows as nodes, in reading order of each document."""
    return sorted(records_of(Node, found), key=lambda node: (node.document_id, node.ordinal, node.id))


def rows_of(found: pa.Table) -> list[TableRow]:
    """Return the rows as table rows, by document, page, table and row."""
    return sorted(records_of(TableRow, found), key=lambda row: (row.document_id, row.page, row.node_id, row.row))


def edges_of(found: pa.Table) -> list[Edge]:
    """Return the rows as edges, by source, target and kind."""
    return sorted(records_of(Edge, found), key=lambda edge: (edge.source, edge.target, edge.kind))


def pages_of(found: pa.Table) -> list[Page]:
    """Return the rows as pages, in their order."""
    return sorted(records_of(Page, found), key=lambda page: (page.document_id, page.number))


def records_of(kind: type[T], found: pa.Table) -> list[T]:
    # A corpus that was read in before a field had a column is read without.
    names = [field.name for field in fields(cast(Any, kind)) if field.name in found.column_names]
    return [from_plain(kind, row) for row in found.select(names).to_pylist()]


def vectors_of(column: pa.ChunkedArray, dimension: int) -> Vectors:
    """Return a vector column as (rows, dimension) float32."""
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate([np.empty(0, np.float32), *flat]).reshape(-1, dimension)
