"""What the tools of `agent` look things up in: an index of the candidates to query, and the communities of a document."""

import numpy as np

from storage.graph.candidates import CandidateGraph, arcs_among
from tasks.algorithms.arrays import BoolArray, IntArray
from tasks.algorithms.graphs.communities import find_communities
from tasks.algorithms.graphs.graph_query import GraphIndex
from tasks.asking.candidates import SIMILARITY_CODES
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores
from tasks.asking.relevance import read_texts

MOST_NODES = 20_000
"""Nodes of a document that are put into communities; of a longer one each node is by itself, for that would take minutes."""


def is_layout(kinds: IntArray) -> BoolArray:
    """Return which arcs (m,) the layout has, not the likeness of two nodes."""
    return ~np.isin(kinds, SIMILARITY_CODES)


def ordinals_in(graph: CandidateGraph, context: AskContext) -> IntArray:
    """Return the reading order of the candidates within their documents (n,)."""
    adjacency = context.snapshot.view.adjacency
    return adjacency.ordinals[adjacency.positions_of(graph.ids)].astype(np.int64)


def index_of(graph: CandidateGraph, scores: NodeScores, context: AskContext) -> GraphIndex:
    """Return the candidates with the fields of queries: kind, page, section, and the words of section, caption, text and label."""
    view, texts = context.snapshot.view, read_texts(context.snapshot)
    read = view.columns.take(view.adjacency.positions_of(graph.ids), ["section_id", "section_path", "caption", "content", "label"])
    sections = np.array([section or "" for section in read["section_id"].tolist()])
    _names, homes = np.unique(sections, return_inverse=True)
    words = {
        "section": [" ; ".join(path) for path in read["section_path"].tolist()],
        "caption": read["caption"].tolist(),
        "text": read["content"].tolist(),
        "label": [label or "" for label in read["label"].tolist()],
    }
    return GraphIndex(
        columns={
            "document": graph.documents,
            "kind": graph.kinds,
            "page": graph.pages,
            "section": np.where(sections == "", -1, homes),
            "ordinal": ordinals_in(graph, context),
        },
        words={field: texts.code_nodes(field, graph.ids, column) for field, column in words.items()},
        scores=scores.combined,
        tails=graph.tails,
        heads=graph.heads,
        arc_kinds=graph.arc_kinds,
        weights=graph.weights,
    )


def communities_in(document: int, graph: CandidateGraph, context: AskContext) -> IntArray:
    """Return the community of each candidate of a document, -1 of all others (n,); made of the whole document, once."""
    view, name = context.snapshot.view, graph.document_ids[document]
    settings = context.settings.agent
    key = ("communities", name, settings.communities, settings.resolution, settings.seed)
    positions, labels = view.remember(key, lambda: _group_nodes(name, context))
    found, own = np.full(len(graph), -1), np.flatnonzero(graph.documents == document)
    places = view.adjacency.positions_of([graph.ids[node] for node in own])
    found[own] = labels[np.searchsorted(positions, places)]
    return found


def _group_nodes(document: str, context: AskContext) -> tuple[IntArray, IntArray]:
    """Return the positions of a document's nodes, ascending, and their communities."""
    adjacency, settings = context.snapshot.view.adjacency, context.settings.agent
    place = np.searchsorted(adjacency.document_ids, bytes.fromhex(document))
    positions = np.flatnonzero(adjacency.documents == place)
    if len(positions) > MOST_NODES:
        return positions, np.arange(len(positions))
    tails, heads, kinds, weights = arcs_among(adjacency, positions)
    kept = is_layout(kinds) | (settings.communities == "all")
    return positions, find_communities(
        ordinals=adjacency.ordinals[positions].astype(np.int64),
        tails=tails[kept],
        heads=heads[kept],
        weights=weights[kept],
        resolution=settings.resolution,
        seed=settings.seed,
    )
