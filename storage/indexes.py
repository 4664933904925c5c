"""Which search indexes each table of the graph has."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from storage.filters import Column
from storage.tables import TableName

if TYPE_CHECKING:
    from lancedb.table import Table

FULL_TEXT = {TableName.NODES: "search_text", TableName.ROWS: "text"}
"""Words are cut at signs and spaces, lower-cased, without accents and English endings; English stop words are not in it."""

FEW_VALUES = {
    TableName.NODES: (Column.DOCUMENT, Column.MODALITY),
    TableName.ROWS: (Column.DOCUMENT,),
    TableName.EDGES: (Column.SOURCE_DOCUMENT, Column.TARGET_DOCUMENT),
    TableName.PAGES: (Column.DOCUMENT,),
}
MANY_VALUES = {TableName.NODES: (Column.PAGE,), TableName.ROWS: (Column.NODE,)}

NEAREST = "vector"
"""The column of `nodes` that questions search: the last round's."""
NEAREST_FROM = 5_000
"""Below so many nodes an exact search takes less than 8 ms.

The index is RabitQ: a tenth of HNSW_SQ's size, built in a fiftieth of its time. Of the nearest 128 among 100,000 it misses one in
ten, of the nearest 20 none; a question weighs what it finds by the exact vectors.
"""


def make_indexes(name: TableName, table: Table, *, except_for: Collection[str]) -> None:
    """Build the table's indexes, in place of those of that name, but for those on the given columns."""
    from lancedb.index import FTS, Bitmap, BTree, IvfRq

    wanted: dict[str, Any] = {column.value: Bitmap() for column in FEW_VALUES[name]}
    wanted |= {column.value: BTree() for column in MANY_VALUES.get(name, ())}
    if name in FULL_TEXT:
        wanted[FULL_TEXT[name]] = FTS(with_position=True)
    if name is TableName.NODES and table.count_rows() >= NEAREST_FROM:
        wanted[NEAREST] = IvfRq(distance_type="cosine")
    for column in sorted(set(wanted) - set(except_for)):
        table.create_index(column, config=wanted[column])
