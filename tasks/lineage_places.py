"""Where nodes stand and who read their pages: from the artifact that the lineage names; from the graph where none is kept.

LanceDB takes longer to load than the files of ten thousand runs to be looked through.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from storage.artifacts import ArtifactDamagedError, kept_artifacts
from storage.codec import CodecError, from_json
from storage.records import WHOLE_PAGE, Box
from tasks.lineage_names import Shelf
from tasks.lineage_records import DocumentTold, NodePlace

PageReader = tuple[str, int, str, str]
"""A document, a page of it, who read it, and why a fallback did."""


@dataclass(frozen=True, slots=True)
class Places:
    """The places of nodes by id, and the readers of the documents' pages."""

    nodes: Mapping[str, NodePlace]
    readers: tuple[PageReader, ...]


@dataclass(frozen=True, slots=True)
class _KeptNode:
    id: str
    page: int
    kind: str
    box: Box | None


@dataclass(frozen=True, slots=True)
class _KeptPage:
    number: int
    parser: str
    note: str


@dataclass(frozen=True, slots=True)
class _KeptGraph:
    """What is read of a document's graph, which holds all its words beside."""

    nodes: tuple[_KeptNode, ...]
    pages: tuple[_KeptPage, ...]


def places_of(shelf: Shelf, documents: Sequence[DocumentTold], node_ids: Sequence[str]) -> Places:
    """Return the places of those of the nodes that are published, and who read which page of the documents that are."""
    nodes: dict[str, NodePlace] = {}
    readers: list[PageReader] = []
    unkept = []
    for name, told in ((told.document.id, told) for told in documents if shelf.is_readable(told.document.id)):
        graph = _kept_graph(told)
        if graph is None:
            unkept.append(name)
        else:
            nodes |= {node.id: _place(node.id, name, node.page, node.kind, node.box) for node in graph.nodes}
            readers += [(name, page.number, page.parser, page.note) for page in graph.pages]
    if unkept:
        readers += shelf.snapshot.page_readers(unkept)
        found = shelf.snapshot.nodes_found([name for name in node_ids if name not in nodes])
        nodes |= {node.id: _place(node.id, node.document_id, node.page, node.kind.value, node.box) for node in found}
    return Places(nodes, tuple(readers))


def _place(node_id: str, document_id: str, page: int, kind: str, box: Box | None) -> NodePlace:
    return NodePlace(node_id, document_id, page, kind, None if box == WHOLE_PAGE else box)


def _kept_graph(document: DocumentTold) -> _KeptGraph | None:
    """Return what the step left that made the published version; None where no run tells of it or its artifact is gone."""
    made = (step for reading in document.readings if reading.published for step in reading.steps if step.step == "evolve")
    for name in (step.outputs["0"] for step in made if "0" in step.outputs):
        with contextlib.suppress(ArtifactDamagedError, CodecError, OSError):
            return from_json(_KeptGraph, kept_artifacts().read(name))
    return None
