"""The catalog in DuckDB: documents, sections, counts, and which versions of the graph's tables belong to a snapshot.

Every call opens the file, does one thing and closes it, so that nothing is held and the write-ahead log is folded in.
"""

# DuckDB complains at the end of a process of types that are still referenced: annotations stay strings.
from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, astuple, dataclass
from pathlib import Path

import duckdb

from storage.catalog.words import add_table, write_words
from storage.codec import from_plain
from storage.errors import ExpectedError
from storage.lock import LockLostError
from storage.records.documents import DocumentGraph, DocumentRecord, DocumentState, Edge, EmbedderIdentity
from storage.text import storable

SCHEMA_VERSION = 3

# Nothing outside the file is ever read, loaded or changed through a connection of ours.
LOCKED_DOWN: dict[str, str | bool | int | float | list[str]] = {
    "enable_external_access": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
    "allow_community_extensions": "false",
    "lock_configuration": "true",
}

PARTS_OF_DOCUMENT = ("document_paths", "sections", "node_counts", "document_words", "document_artifacts")


class CatalogDamagedError(ExpectedError):
    """A catalog that cannot be opened or read."""


class CatalogBusyError(ExpectedError):
    """A catalog that a program which is not ours has open."""


class StoreVersionError(ExpectedError):
    """A store that another version of FlowReader wrote; it is left untouched."""


@dataclass(frozen=True, slots=True)
class CatalogHead:
    """The catalog's one row: what it is and which snapshot it holds."""

    embedder: EmbedderIdentity
    snapshot: int
    lance_versions: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """What a publish changes: documents that go, and records with the graphs that come; cross edges belong to the batch."""

    removed: frozenset[str]
    records: tuple[DocumentRecord, ...]
    graphs: tuple[DocumentGraph, ...]
    cross_edges: tuple[Edge, ...]

    @property
    def replaced(self) -> frozenset[str]:
        """Documents that lose their published graph: removed, read anew, or no longer readable."""
        unreadable = {record.id for record in self.records if record.state is not DocumentState.READY}
        return self.removed | {graph.document_id for graph in self.graphs} | unreadable


