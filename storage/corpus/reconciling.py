"""What a writer does before it writes: find what a crash left, and make the catalog, the graph and CURRENT agree again.

The catalog and the graph may be ahead of CURRENT (a kill inside a publish) or behind it (a cut write-ahead log, damage).
What is mended is reported. Finished documents lie in the artifacts, so what is lost here comes back with the next ingest.
"""

import shutil
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from storage.artifacts import write_durably
from storage.catalog import catalog
from storage.catalog.catalog import CatalogDamagedError, CatalogHead, Change
from storage.catalog.current import (
    Current,
    CurrentDamagedError,
    is_intact,
    read_current,
    release,
    snapshot_numbers,
    snapshot_path,
)
from storage.errors import ExpectedError
from storage.graph.store import GraphDamagedError, GraphStore, create_graph, open_graph
from storage.locations import CorpusLocation
from storage.records.documents import DocumentRecord, DocumentState, EmbedderIdentity

NO_CHANGE = Change(removed=frozenset(), records=(), graphs=(), cross_edges=())

EmbedderChoice = Callable[[EmbedderIdentity | None], EmbedderIdentity]
"""Names the embedder of a writer by that of the corpus, None where it has none yet."""

GRAPH_LOST = "its part of the graph was damaged; ingest its file again"


@dataclass(frozen=True, slots=True)
class Reconciled:
    """A corpus that agrees with itself: its graph at the newest versions, the catalog's row, and what was mended."""

    graph: GraphStore
    head: CatalogHead
    messages: tuple[str, ...]


def reconcile(location: CorpusLocation, embedder: EmbedderIdentity | EmbedderChoice) -> Reconciled:
    """Mend what a crash left; raise where the store is of another version or another embedder's."""
    messages: list[str] = []
    lost: tuple[DocumentRecord, ...] = ()
    pointer = look_at_current(location, messages)
    remove_partial_files(location)
    found = sound_catalog(location, pointer, messages)
    wanted = embedder(found.embedder if found else None) if callable(embedder) else embedder
    if found is not None:
        check_embedder(location, found.embedder, wanted)
        found = replace(found, embedder=wanted)
        graph = open_pinned_graph(location, found, messages)
        if graph is None:
            lost = tuple(catalog.documents_in(location.catalog, read_only=False))
            set_aside(location.catalog, messages)
    location.damage_report.unlink(missing_ok=True)
    if found is None or graph is None:
        return begin_anew(location, wanted, pointer, lost, messages)
    return Reconciled(graph, agree(location, graph, found, pointer, messages), tuple(messages))


def look_at_current(location: CorpusLocation, messages: list[str]) -> Current | None:
    """Return the pointer, None where it is missing or garbage."""
    try:
        return read_current(location)
    except CurrentDamagedError as error:
        messages.append(f"{error.what}; it is written again from the catalog")
        return None


def remove_partial_files(location: CorpusLocation) -> None:
    for folder in (location.folder, location.snapshots, location.runs):
        for leftover in folder.glob(".partial-*"):
            leftover.unlink(missing_ok=True)


def sound_catalog(location: CorpusLocation, pointer: Current | None, messages: list[str]) -> CatalogHead | None:
    """Return the head of a catalog that opens and is not behind CURRENT, restored from a snapshot where it must be.

    None where nothing usable is left, or nothing was ever there.
    """
    least = pointer.snapshot if pointer else 0
    try:
        head = catalog.head(location.catalog)
    except CatalogDamagedError as error:
        if not location.catalog.exists() and not snapshot_numbers(location):
            return None
        messages.append(f"the catalog is damaged: {error}")
    else:
        if head.snapshot >= least:
            return head
        messages.append(f"the catalog holds snapshot {head.snapshot}, published is {least}: its last writes were lost")
    set_aside(location.catalog, messages)
    return restore_catalog(location, pointer, messages)


def set_aside(path: Path, messages: list[str]) -> None:
    """Move the damaged file and its write-ahead log out of the way, under the first free number."""
    number = 1
    while path.with_name(f"{path.name}.damaged-{number}").exists():
        number += 1
    for part in (path, path.with_name(f"{path.name}.wal")):
        if part.exists():
            kept = part.with_name(f"{part.name}.damaged-{number}")
            part.rename(kept)
            messages.append(f"{part.name} was set aside as {kept.name}")


