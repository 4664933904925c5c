"""What the tools of `agent` look things up in: an index of the candidates to query, and the communities of a document."""

import numpy as np

from storage.graph.candidates import CandidateGraph, arcs_among
from storage.records.documents import WHOLE_PAGE, Box
from tasks.algorithms.arrays import BoolArray, IntArray
from tasks.algorithms.graphs.communities import find_communities
from tasks.algorithms.graphs.graph_query import ARC_KINDS, RELATIONS, GraphIndex
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
    """Return the candidates with the fields that a query may name, and their arcs, the named ones among them a second time."""
    view, texts = context.snapshot.view, read_texts(context.snapshot)
    columns = ["section_id", "section_path", "caption", "content", "label", "box"]
    read = view.columns.take(view.adjacency.positions_of(graph.ids), columns)
    sections = np.array([section or "" for section in read["section_id"].tolist()])
    _names, homes = np.unique(sections, return_inverse=True)
    words = {
        "section": [" ; ".join(path) for path in read["section_path"].tolist()],
        "caption": read["caption"].tolist(),
        "text": read["content"].tolist(),
        "label": [label or "" for label in read["label"].tolist()],
        "position": list(map(position_of, read["box"].tolist())),
        "document": [context.names[graph.document_ids[document]].name for document in graph.documents],
    }
    tails, heads, kinds = named_arcs(graph, context)
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
        tails=np.concatenate([graph.tails, tails]),
        heads=np.concatenate([graph.heads, heads]),
        arc_kinds=np.concatenate([graph.arc_kinds, kinds]),
        weights=np.concatenate([graph.weights, np.ones(len(tails))]),
    )


def position_of(box: Box | None) -> str:
    """Return in which third of the page's height and width the middle of an element is, "top left"; "" where nothing says it."""
    if box is None or tuple(box) == WHOLE_PAGE:
        return ""
    across, down = (min(int(3 * (box[side] + box[side + 2]) / 2), 2) for side in (0, 1))
    return f"{('top', 'middle', 'bottom')[down]} {('left', 'centre', 'right')[across]}"


def named_arcs(graph: CandidateGraph, context: AskContext) -> tuple[IntArray, IntArray, IntArray]:
    """Return tails, heads and kinds of the arcs among the candidates that a model named, each with its relation for a kind."""
    view = context.snapshot.view
    tails, heads, names = view.relations
    place = np.full(len(view.adjacency.ids) + 1, -1)  # the last is of an arc that ends at no node
    place[view.adjacency.positions_of(graph.ids)] = np.arange(len(graph))
    kinds = np.array([ARC_KINDS.index(name) if name in RELATIONS else -1 for name in names], dtype=np.int64)
    inside = (place[tails] >= 0) & (place[heads] >= 0) & (kinds >= 0)
    return place[tails[inside]], place[heads[inside]], kinds[inside]


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
