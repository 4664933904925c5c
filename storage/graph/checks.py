"""What must hold of a document's graph before a byte of it is stored."""

import math
from collections.abc import Hashable, Sequence

import numpy as np

from storage.errors import ExpectedError
from storage.records.documents import DocumentGraph, Edge, EmbedderIdentity, Vectors

EMBED_AGAIN = "embed the document again"
LENGTH_TOLERANCE = 1e-3
"""The most that a unit vector may differ from length 1: float32 after a bf16 model."""


class GraphError(ExpectedError, ValueError):
    """A graph that must not be stored; the message names the document and what is wrong."""


def check_vectors(vectors: Vectors, *, rows: int, dimension: int, what: str, zero_allowed: bool = False) -> None:
    """Raise GraphError unless there are `rows` finite unit vectors of the dimension; an empty page's may be zero."""
    if vectors.shape != (rows, dimension):
        raise GraphError(f"{what}: shape {vectors.shape} instead of {(rows, dimension)}", remedy=EMBED_AGAIN)
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1)
    sound = (np.abs(lengths - 1) <= LENGTH_TOLERANCE) | (zero_allowed & (lengths == 0))
    wrong = np.flatnonzero(~sound)
    if len(wrong):
        row = int(wrong[0])
        raise GraphError(f"{what}: row {row} has length {lengths[row]:.4g} instead of 1", remedy=EMBED_AGAIN)


def check_unique(ids: Sequence[Hashable], what: str) -> None:
    """Raise GraphError where an id stands twice."""
    if len(set(ids)) != len(ids):
        twice = next(name for position, name in enumerate(ids) if name in ids[:position])
        raise GraphError(f"{what}: id {twice} stands twice", remedy="ids must come from distinct places")


def check_edge(edge: Edge, document: str, nodes: set[str]) -> None:
    """Raise GraphError unless the edge runs within the document between nodes that are there, with a finite weight."""
    if {edge.source_document, edge.target_document} != {document}:
        raise GraphError(f"document {document[:12]}: edge {edge.id[:12]} leaves the document", remedy="give it as a cross edge")
    if edge.source not in nodes or edge.target not in nodes:
        raise GraphError(f"document {document[:12]}: edge {edge.source[:12]} -> {edge.target[:12]} ends at no node")
    if not math.isfinite(edge.weight):
        raise GraphError(f"document {document[:12]}: edge {edge.id[:12]} weighs {edge.weight}")


def check_graph(graph: DocumentGraph, embedder: EmbedderIdentity) -> None:
    """Raise GraphError unless the graph is whole.

    Ids are unique, everything belongs to the document's version, edges and rows end at its nodes, and every vector is a finite
    unit vector of its embedder's dimension.
    """
    what, dimension = f"document {graph.document_id[:12]}", embedder.dimension
    if embedder.second:
        seconds = graph.vectors[:0] if graph.second_vectors is None else graph.second_vectors
        check_vectors(seconds, rows=len(graph.nodes), dimension=embedder.second.dimension, what=f"{what}, second vectors")
    if graph.tokens is not None and len(graph.tokens) != len(graph.nodes):
        raise GraphError(f"{what}: tokens of {len(graph.tokens)} nodes instead of {len(graph.nodes)}", remedy=EMBED_AGAIN)
    check_vectors(graph.initial_vectors, rows=len(graph.nodes), dimension=dimension, what=f"{what}, initial vectors")
    check_vectors(graph.vectors, rows=len(graph.nodes), dimension=dimension, what=f"{what}, vectors")
    check_vectors(graph.page_vectors, rows=len(graph.pages), dimension=dimension, what=f"{what}, page vectors", zero_allowed=True)
    for part in (graph.nodes, graph.pages, graph.rows, graph.sections):
        check_unique([record.id for record in part], what)
        if any((record.document_id, record.version) != (graph.document_id, graph.version) for record in part):
            raise GraphError(f"{what}: a {type(part[0]).__name__.lower()} belongs to another document or version")
    nodes = {node.id for node in graph.nodes}
    for row in graph.rows:
        if row.node_id not in nodes:
            raise GraphError(f"{what}: table row {row.id[:12]} belongs to no node")
    check_unique([(edge.source, edge.target, edge.kind) for edge in graph.edges], f"{what}, edges")
    for edge in graph.edges:
        check_edge(edge, graph.document_id, nodes)
