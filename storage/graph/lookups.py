"""What questions ask of LanceDB: the nodes nearest to a vector, the nodes and table rows that hold words, and rows by row id."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from storage.graph.filters import Filter
from storage.graph.store import FULL_TEXT, NEAREST, GraphStore, explain_damage
from storage.graph.tables import TableName
from storage.records.documents import Vectors

if TYPE_CHECKING:
    from lancedb.query import LanceQueryBuilder

RowIds = npt.NDArray[np.uint64]

PROBES = 20
"""Partitions of the vector index that are searched at least: all of the nearest 20 and 0.99 of the nearest 128 among 100,000."""
WORDS = 64
"""Words looked for at most: each costs time."""


def nearest_nodes(
    graph: GraphStore, vector: Vectors, *, limit: int, where: Filter | None
) -> tuple[RowIds, npt.NDArray[np.float32]]:
    """Return the rows of the nodes nearest to the vector by cosine, and their distances 0..2, in no order."""
    table: Any = graph.tables[TableName.NODES]  # its search is declared to return a builder that lacks what follows
    query = table.search(vector, vector_column_name=NEAREST).distance_type("cosine")
    found = _fetch(query.minimum_nprobes(PROBES).maximum_nprobes(0), TableName.NODES, ["_distance"], limit, where)
    return found["_rowid"].to_numpy(), found["_distance"].to_numpy()


def matching_nodes(
    graph: GraphStore, words: Sequence[str], *, limit: int, where: Filter | None, in_a_row: bool = False
) -> tuple[RowIds, npt.NDArray[np.float32]]:
    """Return the rows of the nodes that hold the words best, and their scores, higher is better, in no order.

    `in_a_row`: only of those that hold all of them, one after the other.
    """
    found = _match(graph, TableName.NODES, words, ["_score"], limit, where, in_a_row)
    return found["_rowid"].to_numpy(), found["_score"].to_numpy()


def matching_rows(
    graph: GraphStore, words: Sequence[str], *, limit: int, where: Filter | None, in_a_row: bool = False
) -> tuple[list[str], npt.NDArray[np.float32]]:
    """Return for the table rows that hold the words best the ids of their nodes, and their scores, in no order."""
    found = _match(graph, TableName.ROWS, words, ["node_id", "_score"], limit, where, in_a_row)
    return found["node_id"].to_pylist(), found["_score"].to_numpy()


def _match(
    graph: GraphStore,
    name: TableName,
    words: Sequence[str],
    columns: list[str],
    limit: int,
    where: Filter | None,
    in_a_row: bool,
) -> pa.Table:
    """Return the rows that hold one of the words at least, or all of them in a row.

    A word is never read as a query's syntax. Stop words, signs and what the index does not hold find nothing.
    """
    from lancedb.query import MatchQuery, PhraseQuery

    asked = [word.encode("utf-8", "replace").decode() for word in (words if in_a_row else dict.fromkeys(words))][:WORDS]
    wanted: Any = PhraseQuery if in_a_row else MatchQuery  # their options have defaults that their declarations hide
    query = graph.tables[name].search(wanted(" ".join(asked), FULL_TEXT[name]), query_type="fts")
    return _fetch(query, name, columns, limit, where)


def _fetch(query: LanceQueryBuilder, name: TableName, columns: list[str], limit: int, where: Filter | None) -> pa.Table:
    query = query.limit(limit).select(columns).with_row_id(True)
    with explain_damage(name):
        return (query.where(where) if where is not None else query).to_arrow()


def take_rows(graph: GraphStore, name: TableName, rows: RowIds, columns: Sequence[str]) -> pa.Table:
    """Return the columns of the rows, which ascend, in their order."""
    with explain_damage(name):
        found = graph.tables[name].take_row_ids(rows.tolist()).select(list(columns)).with_row_id().to_arrow()
    return found.sort_by("_rowid")


def every_row(graph: GraphStore, name: TableName, columns: Sequence[str]) -> pa.Table:
    """Return the columns of all rows, ascending by row id; a scan takes a fifth of the time of lookups."""
    with explain_damage(name):
        found = graph.tables[name].search().select(list(columns)).with_row_id(True).to_arrow()
    return found.sort_by("_rowid")
