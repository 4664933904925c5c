"""What the questions of one open snapshot share: the adjacency, the rows that were read lately, and the scopes asked of."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, TypeVar, cast

import numpy as np
import numpy.typing as npt
import pyarrow as pa
from pyarrow import compute

from storage.graph.adjacency import IntArray, hexadecimal
from storage.graph.adjacency_files import adjacency_of
from storage.graph.candidates import MODALITIES, NODE_KINDS
from storage.graph.filters import NAMED, Column, one_of
from storage.graph.lookups import every_row, take_rows
from storage.graph.store import LINES, GraphDamagedError, GraphStore
from storage.graph.tables import SECOND_VECTOR, TOKENS, VECTOR_COLUMNS, TableName, rows_of, vectors_of
from storage.records.documents import Modality, PageKey, Passage, TableRow

Values = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]
ReadColumns = Callable[[IntArray, Sequence[str]], Mapping[str, Values]]
"""Reads columns of the nodes at these positions, which ascend; the values come in their order."""


class WholeColumns:
    """The columns of a small graph, each read whole when it is first asked for; safe to call from many threads."""

    def __init__(self, read: ReadColumns, *, nodes: int) -> None:
        self._read = read
        self._nodes = nodes
        self._kept: dict[str, Values] = {}
        self._lock = threading.Lock()

    def take(self, positions: IntArray, columns: Sequence[str]) -> dict[str, Values]:
        """Return the columns' values at the positions, in their order."""
        with self._lock:
            unread = [name for name in columns if name not in self._kept]
            if unread:
                self._kept.update(self._read(np.arange(self._nodes), unread))
            return {name: self._kept[name][positions] for name in columns}


class NodeColumns:
    """A bounded store of column values, filled as they are asked for; safe to call from many threads."""

    def __init__(self, read: ReadColumns, *, nodes: int, capacity: int) -> None:
        """Keep what was read of at most `capacity` out of `nodes` nodes; those kept longest go first."""
        self._read = read
        self._slots = np.full(nodes, -1, np.int32)
        self._owners = np.full(min(capacity, nodes), -1, np.int64)
        self._next = 0
        self._kept: dict[str, tuple[Values, Mask]] = {}
        self._lock = threading.Lock()

    def take(self, positions: IntArray, columns: Sequence[str]) -> dict[str, Values]:
        """Return the columns' values at the positions, in their order; what is not kept is read in one go."""
        with self._lock:
            found = {name: self._look(name, positions) for name in columns if name in self._kept}
        lacking = {name: ~found[name][1] if name in found else np.ones(len(positions), bool) for name in columns}
        unread = [name for name in columns if name not in found or lacking[name].any()]
        taken = {name: values for name, (values, _) in found.items()}
        if unread:
            missing = np.unique(positions[np.any([lacking[name] for name in unread], axis=0)])
            fresh = self._read(missing, unread)
            with self._lock:
                self._keep(missing, {name: fresh[name] for name in unread})
            for name in unread:
                taken[name] = _fill_in(taken.get(name), positions, lacking[name], missing, fresh[name])
        return taken

    def _look(self, name: str, positions: IntArray) -> tuple[Values, Mask]:
        slots = self._slots[positions]
        values, filled = self._kept[name]
        return values[slots], (slots >= 0) & filled[slots]

    def _keep(self, positions: IntArray, fresh: Mapping[str, Values]) -> None:
        """Keep the values; of more than there is room for, the last."""
        self._make_room(positions[self._slots[positions] < 0][-len(self._owners) :])
        slots = self._slots[positions]
        roomy = slots >= 0
        for name, values in fresh.items():
            if name not in self._kept:
                room = len(self._owners)
                self._kept[name] = np.empty((room, *values.shape[1:]), values.dtype), np.zeros(room, bool)
            kept, filled = self._kept[name]
            kept[slots[roomy]] = values[roomy]
            filled[slots[roomy]] = True

    def _make_room(self, positions: IntArray) -> None:
        slots = (self._next + np.arange(len(positions))) % max(len(self._owners), 1)
        gone = self._owners[slots]
        self._slots[gone[gone >= 0]] = -1
        self._slots[positions] = slots
        self._owners[slots] = positions
        self._next = int((self._next + len(positions)) % max(len(self._owners), 1))
        for _values, filled in self._kept.values():
            filled[slots] = False