def restore_catalog(location: CorpusLocation, pointer: Current | None, messages: list[str]) -> CatalogHead | None:
    """Copy the newest usable snapshot to the catalog, the published one first."""
    numbers = snapshot_numbers(location)[::-1]
    if pointer is not None and not is_intact(location, pointer):
        messages.append(f"the published snapshot {pointer.snapshot} is missing or altered")
        numbers = [number for number in numbers if number != pointer.snapshot]
    for number in numbers:
        write_durably(location.catalog, snapshot_path(location, number).read_bytes())
        with suppress(CatalogDamagedError):
            head = catalog.head(location.catalog)
            messages.append(
                f"the catalog was restored from snapshot {number}; later documents are published again by the next ingest"
            )
            return head
    messages.append("no snapshot is usable; the corpus begins anew and its documents are published again by the next ingest")
    location.catalog.unlink(missing_ok=True)
    return None


def check_embedder(location: CorpusLocation, held: EmbedderIdentity, asked: EmbedderIdentity) -> None:
    """Raise ExpectedError where the corpus was made by another embedder."""
    if replace(held, texts=asked.texts) == asked != held:
        preset = "paper" if held.texts == "paper" else "default"
        raise ExpectedError(
            f"corpus {location.name!r} was read in by the preset {preset!r}",
            location.name,
            f"ingest with --preset {preset}, or into a new corpus with --corpus NAME",
        )
    if held != asked:
        raise ExpectedError(
            f"corpus {location.name!r} was embedded by {held.key}, this run has {asked.key}",
            location.name,
            "set the embedder back, or ingest into a new corpus with --corpus NAME",
        )


def open_pinned_graph(location: CorpusLocation, head: CatalogHead, messages: list[str]) -> GraphStore | None:
    """Return the graph at the versions that the catalog pins, None where they cannot be had."""
    try:
        open_graph(location.lance, head.lance_versions)
        graph = open_graph(location.lance)
        moved = graph.restore(head.lance_versions)
        graph.add_columns()
        if location.damage_report.exists():
            graph.read_through()
    except GraphDamagedError as error:
        messages.append(f"{error}; the corpus begins anew and its documents are published again from their artifacts")
        return None
    if moved:
        messages.append(f"a publish was interrupted: unpublished rows of {', '.join(moved)} were taken back")
    return graph


def agree(
    location: CorpusLocation, graph: GraphStore, head: CatalogHead, pointer: Current | None, messages: list[str]
) -> CatalogHead:
    """Make the catalog pin the graph's newest versions and CURRENT name the catalog; return the catalog's row."""
    named = pointer.snapshot if pointer else 0
    if graph.versions() != head.lance_versions or head.snapshot < named:
        number = 1 + max(head.snapshot, named, *snapshot_numbers(location))
        head = replace(head, snapshot=number, lance_versions=graph.versions())
        catalog.commit(location.catalog, NO_CHANGE, snapshot=number, lance_versions=head.lance_versions)
    elif pointer is not None and head.snapshot == named and is_intact(location, pointer):
        return head
    else:
        messages.append(f"snapshot {head.snapshot} was not yet the published one, or its file was damaged; it is published now")
    release(location, head.snapshot)
    return head


def begin_anew(
    location: CorpusLocation,
    embedder: EmbedderIdentity,
    pointer: Current | None,
    lost: tuple[DocumentRecord, ...],
    messages: list[str],
) -> Reconciled:
    """Publish a corpus with an empty graph, under a number above all that were; its documents stand there as failed.

    So they are not forgotten: not by a kill before they are published again, and not by a command that does not do it.
    """
    number = 1 + max([pointer.snapshot if pointer else 0, *snapshot_numbers(location)])
    location.catalog.unlink(missing_ok=True)
    if location.lance.exists():
        shutil.rmtree(location.lance)
    graph = create_graph(location.lance, embedder)
    head, records = CatalogHead(embedder, number, graph.versions()), [without_graph(record) for record in lost]
    catalog.create(location.catalog, embedder, head.lance_versions, number, records)
    release(location, number)
    return Reconciled(graph, head, tuple(messages))


def without_graph(record: DocumentRecord) -> DocumentRecord:
    if record.state is not DocumentState.READY:
        return record
    return replace(record, state=DocumentState.FAILED, reason=GRAPH_LOST, pages=0, nodes=0, attempt="")
