"""The graph in LanceDB: nodes, table rows, edges and pages. One writer; readers check out the versions of their snapshot.

LanceDB takes more than a second to import; it is loaded when a table is opened, so that `status` and errors come at once.
"""

from __future__ import annotations

import uuid
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from storage.errors import ExpectedError
from storage.graph.filters import Column, Filter, either, one_of
from storage.graph.tables import TOKENS, TableName, schemas
from storage.lock import LockLostError
from storage.records.documents import EmbedderIdentity
from storage.records.language import language

if TYPE_CHECKING:
    from lancedb import DBConnection
    from lancedb.table import Table

FULL_TEXT = {TableName.NODES: "search_text", TableName.ROWS: "text"}
"""Words are cut at signs and spaces, lower-cased, without accents, endings and stop words of FLOWREADER_LANGUAGE."""

DOCUMENT_COLUMNS = {
    TableName.NODES: (Column.DOCUMENT,),
    TableName.ROWS: (Column.DOCUMENT,),
    TableName.EDGES: (Column.SOURCE_DOCUMENT, Column.TARGET_DOCUMENT),
    TableName.PAGES: (Column.DOCUMENT,),
}
FEW_VALUES = {TableName.NODES: (Column.MODALITY,)}
"""Next to the documents."""
MANY_VALUES = {TableName.NODES: (Column.PAGE,), TableName.ROWS: (Column.NODE,)}

NEAREST = "vector"
"""The column of `nodes` that questions search: the last round's."""
NEAREST_FROM = 5_000
"""With fewer nodes an exact search takes less than 8 ms.

The index is RabitQ: a tenth of HNSW_SQ's size, built in a fiftieth of its time. Of the nearest 128 among 100,000 it misses one in
ten, of the nearest 20 none; a question weighs what it finds by the exact vectors.
"""


LANGUAGES_OF_FULL_TEXT = frozenset(
    {"arabic", "danish", "dutch", "english", "finnish", "french", "german", "greek", "hungarian", "italian", "norwegian"}
    | {"portuguese", "romanian", "russian", "spanish", "swedish", "tamil", "turkish"}
)
"""In these LanceDB reduces words to stems; in others a word is found as it stands only."""


def make_indexes(name: TableName, table: Table, *, except_for: Collection[str]) -> None:
    """Build the table's indexes, in place of those of that name, but for those on the given columns."""
    from lancedb.index import FTS, Bitmap, BTree, IvfRq

    wanted: dict[str, Any] = {column.value: Bitmap() for column in (*DOCUMENT_COLUMNS[name], *FEW_VALUES.get(name, ()))}
    wanted |= {column.value: BTree() for column in MANY_VALUES.get(name, ())}
    if name in FULL_TEXT:
        known = language() in LANGUAGES_OF_FULL_TEXT
        wanted[FULL_TEXT[name]] = FTS(
            with_position=True, language=language().title() if known else "English", stem=known, remove_stop_words=known
        )
    if name is TableName.NODES and table.count_rows() >= NEAREST_FROM:
        wanted[NEAREST] = IvfRq(distance_type="cosine")
    for column in sorted(set(wanted) - set(except_for)):
        table.create_index(column, config=wanted[column])


BATCH_ROWS = 8192
LINES = "lines"
INDEX_CACHE_BYTES = 128 << 20
METADATA_CACHE_BYTES = 64 << 20


class GraphDamagedError(ExpectedError):
    """Tables of the graph, or the versions of them that a snapshot pins, that cannot be opened."""


