"""The promises of a corpus, checked: whatever is broken is named with its remedy. May run during an ingest."""

import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

import pyarrow.compute as pc

from storage.catalog.catalog import CatalogDamagedError
from storage.catalog.current import CurrentDamagedError, pull_again, read_pull_address
from storage.catalog.in_use import corpora_in, in_use
from storage.cleaning.garbage import KEEP_SECONDS, unnamed_files
from storage.corpus.snapshot import Snapshot, open_for_reading
from storage.corpus.writer import CorpusWriter
from storage.errors import Finding
from storage.graph.adjacency_files import load, place_next_to
from storage.graph.checks import GraphError, check_vectors
from storage.graph.store import GraphDamagedError
from storage.graph.tables import SECOND_VECTOR, VECTOR_COLUMNS, TableName, vectors_of
from storage.locations import CorpusLocation
from storage.memo import StepMemo, home_memo
from storage.records.documents import DocumentState

INGEST_AGAIN = "run `flowreader ingest` of any document in this corpus; it mends what a crash left and says what it did"
PUBLISH_AGAIN = "run `flowreader ingest` of any document in this corpus; it publishes all of them again from their artifacts"
DERIVE_AGAIN = "run `flowreader ingest` of any document in this corpus; it derives them again"
CLEAN_UP = "run `flowreader ingest` of any document in this corpus; it deletes what nothing needs"
READ_AGAIN = "remove the document with `flowreader documents remove --now` and ingest it again"


def examine(location: CorpusLocation) -> list[Finding]:
    """Return every broken promise of the published snapshot and of what it was made from.

    Raise UnknownCorpusError where there is no corpus. What the next ingest is to look at is left as a marker for it.
    """
    found = _findings(location)
    return [replace(each, remedy=f"run {pull_again(location)}") for each in found] if read_pull_address(location) else found


def _findings(location: CorpusLocation) -> list[Finding]:
    memo = home_memo(location.home)
    try:
        with open_for_reading(location) as snapshot:
            of_graph = (finding for examine_part in OF_GRAPH for finding in examine_part(snapshot))
            return [*of_graph, *examine_artifacts(snapshot, memo), *examine_orphans(location, memo)]
    except (CurrentDamagedError, CatalogDamagedError) as error:
        return [Finding("published snapshot", str(error), INGEST_AGAIN)]
    except GraphDamagedError as error:
        with suppress(OSError):
            location.damage_report.touch()
        return [Finding("graph tables", str(error), PUBLISH_AGAIN)]


def examine_ids(corpus: Snapshot | CorpusWriter) -> Iterator[Finding]:
    for name in TableName:
        ids = corpus.graph_store.read(name, columns=["id"])["id"]
        doubled = len(ids) - pc.count_distinct(ids).as_py()
        if doubled:
            yield Finding("unique ids", f"{doubled} ids stand more than once in table {name}", READ_AGAIN)


def examine_versions(snapshot: Snapshot) -> Iterator[Finding]:
    published = {(record.id, record.version) for record in snapshot.documents() if record.state is DocumentState.READY}
    for name in (TableName.NODES, TableName.ROWS, TableName.PAGES):
        found = snapshot.graph_store.read(name, columns=["document_id", "version"])
        pairs = Counter(zip(found["document_id"].to_pylist(), found["version"].to_pylist(), strict=True))
        for (document, version), count in sorted(pairs.items()):
            if (document, version) not in published:
                what = f"{count} rows of {name} are of document {document[:12]} in version {version[:12]}, which is not published"
                yield Finding("orphan rows", what, READ_AGAIN)