def _fill_in(values: Values | None, positions: IntArray, lacking: Mask, read: IntArray, fresh: Values) -> Values:
    whole = np.empty((len(positions), *fresh.shape[1:]), fresh.dtype) if values is None else values
    whole[lacking] = fresh[np.searchsorted(read, positions[lacking])]
    return whole


KEPT_NODES = 20_000
"""Nodes with their columns in memory: 31 MB of vectors and about 10 MB for each text. A smaller graph is kept whole."""
KEPT_RESULTS = 16
"""Results remembered for scopes: masks of a byte a node, samples, small graphs."""

Result = TypeVar("Result")


class GraphView:
    """The graph of an open snapshot as questions see it; safe to ask from many threads."""

    def __init__(self, graph: GraphStore, dimension: int) -> None:
        """Open the adjacency; raise GraphDamagedError where the graph cannot be read or is of another dimension."""
        stored = graph.tables[TableName.NODES].schema.field(VECTOR_COLUMNS[-1]).type.list_size
        if stored != dimension:
            raise GraphDamagedError(
                f"the nodes' vectors have {stored} dimensions, their embedder {dimension}", remedy="run `flowreader doctor`"
            )
        self.graph = graph
        self.dimension = dimension
        self.adjacency = adjacency_of(graph)
        nodes = len(self.adjacency.ids)
        self._is_small = nodes <= KEPT_NODES
        self.columns: NodeColumns | WholeColumns = (
            WholeColumns(self._read_columns, nodes=nodes)
            if self._is_small
            else NodeColumns(self._read_columns, nodes=nodes, capacity=KEPT_NODES)
        )
        self._results: OrderedDict[Hashable, Any] = OrderedDict()
        self._lock = threading.Lock()

    @cached_property
    def has_tokens(self) -> bool:
        """Whether a node has tokens: none of an older corpus, nor of one that a server embedded."""
        nodes = self.graph.tables[TableName.NODES]
        return TOKENS in nodes.schema.names and bool(
            nodes.search().where(f"{TOKENS} IS NOT NULL").select(["id"]).limit(1).to_list()
        )

    @cached_property
    def relations(self) -> tuple[IntArray, IntArray, Sequence[str]]:
        """The positions of the tails and heads of arcs that a model named, and the names; LanceDB scans the names of all arcs."""
        named = self.graph.read(TableName.EDGES, NAMED, ["source", "target", "relation"])
        tails, heads = (self.adjacency.find(named[end].to_pylist()) for end in ("source", "target"))
        return tails, heads, named["relation"].to_pylist()

    def remember(self, key: Hashable, make: Callable[[], Result]) -> Result:
        """Return what was made for the key, made now where it is not remembered; two threads may both make it."""
        with self._lock:
            if key in self._results:
                self._results.move_to_end(key)
                return cast(Result, self._results[key])
        made = make()
        with self._lock:
            self._results[key] = made
            while len(self._results) > KEPT_RESULTS:
                self._results.popitem(last=False)
        return made

    def passages_by_id(self, ids: Sequence[str]) -> list[Passage]:
        """Return what of the nodes is read for an answer, in the order asked; raise LookupError where one is not there."""
        positions, names = self.adjacency.positions_of(ids), [field.name for field in fields(Passage)]
        known = self._known_columns(positions)
        read = self.columns.take(positions, [name for name in names if name not in known])
        columns = [known[name] if name in known else read[name].tolist() for name in names]
        return [Passage(*row) for row in zip(*columns, strict=True)]

    def rows_by_node(self, ids: Sequence[str]) -> dict[str, tuple[TableRow, ...]]:
        """Return the table rows of those of the nodes that have some; raise LookupError where a node is not there."""
        positions = self.adjacency.positions_of(ids)
        tables = positions[self.adjacency.modalities[positions] == MODALITIES.index(Modality.TABLE)]
        if not len(tables):
            return {}
        rows: dict[str, list[TableRow]] = {}
        for row in rows_of(self._table_rows(self.adjacency.hex_ids(tables))):
            rows.setdefault(row.node_id, []).append(row)
        return {name: tuple(found) for name, found in rows.items()}

    def _table_rows(self, nodes: Sequence[str]) -> pa.Table:
        """Return the rows of these nodes; of a small graph all rows are kept, for each search takes some milliseconds."""
        if not self._is_small:
            return self.graph.read(TableName.ROWS, one_of(Column.NODE, nodes))
        every = self.remember(TableName.ROWS, lambda: self.graph.read(TableName.ROWS))
        return every.filter(compute.is_in(every["node_id"], pa.array(nodes)))

    def page_lines(self, pages: Collection[PageKey]) -> dict[PageKey, str]:
        """Return the lines of each of the pages; a corpus that was read in before they were kept has none."""
        names = ["document_id", "number"]
        every = self.remember(TableName.PAGES, lambda: self._page_rows(names))
        if not pages or every is None:
            return {}
        documents, numbers = zip(*pages, strict=True)
        of_documents = every.filter(compute.is_in(every["document_id"], pa.array(documents)))
        asked = of_documents.filter(compute.is_in(of_documents["number"], pa.array(numbers, pa.int32())))
        rows = asked["_rowid"].to_numpy()
        found = take_rows(self.graph, TableName.PAGES, rows, [*names, LINES]).to_pylist()
        return {key: row[LINES] for row in found if (key := (row["document_id"], row["number"])) in pages}

    def _page_rows(self, names: Sequence[str]) -> pa.Table | None:
        lacks = LINES not in self.graph.tables[TableName.PAGES].schema.names
        return None if lacks else every_row(self.graph, TableName.PAGES, names)

    def _known_columns(self, positions: IntArray) -> dict[str, list[Any]]:
        """Return the columns of nodes that need not be read: in a large corpus each column takes a millisecond."""
        adjacency = self.adjacency
        return {
            "id": adjacency.hex_ids(positions),
            "document_id": hexadecimal(adjacency.document_ids[adjacency.documents[positions]]),
            "ordinal": adjacency.ordinals[positions].tolist(),
            "page": adjacency.pages[positions].tolist(),
            "kind": [NODE_KINDS[code] for code in adjacency.kinds[positions]],
            "modality": [MODALITIES[code] for code in adjacency.modalities[positions]],
            "meaningless": adjacency.meaningless[positions].tolist(),
        }

    def _read_columns(self, positions: IntArray, columns: Sequence[str]) -> Mapping[str, Values]:
        """Read the columns of the nodes; raise GraphDamagedError where a vector holds a number that is not finite."""
        rows = self.adjacency.rows[positions]
        whole = len(rows) == len(self.adjacency.ids)
        found = every_row(self.graph, TableName.NODES, columns) if whole else take_rows(self.graph, TableName.NODES, rows, columns)
        if found.num_rows != len(positions):
            raise GraphDamagedError(f"{len(positions) - found.num_rows} nodes cannot be read", remedy="run `flowreader doctor`")
        return {name: self._values(positions, name, found[name]) for name in columns}

    def _values(self, positions: IntArray, name: str, column: pa.ChunkedArray) -> Values:
        if name not in (*VECTOR_COLUMNS, SECOND_VECTOR):
            return _objects(column.to_pylist())
        vectors = vectors_of(column, column.type.list_size)
        sound = np.isfinite(vectors).all(axis=1)
        if not sound.all():
            strange = self.adjacency.hex_ids(positions[~sound][:1])[0]
            raise GraphDamagedError(f"node {strange} has a {name} that is not finite", remedy="run `flowreader doctor`")
        return vectors


def _objects(values: list[Any]) -> Values:
    """Return strings, or lists of strings as tuples, one an element."""
    made = np.empty(len(values), object)
    made[:] = [tuple(value) if isinstance(value, list) else value for value in values]
    return made