@contextmanager
def explain_damage(name: TableName) -> Iterator[None]:
    """Turn what LanceDB says of torn or missing files into a GraphDamagedError that names the table."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        first_line = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise GraphDamagedError(
            f"table {name} of the graph cannot be read ({first_line})", remedy="run `flowreader doctor`"
        ) from error


NEWEST = 2**64 - 1
"""Lance counts its manifests down from here, so that a list of them begins with the newest."""


def table_files(table: Path, version: int) -> list[Path]:
    """Return the files of one version of a LanceDB table; what only others hold, a removed document's words too, stays.

    A manifest holds the names of its data files as they are, and the UUIDs of its indexes as 16 bytes. A deletion's file, which
    holds numbers of rows, is named FRAGMENT-VERSION-ID, after the version that it was made from.
    """
    manifest = table / "_versions" / f"{NEWEST - version}.manifest"
    try:
        contents = manifest.read_bytes()
    except FileNotFoundError as error:
        raise GraphDamagedError(f"{str(manifest)!r} of the graph is missing", str(manifest), "run `flowreader doctor`") from error
    indexes = [index for index in table.glob("_indices/*") if uuid.UUID(index.name).bytes in contents]
    return [
        manifest,
        *(path for path in table.glob("data/*") if path.name.encode() in contents),
        *(path for index in indexes for path in index.glob("*")),
        *(path for path in table.glob("_deletions/*") if int(path.name.split("-")[1]) < version),
    ]


@dataclass(frozen=True, slots=True)
class GraphStore:
    """The open tables."""

    tables: Mapping[TableName, Table]
    folder: Path

    def versions(self) -> dict[str, int]:
        """Return the version of each table that this handle sees."""
        return {name.value: int(self.tables[name].version) for name in TableName}

    def restore(self, versions: Mapping[str, int]) -> list[str]:
        """Make the pinned versions the newest again; return the tables that had moved on, which are those a kill interrupted."""
        moved = [name for name in TableName if int(self.tables[name].version) != versions[name]]
        for name in moved:
            self.tables[name].restore(versions[name])
        return [name.value for name in moved]

    def add_columns(self) -> None:
        """Give a corpus that is older than the pages' lines and the nodes' tokens columns for them."""
        for name, column, empty in ((TableName.PAGES, LINES, "''"), (TableName.NODES, TOKENS, "CAST(NULL AS BINARY)")):
            if column not in self.tables[name].schema.names:
                self.tables[name].add_columns({column: empty})

    def replace(self, documents: frozenset[str], batch: Mapping[TableName, pa.Table]) -> dict[str, int]:
        """Drop every row of the documents, put the batch in their place and return the versions that make.

        Raise LockLostError where a table moved on beside us: only a writer that lost its lock does that.
        """
        made: dict[str, int] = {}
        for name in TableName:
            expected = int(self.tables[name].version)
            if documents:
                # of edges, also those that only end in a document
                self.tables[name].delete(either(*(one_of(column, documents) for column in DOCUMENT_COLUMNS[name])))
                expected += 1
            if batch[name].num_rows:
                upsert(self.tables[name], batch[name])
                expected += 1
            if int(self.tables[name].version) != expected:
                raise LockLostError(
                    f"table {name} was written by another process", remedy="this ingest publishes nothing more, run it again"
                )
            made[name.value] = expected
        return made

    def read(self, name: TableName, where: Filter | None = None, columns: Sequence[str] | None = None) -> pa.Table:
        """Return the rows that the filter keeps, all without one, in no order; raise GraphDamagedError where that fails."""
        query = self.tables[name].search()
        if where is not None:
            query = query.where(where)
        with explain_damage(name):
            return (query.select(list(columns)) if columns else query).to_arrow()

    def stream(self, name: TableName, columns: Sequence[str], where: Filter | None = None) -> Iterator[pa.Table]:
        """Yield the rows in parts of a bounded size; raise GraphDamagedError where they are unreadable."""
        query = self.tables[name].search().select(list(columns))
        with explain_damage(name):
            for batch in (query.where(where) if where is not None else query).to_batches(batch_size=BATCH_ROWS):
                yield pa.Table.from_batches([batch])

    def read_through(self) -> None:
        """Read everything once, for nothing but to raise GraphDamagedError where some of it cannot be read."""
        for name in TableName:
            for _part in self.stream(name, self.tables[name].schema.names):
                pass

    def index(self) -> dict[str, int]:
        """Bring the search indexes up to date and return the versions that make."""
        for name in TableName:
            made = {column for index in self.tables[name].list_indices() for column in index.columns}
            make_indexes(name, self.tables[name], except_for=made)
        return self.compact()

    def rewrite(self) -> dict[str, int]:
        """Write every row and index anew, so that no file of the newest version holds what was deleted; return the versions."""
        for name in TableName:
            if self.tables[name].count_rows():
                self.tables[name].update(values_sql={"id": "id"})
            make_indexes(name, self.tables[name], except_for=set())
        return self.compact()

    def compact(self) -> dict[str, int]:
        """Rewrite small and half-deleted files, index what is not, until nothing is left to do; return the versions that makes."""
        for name in TableName:
            table = self.tables[name]
            before = None
            while before != (before := int(table.version)):
                table.optimize()
        return self.versions()

    def clean(self, older_than: Mapping[TableName, timedelta]) -> None:
        """Delete the files of each table's versions that are older, the newest aside. No other writer may be at work."""
        for name in TableName:
            self.tables[name].optimize(cleanup_older_than=older_than[name], delete_unverified=True)


def upsert(table: Table, rows: pa.Table) -> None:
    merge = table.merge_insert("id").use_index(False)
    merge.when_matched_update_all().when_not_matched_insert_all().execute(rows)


def connect(folder: Path) -> DBConnection:
    """Open the database in the folder; every call sees what was committed last."""
    import lancedb

    # By default LanceDB may keep seven gigabytes of what it has read.
    session = lancedb.Session(index_cache_size_bytes=INDEX_CACHE_BYTES, metadata_cache_size_bytes=METADATA_CACHE_BYTES)
    return lancedb.connect(folder, read_consistency_interval=timedelta(0), session=session)


def create_graph(folder: Path, embedder: EmbedderIdentity) -> GraphStore:
    """Make empty tables in an empty folder, with their indexes: only so are words cut alike before and after rows are indexed."""
    database = connect(folder)
    tables = {}
    for name, schema in schemas(embedder).items():
        table: Any = database.create_table(name.value, schema=schema)  # the base class lacks the next method
        table.set_unenforced_primary_key("id")
        make_indexes(name, table, except_for=())
        tables[name] = table
    return GraphStore(tables, folder)


def open_graph(folder: Path, versions: Mapping[str, int] | None = None) -> GraphStore:
    """Open the newest tables, or the versions of a snapshot; raise GraphDamagedError where one cannot be opened."""
    database = connect(folder)
    tables = {}
    for name in TableName:
        try:
            tables[name] = database.open_table(name.value)
            if versions is not None:
                tables[name].checkout(versions[name])
        except (ValueError, RuntimeError, OSError, KeyError) as error:
            version = "" if versions is None else f" version {versions.get(name)}"
            raise GraphDamagedError(f"table {name}{version} in {str(folder)!r} cannot be opened: {error}", str(folder)) from error
    return GraphStore(tables, folder)
