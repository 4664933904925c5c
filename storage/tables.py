"""Records to Arrow tables and back: the explicit schemas of what lies in LanceDB."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import Any

import numpy as np
import pyarrow as pa

from storage.records import DocumentGraph, Edge, EdgeKind, Modality, Node, NodeKind, Page, PageParser, TableRow, Vectors


class TableName(StrEnum):
    """The tables of the graph."""

    NODES = "nodes"
    ROWS = "rows"
    EDGES = "edges"
    PAGES = "pages"


VECTOR_COLUMNS = ("initial_vector", "vector")
TEXTS = pa.list_(pa.string())
BOX = pa.list_(pa.float64(), 4)


def required(name: str, kind: pa.DataType) -> pa.Field:
    """Return a column that is never null."""
    return pa.field(name, kind, nullable=False)


def schemas(dimension: int) -> dict[TableName, pa.Schema]:
    vector = pa.list_(pa.float32(), dimension)
    return {
        TableName.NODES: pa.schema(
            [
                *(required(name, pa.string()) for name in ("id", "document_id", "version")),
                required("ordinal", pa.int32()),
                *(required(name, pa.string()) for name in ("kind", "modality", "content")),
                required("page", pa.int32()),
                pa.field("box", BOX),
                pa.field("section_id", pa.string()),
                required("section_path", TEXTS),
                *(required(name, pa.string()) for name in ("caption", "label")),
                *(pa.field(name, pa.string()) for name in ("html", "picture")),
                *(required(name, pa.string()) for name in ("picture_text", "summary")),
                required("keywords", TEXTS),
                required("search_text", pa.string()),
                required("meaningless", pa.bool_()),
                required("round", pa.int32()),
                *(required(name, vector) for name in VECTOR_COLUMNS),
            ]
        ),
        TableName.ROWS: pa.schema(
            [
                *(required(name, pa.string()) for name in ("id", "node_id", "document_id", "version")),
                *(required(name, pa.int32()) for name in ("row", "page")),
                required("cells", TEXTS),
                required("text", pa.string()),
                required("is_header", pa.bool_()),
            ]
        ),
        TableName.EDGES: pa.schema(
            [
                *(required(name, pa.string()) for name in ("id", "source", "target", "source_document", "target_document", "kind")),
                required("weight", pa.float64()),
                required("relation", pa.string()),
                required("round", pa.int32()),
            ]
        ),
        TableName.PAGES: pa.schema(
            [
                *(required(name, pa.string()) for name in ("id", "document_id", "version")),
                required("number", pa.int32()),
                pa.field("label", pa.string()),
                *(required(name, pa.float64()) for name in ("width_points", "height_points")),
                *(required(name, pa.string()) for name in ("parser", "note", "summary")),
                pa.field("image", pa.string()),
                required("vector", vector),
            ]
        ),
    }


def vector_column(parts: Sequence[Vectors], dimension: int) -> pa.Array:
    """Return the stacked vectors as one fixed-size column."""
    stack = np.concatenate([np.empty((0, dimension), np.float32), *parts]).astype(np.float32, copy=False)
    return pa.FixedSizeListArray.from_arrays(pa.array(stack.ravel()), dimension)


def columns(kind: type[Any], records: Sequence[Any]) -> dict[str, list[Any]]:
    return {field.name: [getattr(record, field.name) for record in records] for field in fields(kind)}


def table(schema: pa.Schema, data: Mapping[str, Any]) -> pa.Table:
    return pa.table([pa.array(data[name], schema.field(name).type) for name in schema.names], schema=schema)


def graph_tables(graphs: Sequence[DocumentGraph], cross_edges: Iterable[Edge], dimension: int) -> dict[TableName, pa.Table]:
    schema = schemas(dimension)
    nodes = columns(Node, [node for graph in graphs for node in graph.nodes])
    nodes["initial_vector"] = vector_column([graph.initial_vectors for graph in graphs], dimension)
    nodes["vector"] = vector_column([graph.vectors for graph in graphs], dimension)
    pages = columns(Page, [page for graph in graphs for page in graph.pages])
    pages["vector"] = vector_column([graph.page_vectors for graph in graphs], dimension)
    arcs = [*(edge for graph in graphs for edge in graph.edges), *cross_edges]
    edges = columns(Edge, arcs) | {"id": [edge.id for edge in arcs]}
    rows = columns(TableRow, [row for graph in graphs for row in graph.rows])
    data = {TableName.NODES: nodes, TableName.ROWS: rows, TableName.EDGES: edges, TableName.PAGES: pages}
    return {name: table(schema[name], data[name]) for name in TableName}


def nodes_of(found: pa.Table) -> list[Node]:
    """Return the rows as nodes, in reading order of each document."""
    records = [
        Node(
            **row
            | {
                "kind": NodeKind(row["kind"]),
                "modality": Modality(row["modality"]),
                "box": tuple(row["box"]) if row["box"] else None,
                "section_path": tuple(row["section_path"]),
                "keywords": tuple(row["keywords"]),
            }
        )
        for row in plain_rows(Node, found)
    ]
    return sorted(records, key=lambda node: (node.document_id, node.ordinal, node.id))


def rows_of(found: pa.Table) -> list[TableRow]:
    """Return the rows as table rows, by document, page, table and row."""
    records = [TableRow(**row | {"cells": tuple(row["cells"])}) for row in plain_rows(TableRow, found)]
    return sorted(records, key=lambda row: (row.document_id, row.page, row.node_id, row.row))


def edges_of(found: pa.Table) -> list[Edge]:
    """Return the rows as edges, by source, target and kind."""
    records = [Edge(**row | {"kind": EdgeKind(row["kind"])}) for row in plain_rows(Edge, found)]
    return sorted(records, key=lambda edge: (edge.source, edge.target, edge.kind))


def pages_of(found: pa.Table) -> list[Page]:
    """Return the rows as pages, in their order."""
    records = [Page(**row | {"parser": PageParser(row["parser"])}) for row in plain_rows(Page, found)]
    return sorted(records, key=lambda page: (page.document_id, page.number))


def plain_rows(kind: type[Any], found: pa.Table) -> list[dict[str, Any]]:
    """Return the columns that are fields of the record, row by row."""
    return list(found.select([field.name for field in fields(kind)]).to_pylist())


def vectors_of(column: pa.ChunkedArray, dimension: int) -> Vectors:
    """Return a vector column as (rows, dimension) float32."""
    flat = [chunk.flatten().to_numpy(zero_copy_only=False) for chunk in column.chunks]
    return np.concatenate([np.empty(0, np.float32), *flat]).reshape(-1, dimension)
