"""Evolution of one document, and its links with the others (DESIGN: rounds stay inside a document, links use round 0)."""

from __future__ import annotations

from collections.abc import Callable, Container, Sequence
from dataclasses import dataclass

import numpy as np

from storage.records.documents import Edge, EdgeKind, Modality, Node, Vectors
from tasks.algorithms.arrays import IntArray, edge_weights, pair_cosines
from tasks.algorithms.links import (
    EvolvedVectors,
    begin_evolution,
    links_to_others,
    nearest_neighbours,
    neighbour_pairs,
    unite_pairs,
)
from tasks.settings.ingest import EvolutionSettings


@dataclass(frozen=True, slots=True)
class LinkableDocument:
    """The nodes of a document that have a meaning, in reading order, with their vectors of round 0 (n, d)."""

    document_id: str
    node_ids: tuple[str, ...]
    vectors: Vectors

    @classmethod
    def of(cls, document_id: str, node_ids: Sequence[str], meaningless: Sequence[bool], vectors: Vectors) -> LinkableDocument:
        """Leave out the nodes without meaning."""
        kept = np.flatnonzero(~np.array(meaningless, dtype=bool))
        return cls(document_id, tuple(node_ids[place] for place in kept.tolist()), vectors[kept])


def meaningful_rows(nodes: Sequence[Node]) -> IntArray:
    return np.flatnonzero([not node.meaningless for node in nodes])


def before_the_rounds(nodes: Sequence[Node], initial_vectors: Vectors) -> EvolvedVectors:
    """Return what the first round by rule begins with: the nodes that have meaning, no other is moved or moves one."""
    return begin_evolution(initial_vectors[meaningful_rows(nodes)])


def evolve_document(
    *, nodes: Sequence[Node], initial_vectors: Vectors, evolved: EvolvedVectors, settings: EvolutionSettings
) -> tuple[Vectors, tuple[Edge, ...]]:
    """Return the vectors and the window and semantic edges of a document, as the rounds by rule left them.

    `nodes` stand in reading order, `initial_vectors` are the unit or zero vectors of round 0, one for each. Nodes without
    meaning keep their vector and have window edges only. An edge's round is the last that found it (0: the layout alone, or the
    neighbours where there are no rounds).
    """
    meaningful = meaningful_rows(nodes)
    if settings.rounds == 0:
        evolved = _link_without_rounds(evolved.vectors, settings.neighbours)
    vectors = initial_vectors.copy()
    vectors[meaningful] = evolved.vectors
    window = window_pairs(nodes, settings.window)
    pairs, rounds = unite_pairs(
        current=window,
        current_rounds=np.zeros(len(window), dtype=np.int64),
        found=meaningful[evolved.pairs],
        found_rounds=evolved.rounds,
    )
    in_window = set(map(tuple, window.tolist()))
    edges = edges_between(nodes, vectors, pairs, rounds.tolist(), in_window, minimum=settings.minimum_edge)
    return vectors, edges


def edges_between(
    nodes: Sequence[Node],
    vectors: Vectors,
    pairs: IntArray,
    rounds: Sequence[int],
    in_window: Container[tuple[int, int]],
    *,
    minimum: float,
    arcs: Container[tuple[int, int]] | None = None,
    relation: Callable[[int, int], str] = lambda _source, _target: "",
) -> tuple[Edge, ...]:
    """Return both arcs of each of the pairs (p, 2), low first, that weighs enough: max(cos, 0), above 0 and not below `minimum`.

    Where `arcs` are given only those of them.
    """
    weights = edge_weights(pair_cosines(vectors=vectors, first=pairs[:, 0], second=pairs[:, 1]))
    edges: list[Edge] = []
    for (low, high), weight, found in zip(pairs.tolist(), weights.tolist(), rounds, strict=True):
        if not (weight >= minimum and weight > 0):
            continue
        kind = EdgeKind.WINDOW if (low, high) in in_window else EdgeKind.SEMANTIC
        for source, target in ((low, high), (high, low)):
            if arcs is not None and (source, target) not in arcs:
                continue
            one, other = nodes[source], nodes[target]
            named = relation(source, target)
            edges.append(Edge(one.id, other.id, one.document_id, other.document_id, kind, weight, relation=named, round=found))
    return tuple(edges)


def window_pairs(nodes: Sequence[Node], width: int) -> IntArray:
    """Pair the text nodes that lie at most `width` text nodes apart in reading order: (p, 2), low first.

    Figures and tables are not counted: one between two paragraphs does not part them.
    """
    places = np.flatnonzero([node.modality is Modality.TEXT for node in nodes])
    steps = [np.stack([places[:-step], places[step:]], axis=1) for step in range(1, width + 1)]
    return np.concatenate(steps).astype(np.int64)


def _link_without_rounds(vectors: Vectors, neighbours: int) -> EvolvedVectors:
    indices, cosines = nearest_neighbours(vectors=vectors, limit=neighbours)
    pairs = neighbour_pairs(indices=indices, cosines=cosines)
    return EvolvedVectors(vectors=vectors, pairs=pairs, rounds=np.zeros(len(pairs), dtype=np.int64))


def link_documents(*, own: LinkableDocument, others: Sequence[LinkableDocument], settings: EvolutionSettings) -> tuple[Edge, ...]:
    """Link a document with others: for each pair the strongest mutual nearest neighbours, as two semantic arcs of round 0.

    What two documents get depends on these two alone: linking B when A is there, or A when B is there, yields the same arcs.
    An arc belongs to the document of its source, so half of the arcs returned belong to the others.
    """
    if not others:
        return ()
    ordered = sorted(others, key=lambda other: other.document_id)
    targets = [(node_id, other.document_id) for other in ordered for node_id in other.node_ids]
    links = links_to_others(
        own=own.vectors,
        others=np.concatenate([other.vectors for other in ordered]),
        starts=np.cumsum([0, *(len(other.node_ids) for other in ordered)]),
        own_first=np.array([own.document_id < other.document_id for other in ordered]),
        minimum=settings.cross_minimum,
        limit=settings.cross_links,
    )
    edges: list[Edge] = []
    for row, other_row, weight in links:
        one, (other, document) = own.node_ids[row], targets[other_row]
        edges.append(Edge(one, other, own.document_id, document, EdgeKind.SEMANTIC, weight))
        edges.append(Edge(other, one, document, own.document_id, EdgeKind.SEMANTIC, weight))
    return tuple(edges)