@contextmanager
def open_database(path: Path, *, read_only: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open the file for a moment; raise CatalogDamagedError where DuckDB finds it broken.

    Raise CatalogBusyError where another program has it open, and DuckDB's own error where memory is short: both pass.
    """
    try:
        connection = duckdb.connect(str(path), read_only=read_only, config=LOCKED_DOWN)
    except duckdb.OutOfMemoryException:
        raise
    except duckdb.Error as error:
        if "Could not set lock" in str(error):
            raise CatalogBusyError(
                f"{str(path)!r} is open in another program", str(path), "close it and run the command again"
            ) from error
        raise CatalogDamagedError(f"{str(path)!r} cannot be opened: {error}", str(path)) from error
    try:
        yield connection
    finally:
        # A question that is stopped may still read in its thread; the file is closed when that ends.
        with suppress(duckdb.ResourceInUseException):
            connection.close()


def refuse_other_versions(schema_version: int, place: Path | str, known: int = SCHEMA_VERSION) -> None:
    """Raise StoreVersionError where the schema is another than the one `known`, by default that of corpora."""
    if schema_version == known:
        return
    if schema_version > known:
        remedy = "install the newer FlowReader or take another FLOWREADER_HOME"
    else:
        remedy = "read its documents into a new corpus: flowreader ingest FOLDER --corpus NAME"
    raise StoreVersionError(
        f"{str(place)!r} has schema version {schema_version}, this FlowReader knows {known}",
        str(place),
        f"nothing was changed; {remedy}",
    )


@contextmanager
def make_database(path: Path, schema: Path) -> Iterator[duckdb.DuckDBPyConnection]:
    """Make a file by the statements in `schema`, filled in the block; a kill leaves no half of one under `path`."""
    scratch = path.with_name(f".partial-{path.name}")
    for leftover in (scratch, scratch.with_name(f"{scratch.name}.wal")):
        leftover.unlink(missing_ok=True)
    with open_database(scratch, read_only=False) as connection:
        connection.execute(schema.read_text("utf-8"))
        yield connection
        connection.execute("CHECKPOINT")
    scratch.replace(path)


def create(
    path: Path,
    embedder: EmbedderIdentity,
    lance_versions: Mapping[str, int],
    snapshot: int,
    records: Sequence[DocumentRecord] = (),
) -> None:
    """Make a catalog of no graph, with these documents in it."""
    with make_database(path, Path(__file__).with_name("schema.sql")) as connection:
        add_table(connection)
        connection.execute(
            "INSERT INTO corpus VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            [
                SCHEMA_VERSION,
                *(embedder.name, embedder.precision, embedder.dimension),
                snapshot,
                json.dumps(dict(lance_versions)),
                json.dumps(asdict(embedder.second)) if embedder.second else None,
                embedder.texts,
            ],
        )
        write_records(connection, Change(frozenset(), tuple(records), (), ()))


def rewrite(path: Path) -> None:
    """Copy what the catalog holds into a new file, for DuckDB leaves deleted text in the old one."""
    scratch = path.with_name(f".partial-{path.name}")
    scratch.unlink(missing_ok=True)
    with duckdb.connect() as connection:  # nothing but these two files is ever opened by it
        for name, file in (("old", path), ("new", scratch)):
            quoted = str(file).replace("'", "''")
            connection.execute(f"ATTACH '{quoted}' AS {name}")
        connection.execute("COPY FROM DATABASE old TO new")
    scratch.replace(path)


def head(path: Path, *, read_only: bool = False) -> CatalogHead:
    """Return the catalog's one row; raise CatalogDamagedError where it cannot be read, StoreVersionError for another version's."""
    if not path.exists():
        raise CatalogDamagedError(f"{str(path)!r} is missing", str(path))
    with open_database(path, read_only=read_only) as connection:
        return read_head(connection, path)


def read_head(connection: duckdb.DuckDBPyConnection, place: Path) -> CatalogHead:
    """Return the one row through an open connection."""
    try:
        version = connection.execute("SELECT schema_version FROM corpus").fetchone()
        if version is None:
            raise CatalogDamagedError(f"{str(place)!r} is empty", str(place))
        refuse_other_versions(version[0], place)
        rows = connection.execute("SELECT * EXCLUDE (schema_version) FROM corpus").fetchall()
    except duckdb.Error as error:
        raise CatalogDamagedError(f"{str(place)!r} cannot be read: {error}", str(place)) from error
    ((name, precision, dimension, snapshot, lance_versions, second, texts),) = rows
    embedder = EmbedderIdentity(
        name, precision, dimension, second=EmbedderIdentity(**json.loads(second)) if second else None, texts=texts
    )
    return CatalogHead(embedder, snapshot, json.loads(lance_versions))


def commit(path: Path, change: Change, *, snapshot: int, lance_versions: Mapping[str, int]) -> None:
    """Apply the change in one transaction.

    Raise LockLostError where the catalog holds this snapshot or a later one: only a writer that lost its lock does that.
    """
    with open_database(path, read_only=False) as connection:
        connection.begin()
        add_table(connection)
        update = "UPDATE corpus SET snapshot = $1, lance_versions = $2 WHERE snapshot < $1"
        if connection.execute(update, [snapshot, json.dumps(dict(lance_versions))]).fetchone() == (0,):
            raise LockLostError(
                f"{str(path)!r} was written by another process", path, "this ingest publishes nothing more, run it again"
            )
        forget(connection, change)
        write_records(connection, change)
        for graph in change.graphs:
            write_graph(connection, graph)
        write_edge_counts(connection, [edge for graph in change.graphs for edge in graph.edges])
        write_edge_counts(connection, change.cross_edges)
        connection.commit()
        # at its close DuckDB keeps quiet about a log that did not fit into the file
        connection.execute("CHECKPOINT")


def forget(connection: duckdb.DuckDBPyConnection, change: Change) -> None:
    """Drop what the catalog says of replaced graphs, and the paths of documents that get a new record."""
    gone, renewed = sorted(change.replaced), sorted(record.id for record in change.records)
    for table in PARTS_OF_DOCUMENT:
        connection.execute(f"DELETE FROM {table} WHERE list_contains(?, document_id)", [gone])
    connection.execute("DELETE FROM edge_counts WHERE list_contains(?, source_document)", [gone])
    connection.execute("DELETE FROM edge_counts WHERE list_contains(?, target_document)", [gone])
    connection.execute("DELETE FROM document_paths WHERE list_contains(?, document_id)", [renewed])
    connection.execute("DELETE FROM documents WHERE list_contains(?, id)", [sorted(change.removed)])


def write_records(connection: duckdb.DuckDBPyConnection, change: Change) -> None:
    """Insert or replace the documents' rows; the number of table rows stays where the graph does."""
    rows = {graph.document_id: len(graph.rows) for graph in change.graphs}
    for record in change.records:
        count = rows.get(record.id, 0)
        if record.id not in change.replaced:
            kept = connection.execute("SELECT table_rows FROM documents WHERE id = ?", [record.id]).fetchone()
            count = kept[0] if kept else 0
        connection.execute(
            "INSERT OR REPLACE INTO documents VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            [
                record.id,
                record.version,
                record.size_bytes,
                record.media_type,
                storable(record.title),
                record.state.value,
                storable(record.reason),
                record.pages,
                record.nodes,
                record.attempt,
                [storable(note) for note in record.notes],
                count,
            ],
        )
        for position, path in enumerate(record.paths):
            connection.execute("INSERT INTO document_paths VALUES (?, ?, ?)", [record.id, position, os.fsencode(path)])


