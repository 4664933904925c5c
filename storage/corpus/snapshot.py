"""A corpus open for reading: one snapshot, pinned; what happens meanwhile does not show.

DuckDB alone answers for documents, sections and counts; LanceDB is loaded only for nodes, rows, edges and pages.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from difflib import SequenceMatcher
from functools import cached_property
from typing import TYPE_CHECKING, Any, BinaryIO

from storage.catalog import catalog
from storage.catalog.catalog import CatalogHead
from storage.catalog.current import PIN_ATTEMPTS, Current, CurrentDamagedError, how_to_mend, parse_current, pin, snapshot_path
from storage.catalog.in_use import corpora_in
from storage.catalog.words import DocumentWords
from storage.errors import AmbiguousError, UnknownError
from storage.graph.filters import HEXADECIMAL_ID, Column, every, one_of
from storage.locations import ID_PREFIX, CorpusLocation, nearest
from storage.lock import is_still_there
from storage.records.documents import (
    DocumentRecord,
    DocumentState,
    Edge,
    Modality,
    Node,
    Page,
    Passage,
    Section,
    TableRow,
    Vectors,
)
from storage.text import list_names

if TYPE_CHECKING:
    import pyarrow as pa
    from duckdb import DuckDBPyConnection

    from storage.graph.store import GraphStore
    from storage.graph.tables import TableName
    from storage.graph.view import GraphView
    from storage.records.answers import Answer

BY_ID = "name it by 8 or more digits of its id or by "
KEPT_OUTLINES = 512
"""Documents with their sections kept for the next question: some 25 each, of half a kilobyte."""
CORPORA_NAMED, DOCUMENTS_NAMED = 5, 10
"""Corpora, and documents, that an error names, at most."""


class UnknownCorpusError(UnknownError):
    """A corpus that was never made."""


@dataclass(frozen=True, slots=True)
class Counts:
    """How much there is, of one document or of all; edges count where they start, and documents by their states as well."""

    documents: int = 0
    pages: int = 0
    nodes: int = 0
    tables: int = 0
    figures: int = 0
    table_rows: int = 0
    edges: int = 0
    states: Mapping[str, int] = field(default_factory=dict)


class Snapshot:
    """The published corpus as it was when it was opened."""

    def __init__(
        self, location: CorpusLocation, current: Current, pointer: BinaryIO, connection: DuckDBPyConnection, head: CatalogHead
    ) -> None:
        """Take the open CURRENT with what it says, and the open catalog with its one row."""
        self.location, self.current, self.number = location, current, head.snapshot
        self.embedder, self.table_versions = head.embedder, head.lance_versions
        self._pointer, self._connection = pointer, connection
        self._outlines: dict[str, list[Section]] = {}

    def is_published(self) -> bool:
        """Say whether CURRENT is still the file that was read; once the snapshot is closed nobody can say."""
        with suppress(OSError, ValueError):
            return is_still_there(self._pointer.fileno(), self.location.current)
        return False

    @cached_property
    def graph_store(self) -> GraphStore:
        from storage.graph.store import open_graph

        return open_graph(self.location.lance, self.table_versions)

    @cached_property
    def view(self) -> GraphView:
        """What the questions of this snapshot share; see storage/graph/search.py."""
        from storage.graph.view import GraphView

        return GraphView(self.graph_store, self.embedder.dimension)

    def documents(self) -> list[DocumentRecord]:
        """Return every document, by id."""
        return list(self._documents)

    @cached_property
    def _documents(self) -> tuple[DocumentRecord, ...]:
        with self._connection.cursor() as own:
            return tuple(catalog.read_documents(own))

    def _rows(self, query: str, parameters: list[Any]) -> list[tuple[Any, ...]]:
        # A connection refuses a second call during the first, and many questions may be asked of one snapshot at once.
        with self._connection.cursor() as own:
            return own.execute(query, parameters).fetchall()

    @cached_property
    def _present(self) -> set[str]:
        return {record.id for record in self._documents}

    def answers(self, thread: str = "") -> list[Answer]:
        """Return every kept answer, or a thread's, the newest first, without words of documents that are not here any more."""
        from storage.runs.answers import read_answers

        return read_answers(self.location, present=self._present, thread=thread)

    def newest_answers(self, most: int) -> list[Answer]:
        """Return the newest of `answers`, at most `most`."""
        from storage.runs.answers import newest_answers

        return newest_answers(self.location, most, present=self._present)

    def answer(self, asked_id: str) -> Answer:
        """Return the one of `answers` with this beginning of its id; raise what `find_answer` raises."""
        from storage.runs.answers import find_answer

        return find_answer(self.location, asked_id, present=self._present)

    def find(self, asked: str, *, exact: bool = False) -> DocumentRecord:
        """Return the document with this file name, or with an id that begins with these 8 or more hexadecimal digits.

        Where there is none, and the name need not be `exact`, it is the only one with these characters in its name, in any case.
        Raise UnknownError where there is none, AmbiguousError, naming them all, where there are several.
        """
        prefix, part = asked if ID_PREFIX.fullmatch(asked) else None, asked.casefold().strip()
        names = {record: [path.rsplit("/", 1)[-1] for path in record.paths] for record in self.documents()}
        found = [record for record, own in names.items() if asked in own or (prefix and record.id.startswith(prefix))]
        if not found and part and not exact:
            found = [record for record, own in names.items() if any(part in name.casefold() for name in own)]
        if not found:
            known = nearest(asked, [name for own in names.values() for name in own])
            by_name = "its exact file name" if exact else "its file name, or a part that no other has"
            raise UnknownError(
                f"no document {asked!r} in corpus {self.location.name!r}{known}",
                asked,
                f"{BY_ID}{by_name}, `flowreader documents list --corpus {self.location.name}` shows both",
                over_http=f"{BY_ID}{by_name}, the list of documents shows both",
            )
        if len(found) > 1:
            several = list_names([f"{record.id[:16]} {record.name!r}" for record in found], DOCUMENTS_NAMED)
            raise AmbiguousError(
                f"{asked!r} names {len(found)} documents: {several}", asked, "take one of these names, or more digits of the id"
            )
        return found[0]

    def sections_of(self, document_ids: Sequence[str]) -> list[Section]:
        """Return the outlines of the documents, each in reading order."""
        kept = self._outlines
        if unread := {name: list[Section]() for name in document_ids if name not in kept}:
            query = "SELECT * FROM sections WHERE document_id IN (SELECT unnest(?::VARCHAR[])) ORDER BY ordinal, id"
            for section in (Section(*row) for row in self._rows(query, [list(unread)])):
                unread[section.document_id].append(section)
            kept = kept | unread
            newest = dict.fromkeys((*document_ids, *kept)) if len(kept) > KEPT_OUTLINES else kept
            self._outlines = {name: kept[name] for name in list(newest)[:KEPT_OUTLINES]}
        return [section for name in sorted(set(document_ids)) for section in kept[name]]

    def page_marks(self, document_ids: Sequence[str]) -> list[tuple[str, int, str | None]]:
        """Return (document id, number, printed label) of every page of the documents, by document and number."""
        import pyarrow as pa
        from pyarrow import compute

        marks = self._page_marks
        found = marks.filter(compute.is_in(marks["document_id"], pa.array(document_ids, pa.string())))
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    @cached_property
    def _page_marks(self) -> pa.Table:
        """Those of all pages, once: to look up one document takes LanceDB nearly as long."""
        from storage.graph.tables import TableName

        found = self.graph_store.read(TableName.PAGES, columns=["document_id", "number", "label"])
        return found.sort_by([("document_id", "ascending"), ("number", "ascending")])

    def page_readers(self, document_ids: Sequence[str]) -> list[tuple[str, int, str, str]]:
        """Return (document id, number, what parsed it, why a fallback did) of every page of the documents, in order."""
        return self._page_columns(document_ids, "parser", "note")

    def page_summaries(self, document_ids: Sequence[str]) -> dict[tuple[str, int], str]:
        return {(document, number): summary for document, number, summary in self._page_columns(document_ids, "summary")}

    def page_images(self, document_ids: Sequence[str]) -> dict[tuple[str, int], str]:
        """Return the artifact of every page image that is kept of the documents, by (document id, number)."""
        return {(document, number): image for document, number, image in self._page_columns(document_ids, "image") if image}

    def _page_columns(self, document_ids: Sequence[str], *names: str) -> list[Any]:
        from storage.graph.tables import TableName

        columns = ["document_id", "number", *names]
        found = self.graph_store.read(TableName.PAGES, one_of(Column.DOCUMENT, document_ids), columns)
        # no two pages have a number, so that a label is never compared
        return sorted(tuple(row[name] for name in columns) for row in found.to_pylist())

    @cached_property
    def words(self) -> DocumentWords:
        return DocumentWords(self._rows)

    def artifacts(self) -> list[tuple[str, str]]:
        """Return (document id, artifact) for every picture and page image that the graph shows."""
        return self._rows("SELECT document_id, artifact FROM document_artifacts ORDER BY ALL", [])

    def counts(self, document_id: str | None = None) -> Counts:
        """Return how much one document holds, all of them without an id."""
        states = self._tally("SELECT state, count(*) FROM documents WHERE ? IN (id, '') GROUP BY ALL", document_id)
        nodes = self._tally("SELECT modality, sum(count) FROM node_counts WHERE ? IN (document_id, '') GROUP BY ALL", document_id)
        sums = self._tally(
            "UNPIVOT (SELECT sum(pages)::BIGINT AS pages, sum(table_rows)::BIGINT AS table_rows, (SELECT sum(count)::BIGINT "
            "FROM edge_counts WHERE $1 IN (source_document, '')) AS edges FROM documents WHERE $1 IN (id, '')) ON COLUMNS(*)",
            document_id,
        )
        return Counts(
            documents=sum(states.values()),
            nodes=sum(nodes.values()),
            tables=nodes.get(Modality.TABLE, 0),
            figures=nodes.get(Modality.FIGURE, 0),
            states={state: states[state] for state in DocumentState if state in states},
            **sums,
        )

    def _tally(self, query: str, document_id: str | None) -> dict[str, int]:
        return {str(name): int(number) for name, number in sorted(self._rows(query, [document_id or ""]))}

    def nodes(self, document_id: str) -> list[Node]:
        """Return the document's nodes in reading order."""
        from storage.graph.tables import TableName, nodes_of

        return nodes_of(self.table(TableName.NODES, document_id))

    def nodes_on(self, document_id: str, page: int) -> list[Node]:
        """Return the nodes of one page in reading order."""
        from storage.graph.tables import TableName, nodes_of

        found = every(one_of(Column.DOCUMENT, [document_id]), one_of(Column.PAGE, [page]))
        return nodes_of(self.graph_store.read(TableName.NODES, found))

    def find_nodes(self, ids: Sequence[str]) -> list[Node]:
        """Return those of the nodes that are here, in the order asked; searched for, as `view` would read all of a small graph."""
        from storage.graph.tables import TableName, nodes_of

        wanted = one_of(Column.ID, [name for name in ids if HEXADECIMAL_ID.fullmatch(name)])
        found = {node.id: node for node in nodes_of(self.graph_store.read(TableName.NODES, wanted))}
        return [found[name] for name in ids if name in found]

    def passages_and_rows(self, ids: Sequence[str]) -> tuple[list[Passage], dict[str, tuple[TableRow, ...]]]:
        """Return what of the nodes is read for an answer, in the order asked, and the rows of those that are tables.

        Raise LookupError where one is not in the snapshot.
        """
        with ThreadPoolExecutor(1) as pool:
            rows = pool.submit(self.view.rows_by_node, ids)
            return self.view.passages_by_id(ids), rows.result()

    def rows(self, document_id: str) -> list[TableRow]:
        from storage.graph.tables import TableName, rows_of

        return rows_of(self.table(TableName.ROWS, document_id))

    def pages(self, document_id: str) -> list[Page]:
        """Return the document's pages in order."""
        from storage.graph.tables import TableName, pages_of

        return pages_of(self.table(TableName.PAGES, document_id))

    def edges(self, document_id: str) -> list[Edge]:
        from storage.graph.tables import TableName, edges_of

        return edges_of(self.graph_store.read(TableName.EDGES, one_of(Column.SOURCE_DOCUMENT, [document_id])))

    def vectors(self, document_id: str) -> tuple[Vectors, Vectors]:
        """Return the nodes' initial and last vectors, in the order of `nodes`."""
        from storage.graph.tables import VECTOR_COLUMNS, TableName, vectors_of

        found = self.table(TableName.NODES, document_id).sort_by([("ordinal", "ascending"), ("id", "ascending")])
        initial, last = (vectors_of(found[name], self.embedder.dimension) for name in VECTOR_COLUMNS)
        return initial, last

    def page_vectors(self, document_id: str) -> Vectors:
        """Return the pages' vectors, in the order of `pages`."""
        from storage.graph.tables import TableName, vectors_of

        found = self.table(TableName.PAGES, document_id).sort_by("number")
        return vectors_of(found["vector"], self.embedder.dimension)

    def table(self, name: TableName, document_id: str) -> pa.Table:
        """Return the document's part of a table that has a `document_id`, in no order."""
        return self.graph_store.read(name, one_of(Column.DOCUMENT, [document_id]))