def examine_counts(snapshot: Snapshot) -> Iterator[Finding]:
    graph = snapshot.graph_store
    held = {
        name: Counter(graph.read(name, columns=[column])[column].to_pylist())
        for name, column in (
            (TableName.NODES, "document_id"),
            (TableName.ROWS, "document_id"),
            (TableName.PAGES, "document_id"),
            (TableName.EDGES, "source_document"),
        )
    }
    for record in snapshot.documents():
        counts = snapshot.counts(record.id)
        pages = counts.pages if record.state is DocumentState.READY else 0
        expected = {
            TableName.NODES: counts.nodes,
            TableName.ROWS: counts.table_rows,
            TableName.PAGES: pages,
            TableName.EDGES: counts.edges,
        }
        for name, count in expected.items():
            if held[name][record.id] != count:
                what = f"document {record.id[:12]} ({record.name!r}) has {held[name][record.id]} {name}, the catalog says {count}"
                yield Finding("counts", what, READ_AGAIN)


def examine_edges(snapshot: Snapshot) -> Iterator[Finding]:
    nodes = snapshot.graph_store.read(TableName.NODES, columns=["id"])["id"]
    edges = snapshot.graph_store.read(TableName.EDGES, columns=["source", "target"])
    for end in ("source", "target"):
        loose = len(edges) - pc.sum(pc.is_in(edges[end], value_set=nodes), min_count=0).as_py()
        if loose:
            yield Finding("edges' ends", f"{loose} edges have a {end} that is no node", READ_AGAIN)


def examine_vectors(snapshot: Snapshot) -> Iterator[Finding]:
    """Check that every vector is a finite unit vector of its embedder's dimension."""
    embedder = snapshot.embedder
    columns = [*((TableName.NODES, column, embedder) for column in VECTOR_COLUMNS), (TableName.PAGES, "vector", embedder)]
    if embedder.second:
        columns.append((TableName.NODES, SECOND_VECTOR, embedder.second))
    for name, column, made_by in columns:
        for part in snapshot.graph_store.stream(name, [column]):
            try:
                check_vectors(
                    vectors_of(part[column], made_by.dimension),
                    rows=part.num_rows,
                    dimension=made_by.dimension,
                    what=f"{column} of {name}",
                    zero_allowed=name is TableName.PAGES,
                )
            except GraphError as error:
                yield Finding("vectors", str(error), READ_AGAIN)


def examine_adjacency(snapshot: Snapshot) -> Iterator[Finding]:
    """Check that the arcs kept for questions, where they are, are as they were written; else the next ingest mends them."""
    place = place_next_to(snapshot.graph_store)
    if place.exists() and load(place) is None:
        with suppress(OSError):
            snapshot.location.index_due.touch()
        yield Finding("adjacency", f"the files in {place} do not match their checksum", DERIVE_AGAIN)


OF_GRAPH = (examine_ids, examine_versions, examine_counts, examine_edges, examine_vectors, examine_adjacency)


def examine_artifacts(snapshot: Snapshot, memo: StepMemo) -> Iterator[Finding]:
    """Check that every artifact of a document is there and matches its hash: what it shows, and what it was made from."""
    names = {record.id: record.name for record in snapshot.documents()}
    shown = set(snapshot.artifacts())
    made = {(record.id, name) for record in snapshot.documents() for name in memo.artifacts_of(record.id)}
    for document, name in sorted(shown | made):
        if not memo.artifacts.intact(name):
            what = f"artifact {name[:12]} of {names[document]!r} is missing or does not match its hash"
            remove = f"`flowreader documents remove {document[:12]} --now --corpus {snapshot.location.name}`"
            yield Finding("artifacts", what, f"run {remove} and ingest its file again")


def examine_orphans(location: CorpusLocation, memo: StepMemo) -> Iterator[Finding]:
    """Check that no artifact outlived what it was made for; the shared store is looked at whole."""
    try:
        _, named = in_use(corpora_in(location.folder.parent))
    except CatalogDamagedError:
        # what a damaged snapshot names cannot be known; clean-up, too, waits until it is gone
        return
    orphans = unnamed_files(memo, named, time.time() - KEEP_SECONDS)
    if orphans:
        with suppress(OSError):
            location.index_due.touch()
        size = sum(path.stat().st_size for path in orphans)
        what = f"{len(orphans)} artifacts ({size:,} bytes) belong to no document of any corpus"
        yield Finding("orphan artifacts", what, CLEAN_UP)