def write_graph(connection: duckdb.DuckDBPyConnection, graph: DocumentGraph) -> None:
    """Insert a document's sections, node counts and artifacts, a column at a time: row by row DuckDB takes a second a thousand."""
    columns = [list(column) for column in zip(*map(astuple, graph.sections), strict=True)]
    if columns:
        connection.execute(f"INSERT INTO sections SELECT {', '.join(['unnest(?)'] * len(columns))}", columns)
    modalities = Counter(node.modality.value for node in graph.nodes)
    pictures = {node.picture for node in graph.nodes if node.picture}
    images = {page.image for page in graph.pages if page.image}
    for modality, count in sorted(modalities.items()):
        connection.execute("INSERT INTO node_counts VALUES (?, ?, ?)", [graph.document_id, modality, count])
    write_words(connection, graph)
    connection.execute("INSERT INTO document_artifacts SELECT ?, unnest(?)", [graph.document_id, sorted(pictures | images)])


def write_edge_counts(connection: duckdb.DuckDBPyConnection, edges: Iterable[Edge]) -> None:
    counts = Counter((edge.source_document, edge.target_document, edge.kind.value) for edge in edges)
    for (source, target, kind), count in sorted(counts.items()):
        connection.execute("INSERT INTO edge_counts VALUES (?, ?, ?, ?)", [source, target, kind, count])


def documents_in(path: Path, *, read_only: bool) -> list[DocumentRecord]:
    with open_database(path, read_only=read_only) as connection:
        return read_documents(connection)


def read_documents(connection: duckdb.DuckDBPyConnection) -> list[DocumentRecord]:
    """Return every document's record, by id."""
    paths: dict[str, list[str]] = {}
    for document_id, path in connection.execute("SELECT document_id, path FROM document_paths ORDER BY ALL").fetchall():
        paths.setdefault(document_id, []).append(os.fsdecode(path))
    connection.execute("SELECT * EXCLUDE (table_rows) FROM documents ORDER BY id")
    names = [column[0] for column in connection.description or ()]
    found = [dict(zip(names, row, strict=True)) for row in connection.fetchall()]
    return [from_plain(DocumentRecord, row | {"paths": paths.get(row["id"], ())}) for row in found]
