"""A corpus open for writing: one writer, which publishes batches of documents so that readers see the old graph or the new one."""

from collections.abc import Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa

from storage.catalog import catalog
from storage.catalog.catalog import CatalogHead, Change
from storage.catalog.current import release, require_own
from storage.cleaning.snapshots import tidy
from storage.corpus.reconciling import GRAPH_LOST, NO_CHANGE, EmbedderChoice, reconcile
from storage.graph.adjacency_files import keep_adjacency
from storage.graph.checks import GraphError, check_graph
from storage.graph.filters import Column, one_of
from storage.graph.store import GraphStore
from storage.graph.tables import TableName, graph_tables
from storage.locations import CorpusLocation
from storage.lock import WriterLock, hold_lock
from storage.records.documents import DocumentGraph, DocumentRecord, DocumentState, Edge, EmbedderIdentity
from storage.system import check_writable, explain_full_disk, require_room

ROOM_FACTOR = 2
"""LanceDB writes data, indexes and a deletion file; the most room that a batch needs, in multiples of its size in memory."""


@dataclass(slots=True)
class CorpusWriter:
    """The corpus, as long as its lock is held. Nobody else writes it: `_head` and `_documents` are what its catalog holds.

    They are None where it must be read: after a change, or a commit that may have failed.
    """

    location: CorpusLocation
    embedder: EmbedderIdentity
    snapshot: int
    messages: tuple[str, ...]
    graph_store: GraphStore
    _lock: WriterLock
    _head: CatalogHead | None
    _documents: tuple[DocumentRecord, ...] | None = None

    def documents(self) -> list[DocumentRecord]:
        """Return the records of all published documents, by id."""
        if self._documents is None:
            self._documents = tuple(catalog.documents_in(self.location.catalog, read_only=False))
        return list(self._documents)

    def lost(self) -> list[DocumentRecord]:
        """Return the records of documents whose part of the graph was damaged: they say so and are not ready."""
        return [record for record in self.documents() if record.reason == GRAPH_LOST]

    def initial_vectors(self, document_ids: Collection[str]) -> pa.Table:
        """Return the documents' published nodes with their round-0 vectors, in no order."""
        columns = ("document_id", "id", "meaningless", "initial_vector")
        return self.graph_store.read(TableName.NODES, one_of(Column.DOCUMENT, document_ids), columns)

    def publish(
        self,
        *,
        graphs: Collection[DocumentGraph] = (),
        records: Collection[DocumentRecord] = (),
        cross_edges: Collection[Edge] = (),
        removed: Collection[str] = (),
    ) -> int:
        """Make the batch visible at once and return the snapshot's number; on any error readers keep the old one.

        Every graph comes with a record in state `ready`. A record without a graph renews names and notes of a published
        document, or, in any other state, takes its graph away. `cross_edges` are all edges between a document of the batch and
        another; those published before for a document that is replaced are gone.
        """
        change = Change(frozenset(removed), tuple(records), tuple(graphs), tuple(cross_edges))
        self._check(change)
        batch = graph_tables(change.graphs, change.cross_edges, self.embedder)
        needed = ROOM_FACTOR * sum(table.nbytes for table in batch.values()) + 3 * self.location.catalog.stat().st_size
        require_room(self.location.folder, needed)
        with explain_full_disk(self.location.folder, needed):
            self._take_back_unpublished()
            return self._commit(change, self.graph_store.replace(change.replaced, batch))

    def index(self) -> int:
        """Bring the full-text and document indexes up to date, and publish the tables that have them."""
        with explain_full_disk(self.location.folder, 0):
            self._take_back_unpublished()
            return self._commit_kept(self.graph_store.index())

    def tidy(self, *, keep_seconds: float, wait_seconds: float = 0.0) -> tuple[int, ...]:
        """Drop snapshots that were replaced longer ago than that and that no reader has open, and the versions that only they show.

        `wait_seconds` bounds the waiting for readers to let go. Return the older snapshots that stay.
        """
        with explain_full_disk(self.location.folder, 0):
            self._take_back_unpublished()
            self._commit_kept(self.graph_store.compact())
            kept = tidy(self.location, self.graph_store, keep_seconds=keep_seconds, wait_seconds=wait_seconds)
            self._commit(NO_CHANGE, self.graph_store.versions())
        return kept

    def purge(self, *, wait_seconds: float) -> tuple[int, ...]:
        """Rewrite the graph and the catalog without what was deleted, then drop all older snapshots and versions.

        Return the older snapshots that stay; where none does, no file of the corpus holds a word of a removed document any more.
        """
        with explain_full_disk(self.location.folder, 0):
            self._take_back_unpublished()
            catalog.rewrite(self.location.catalog)
            for old in self.location.set_aside:
                old.unlink()
            self._commit_kept(self.graph_store.rewrite())
        return self.tidy(keep_seconds=0, wait_seconds=wait_seconds)

    def _commit_kept(self, versions: dict[str, int]) -> int:
        """Publish tables that were put in order, with their adjacency."""
        keep_adjacency(self.graph_store)
        return self._commit(NO_CHANGE, versions)

    def _check(self, change: Change) -> None:
        """Raise GraphError where the batch contradicts itself or what is published."""
        known = {record.id: record for record in self.documents()}
        new = {graph.document_id: graph.version for graph in change.graphs}
        if len(new) != len(change.graphs) or len({record.id for record in change.records}) != len(change.records):
            raise GraphError("a document stands twice in one batch", remedy="publish it once")
        for graph in change.graphs:
            check_graph(graph, self.embedder)
        for record in change.records:
            published = known[record.id].version if record.id in known and known[record.id].state is DocumentState.READY else None
            if record.state is DocumentState.READY and record.version != new.get(record.id, published):
                raise GraphError(
                    f"document {record.id[:12]} is given as ready in a version that has no graph", remedy="give its graph too"
                )
        ready = {record.id for record in change.records if record.state is DocumentState.READY}
        if not set(new) <= ready - change.removed:
            raise GraphError("a graph has no record in state ready, or its document is removed too", remedy="give one of the two")
        self._check_cross_edges(change, set(known) - change.replaced | set(new))

    def _check_cross_edges(self, change: Change, present: set[str]) -> None:
        """Raise GraphError unless every cross edge joins two documents that will be there, one of them of this batch."""
        nodes = {graph.document_id: {node.id for node in graph.nodes} for graph in change.graphs}
        for edge in change.cross_edges:
            ends = ((edge.source_document, edge.source), (edge.target_document, edge.target))
            if edge.source_document == edge.target_document or not {edge.source_document, edge.target_document} & set(nodes):
                raise GraphError(f"cross edge {edge.id[:12]} does not join a document of this batch to another one")
            for document, node in ends:
                if document not in present or node not in nodes.get(document, {node}):
                    raise GraphError(f"cross edge {edge.id[:12]} ends at {node[:12]}, which is not published")

    def _take_back_unpublished(self) -> None:
        """Undo the graph's writes of a publish that failed in this process."""
        # What another writer published meanwhile is not ours to undo.
        self._lock.require_held()
        self.graph_store.restore(self._catalog_head().lance_versions)

    def _catalog_head(self) -> CatalogHead:
        self._head = self._head or catalog.head(self.location.catalog)
        return self._head

    def _commit(self, change: Change, versions: dict[str, int]) -> int:
        """Run the catalog's transaction, then make its copy the published snapshot."""
        head = self._catalog_head()
        # A catalog that is ahead was committed and not released: what follows such a fault publishes it.
        if change is NO_CHANGE and versions == head.lance_versions and head.snapshot == self.snapshot:
            return self.snapshot
        number = 1 + max(self.snapshot, head.snapshot)
        self._lock.require_held()
        self._head, self._documents = None, self._documents if change is NO_CHANGE else None
        catalog.commit(self.location.catalog, change, snapshot=number, lance_versions=versions)
        self._head = replace(head, snapshot=number, lance_versions=versions)
        self._lock.require_held()
        release(self.location, number)
        self.snapshot = number
        return number


@contextmanager
def open_for_writing(
    location: CorpusLocation, *, embedder: EmbedderIdentity | EmbedderChoice, wait_seconds: float
) -> Iterator[CorpusWriter]:
    """Hold the corpus's lock, mend what a crash left and give the writer; a corpus that is not there is made.

    Raise PulledError, CorpusBusyError, ExpectedError, StoreVersionError, NotWritableError or DiskFullError, each with its
    remedy.
    """
    require_own(location)
    for folder in (location.folder, location.snapshots, location.runs):
        check_writable(folder)
    with hold_lock(location.lock, wait_seconds=wait_seconds) as lock:
        with explain_full_disk(location.folder, 0):
            state = reconcile(location, embedder)
        yield CorpusWriter(location, state.head.embedder, state.head.snapshot, state.messages, state.graph, lock, state.head)