def unknown_corpus(location: CorpusLocation, remedy: str = "") -> UnknownCorpusError:
    """Return the error for a corpus that is not there; its remedy begins with the corpora that are, the nearest first."""
    there = [each.name for each in corpora_in(location.folder.parent) if each.current.exists()]
    there.sort(key=lambda name: -SequenceMatcher(None, name.lower(), location.name.lower()).ratio())
    make = remedy or f"make it with `flowreader ingest PATH --corpus {location.name}`"
    send = "add a document to it, which makes it"
    take = f"take {list_names(list(map(repr, there)), CORPORA_NAMED)}, or " if there else ""
    return UnknownCorpusError(
        f"there is no corpus {location.name!r} in FLOWREADER_HOME {str(location.home)!r}",
        location.name,
        take + make,
        over_http=take + send,
    )


@contextmanager
def open_for_reading(location: CorpusLocation) -> Iterator[Snapshot]:
    """Read CURRENT, pin the snapshot that it names against clean-up, check it, and open it for the block.

    Raise UnknownCorpusError where there is none, CurrentDamagedError where CURRENT is garbage, or the snapshot missing or altered,
    StoreVersionError where another FlowReader made it.
    """
    for _ in range(PIN_ATTEMPTS):
        with ExitStack() as held:
            found = False
            try:
                pointer = held.enter_context(location.current.open("rb"))
                found = True
                current = parse_current(pointer.read(), location)
                sha256 = pin(path := snapshot_path(location, current.snapshot), held)
            except FileNotFoundError:
                continue
            if sha256 != current.sha256:
                break
            connection = held.enter_context(catalog.open_database(path, read_only=True))
            yield Snapshot(location, current, pointer, connection, catalog.read_head(connection, path))
            return
    if not found:
        raise unknown_corpus(location)
    what = f"the published snapshot of corpus {location.name!r} is missing or altered"
    raise CurrentDamagedError(what, location.name, how_to_mend(location))
