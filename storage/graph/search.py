"""What a question asks of an open snapshot: how much its scope holds, all of that, or the best of it with its neighbourhood."""

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storage.graph.adjacency import Adjacency, IntArray, digests, label_code
from storage.graph.candidates import MODALITIES, NODE_KINDS, CandidateGraph, assemble
from storage.graph.filters import Column, Filter, between, every, one_of
from storage.graph.lookups import RowIds, matching_nodes, matching_rows, nearest_nodes
from storage.graph.view import GraphView
from storage.records.documents import Modality, NodeKind, Vectors


def expand(adjacency: Adjacency, seeds: IntArray, *, hops: int, limit: int, allowed: npt.NDArray[np.bool_] | None) -> IntArray:
    """Return at most `limit` positions, the seeds first, then what each hop reaches; only `allowed` (n,) ones, all without it.

    A hop follows arcs either way. Within a hop the nodes come by their strongest arc from the hop before, ties by id.
    """
    open_to_hops = np.ones(len(adjacency.ids), bool) if allowed is None else allowed.copy()
    found = [seeds[:limit]]
    for _ in range(hops):
        open_to_hops[found[-1]] = False
        _owners, listed = adjacency.arcs_of(found[-1])
        heads = adjacency.heads[listed]
        way = open_to_hops[heads]
        found.append(_strongest(adjacency, heads[way], adjacency.weights[listed[way]])[: limit - sum(map(len, found))])
    return np.concatenate(found)


def _strongest(adjacency: Adjacency, heads: IntArray, weights: npt.NDArray[np.float64]) -> IntArray:
    """Return each head once, by falling weight of its strongest arc, ties by id."""
    reached, which = np.unique(heads, return_inverse=True)
    best = np.full(len(reached), -np.inf)
    np.maximum.at(best, which, weights)
    by_id = np.argsort(adjacency.ids[reached])
    return reached[by_id[np.argsort(-best[by_id], kind="stable")]].astype(np.int64)


PAGE_BITS = 31
LAST_PAGE = 2**PAGE_BITS - 1
"""What a page column can hold at most."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Ids of documents (none: all), the first and the last page (1-based, both included, None: no limit), and a modality."""

    documents: tuple[str, ...] = ()
    first_page: int | None = None
    last_page: int | None = None
    modality: Modality | None = None

    @property
    def pages(self) -> tuple[int, int]:
        """The first and the last page, both included."""
        return self.first_page or 0, LAST_PAGE if self.last_page is None else min(self.last_page, LAST_PAGE)

    def node_filter(self) -> Filter | None:
        """Return what keeps the nodes of the scope; None keeps all."""
        own = [one_of(Column.MODALITY, [self.modality])] if self.modality else []
        return join_filters([*self._place_filters(), *own])

    def row_filter(self) -> Filter | None:
        """Return what keeps the table rows of the scope; None keeps all. Only a table has rows."""
        own = [one_of(Column.DOCUMENT, ())] if self.modality not in {None, Modality.TABLE} else []
        return join_filters([*self._place_filters(), *own])

    def _place_filters(self) -> list[Filter]:
        documents = [one_of(Column.DOCUMENT, self.documents)] if self.documents else []
        limited = self.first_page is not None or self.last_page is not None
        return [*documents, *([between(Column.PAGE, *self.pages)] if limited else [])]


def join_filters(filters: list[Filter]) -> Filter | None:
    """Return a filter that keeps what all of them keep; None where there is none."""
    return every(*filters) if filters else None


EVERYTHING = Scope()


Mask = npt.NDArray[np.bool_]
Scores = npt.NDArray[np.float32]


@dataclass(frozen=True, slots=True)
class TextHits:
    """What full text found: rows of the table `nodes`, and for rows of tables the ids of their nodes; higher scores are better."""

    nodes: RowIds
    scores: Scores
    tables: Sequence[str]
    row_scores: Scores


def nodes_in_scope(view: GraphView, scope: Scope) -> int:
    mask = _mask(view, scope)
    return len(view.adjacency.ids) if mask is None else int(np.count_nonzero(mask))


def load_scope(view: GraphView, scope: Scope, *, columns: Sequence[str], initial_vectors: bool = False) -> CandidateGraph:
    """Return the whole scope; its caller knows from `nodes_in_scope` that it is small.

    `columns` are text columns of the table `nodes`: search_text, summary, keywords, label, ...
    """
    return view.remember(
        ("whole", scope, tuple(columns), initial_vectors),
        lambda: _graph(view, _by_id(view, _mask(view, scope)), columns, initial_vectors),
    )


def find_nodes(view: GraphView, scope: Scope, ids: Sequence[str]) -> IntArray:
    """Return the positions of those of the nodes that are in the scope, in the order asked."""
    found, mask = view.adjacency.find(ids), _mask(view, scope)
    found = found[found >= 0].astype(np.int64)
    return found if mask is None else found[mask[found]]


def load_nodes(view: GraphView, ids: Collection[str], *, columns: Sequence[str], initial_vectors: bool = False) -> CandidateGraph:
    """Return these nodes, each named once, and the arcs among them; raise LookupError where one is not there.

    `columns` as in `load_scope`.
    """
    positions = view.adjacency.positions_of(sorted(ids))
    return _graph(view, positions, columns, initial_vectors)


def find_words(view: GraphView, scope: Scope, words: Sequence[str], *, limit: int, in_a_row: bool = False) -> TextHits:
    """Return what full text has of the words in the scope, at most `limit` nodes and as many rows of tables; it takes no vector.

    `in_a_row`: only what holds all of them, one after the other.
    """
    graph = view.graph
    with ThreadPoolExecutor(1) as pool:
        rows = pool.submit(matching_rows, graph, words, limit=limit, where=scope.row_filter(), in_a_row=in_a_row)
        nodes, scores = matching_nodes(graph, words, limit=limit, where=scope.node_filter(), in_a_row=in_a_row)
    return TextHits(nodes, scores, *rows.result())


def rank_hits(adjacency: Adjacency, hits: TextHits) -> IntArray:
    """Return the positions of what full text found, nodes and tables by turns, the best first."""
    return by_turns(
        rank_positions(adjacency, adjacency.positions_of_rows(hits.nodes), hits.scores),
        rank_positions(adjacency, adjacency.positions_of(hits.tables), hits.row_scores),
    )


def load_around(
    view: GraphView,
    scope: Scope,
    seeds: IntArray,
    *,
    hops: int,
    limit: int,
    columns: Sequence[str],
    initial_vectors: bool = False,
) -> CandidateGraph:
    """Return at most `limit` nodes of the scope: the seeds, positions in it, then what hops from them reach.

    `columns` as in `load_scope`. Raise GraphDamagedError where a stored vector is not finite.
    """
    positions = expand(view.adjacency, seeds, hops=hops, limit=limit, allowed=_mask(view, scope))
    return _graph(view, positions[np.argsort(view.adjacency.ids[positions])], columns, initial_vectors)


def scope_sample(view: GraphView, scope: Scope, size: int, *, column: str) -> tuple[str, ...]:
    """Return a text column of `size` nodes of the scope, of all where it holds fewer, by id.

    Ids are hashes, so the lowest of them are a uniform sample, the same whenever it is taken.
    """
    return view.remember(("sample", scope, size, column), lambda: _sample(view, scope, size, column))


def _sample(view: GraphView, scope: Scope, size: int, column: str) -> tuple[str, ...]:
    positions = _by_id(view, _mask(view, scope))[:size]
    return tuple(view.columns.take(positions, [column])[column].tolist())


def _graph(view: GraphView, positions: IntArray, columns: Sequence[str], initial_vectors: bool) -> CandidateGraph:
    read = [*columns, "vector", *(["initial_vector"] if initial_vectors else [])]
    return assemble(view.adjacency, positions, view.columns.take(positions, read))


def _by_id(view: GraphView, mask: Mask | None) -> IntArray:
    """Return the positions that the mask keeps, by id."""
    ordered = np.asarray(view.adjacency.by_id)
    return (ordered if mask is None else ordered[mask[ordered]]).astype(np.int64)


def _mask(view: GraphView, scope: Scope) -> Mask | None:
    """Return which positions the scope holds; None says all."""
    return None if scope == EVERYTHING else view.remember(("mask", scope), lambda: _make_mask(view, scope))


def _make_mask(view: GraphView, scope: Scope) -> Mask:
    adjacency = view.adjacency
    first, last = scope.pages
    mask = (adjacency.pages >= first) & (adjacency.pages <= last)
    if scope.modality is not None:
        mask &= adjacency.modalities == MODALITIES.index(scope.modality)
    if scope.documents:
        wanted = np.isin(adjacency.document_ids, [bytes.fromhex(name) for name in scope.documents])
        mask &= wanted[adjacency.documents]
    return np.asarray(mask)


def find_seeds(view: GraphView, scope: Scope, *, vector: Vectors, words: Sequence[str], by_vector: int, by_text: int) -> IntArray:
    """Return the positions of the best of the scope by the vector (d,) and by the words, by turns, the best first."""
    with ThreadPoolExecutor(1) as pool:
        found = pool.submit(find_words, view, scope, words, limit=by_text)
        close, distances = nearest_nodes(view.graph, vector, limit=by_vector, where=scope.node_filter())
        text_hits = found.result()
    adjacency = view.adjacency
    return by_turns(
        rank_positions(adjacency, adjacency.positions_of_rows(close), -distances),
        rank_hits(adjacency, text_hits)[:by_text],
    )


def find_places(
    view: GraphView,
    scope: Scope,
    documents: Sequence[str],
    *,
    pages: Collection[tuple[str, int]],
    labels: Collection[str],
    kinds: Collection[NodeKind],
    limit: int,
) -> IntArray:
    """Return the positions of at most `limit` nodes of the scope that stand at a place, from the arrays alone.

    First come those with one of the labels and those of the kinds on the pages, on any page where none is given; then what else
    stands on the pages, (document id, number). Each by document, in the order of these, and page.
    """
    adjacency, mask = view.adjacency, _mask(view, scope)
    listed = np.searchsorted(adjacency.document_ids, digests(documents))
    ranks = np.full(len(adjacency.document_ids), -1)
    ranks[listed] = np.arange(len(documents))
    inside = (ranks >= 0)[adjacency.documents]
    nodes = np.flatnonzero(inside if mask is None else inside & mask)
    order = dict(zip(documents, range(len(documents)), strict=True))
    owners, numbers = ranks[adjacency.documents[nodes]], adjacency.pages[nodes].astype(np.int64)
    wanted = [order[document] << PAGE_BITS | number for document, number in pages]
    on_pages = np.isin(owners << PAGE_BITS | numbers, wanted)
    of_kind = np.isin(adjacency.kinds[nodes], [NODE_KINDS.index(kind) for kind in kinds])
    labelled = np.isin(adjacency.labels[nodes], [label_code(label) for label in labels])
    first = labelled | (of_kind & on_pages if pages else of_kind)
    found = np.flatnonzero(first | on_pages)
    by_place = np.lexsort((adjacency.ordinals[nodes[found]], numbers[found], owners[found], ~first[found]))
    return nodes[found[by_place]][:limit]


def rank_positions(adjacency: Adjacency, positions: IntArray, scores: Scores) -> IntArray:
    """Return the positions, each once at its best score, the highest first, ties by id."""
    by_id = np.argsort(adjacency.ids[positions])
    order = by_id[np.argsort(-scores[by_id], kind="stable")]
    return each_once(positions[order])


def by_turns(one: IntArray, other: IntArray) -> IntArray:
    """Return both rankings as one that takes from them by turns, each position once."""
    ranks = np.concatenate([2 * np.arange(len(one)), 2 * np.arange(len(other)) + 1])
    return each_once(np.concatenate([one, other])[np.argsort(ranks)])


def each_once(positions: IntArray) -> IntArray:
    """Return the positions without repetitions, in the order in which they come first."""
    _, first = np.unique(positions, return_index=True)
    return positions[np.sort(first)]
