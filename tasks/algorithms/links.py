"""Candidate neighbourhoods by cosine, rounds of evolution by model or rule, links between documents whichever came first."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from storage.records.documents import Vectors
from tasks.algorithms.arrays import COARSE_STEPS, FloatArray, IntArray, edge_weights, snap_coarse, snap_fine

BLOCK_CELLS = 2**20
"""Cosines held at once: about 12 MB, however many nodes there are; larger blocks were slower."""

GROUP_KEYS = 16
"""Keys of a group that is passed over when its greatest is too small."""

SPARE = 8
"""The coarse cosines choose this many more than asked for, and the fine ones choose among those."""


def nearest_neighbours(*, vectors: Vectors, limit: int) -> tuple[IntArray, FloatArray]:
    """Find the `limit` rows of greatest cosine for each row, itself left out.

    Returned are the neighbours' row numbers and their cosines, both (n, min(limit, n - 1)), nearest first, equal cosines by row
    number. The n vectors are unit or zero.
    """
    count = len(vectors)
    width = min(limit, max(count - 1, 0))
    indices = np.zeros((count, width), dtype=np.int64)
    cosines = np.zeros((count, width))
    coarse, fine = snap_coarse(vectors), snap_fine(vectors)
    block_rows = max(1, BLOCK_CELLS // max(count, 1))
    for start in range(0, count if width else 0, block_rows):
        rows = slice(start, min(start + block_rows, count))
        shortlist = _shortlist(coarse=coarse, rows=rows, size=min(limit + SPARE, count - 1))
        near = np.einsum("rd,rsd->rs", fine[rows], fine[shortlist])
        order = np.lexsort((shortlist, -near), axis=1)[:, :width]
        indices[rows] = np.take_along_axis(shortlist, order, axis=1)
        cosines[rows] = np.take_along_axis(near, order, axis=1)
    return indices, cosines


def _shortlist(*, coarse: Vectors, rows: slice, size: int) -> IntArray:
    """Return the `size` nearest of each of the rows by coarse cosine, in no order; ties go to the lower row number."""
    count = len(coarse)
    # Cosine and row number in one integer: a partition of these needs no index array and knows no ties.
    keys = ((coarse[rows] @ coarse.T) * np.float32(COARSE_STEPS**2)).astype(np.int64)
    keys *= count
    keys += np.arange(count - 1, -1, -1)
    own = np.arange(rows.start, rows.stop)
    keys[own - rows.start, own] = np.iinfo(np.int64).min
    return np.asarray(count - 1 - _greatest(keys, size) % count)


def _greatest(keys: IntArray, size: int) -> IntArray:
    """Return the `size` greatest keys of each row, in no order; no row may hold a key twice."""
    rows, count = keys.shape
    groups = count // GROUP_KEYS
    if groups > size:
        # The greatest keys lie in the groups of the greatest maxima: most groups need only their maximum.
        grouped = keys[:, : groups * GROUP_KEYS].reshape(rows, GROUP_KEYS, groups)
        best = np.argpartition(grouped.max(axis=1), groups - size, axis=1)[:, groups - size :]
        chosen = np.take_along_axis(grouped, best[:, None, :], axis=2).reshape(rows, -1)
        keys = np.concatenate([chosen, keys[:, groups * GROUP_KEYS :]], axis=1)
    return np.partition(keys, keys.shape[1] - size, axis=1)[:, keys.shape[1] - size :]


def neighbour_pairs(*, indices: IntArray, cosines: FloatArray) -> IntArray:
    """Return the pairs (low, high) that are neighbours either way round at a cosine above 0: (p, 2), sorted, each once."""
    rows, columns = np.nonzero(cosines > 0)
    others = indices[rows, columns]
    pairs = np.stack([np.minimum(rows, others), np.maximum(rows, others)], axis=1)
    return np.unique(pairs, axis=0)


def unite_pairs(
    *, current: IntArray, current_rounds: IntArray, found: IntArray, found_rounds: IntArray
) -> tuple[IntArray, IntArray]:
    """Return the pairs (low, high) of both lists (p, 2), sorted, each once, and their rounds (p,); those in both have `found`'s."""
    pairs, places = np.unique(np.concatenate([found, current]), axis=0, return_index=True)
    return pairs, np.concatenate([found_rounds, current_rounds])[places]


LINK_BLOCK_CELLS = 2**22
"""Cosines held at once: 34 MB, however large the documents are."""

Link = tuple[int, int, float]
"""A row of the one, a row of the other, and the weight of the edge between them."""


def links_to_others(
    *, own: Vectors, others: Vectors, starts: IntArray, own_first: npt.NDArray[np.bool_], minimum: float, limit: int
) -> list[Link]:
    """Link rows of one document and of s others that are each other's nearest (ties: the lower row).

    Args:
        own: n unit or zero vectors.
        others: those of the other documents, stacked.
        starts: (s + 1,), where each of them begins in `others`, and the end.
        own_first: (s,), whether `own` is the first of the two in the order of all documents; it settles equal weights.
        minimum: least weight max(cos, 0) of a link; a weight of 0 never links.
        limit: links at most for each pair of documents; equal weights by row of the first.

    Returns:
        (row of own, row of others, weight to six decimals), document by document, the strongest first. A pair of documents has the
        same links whichever is `own`.
    """
    links: list[Link] = []
    fine = snap_fine(own)
    for begin, end, leads in zip(starts[:-1].tolist(), starts[1:].tolist(), own_first.tolist(), strict=True):
        other = snap_fine(others[begin:end])
        if leads:
            links += [(row, begin + column, weight) for row, column, weight in _mutual_links(fine, other, minimum, limit)]
        else:
            links += [(column, begin + row, weight) for row, column, weight in _mutual_links(other, fine, minimum, limit)]
    return links


def _mutual_links(first: FloatArray, second: FloatArray, minimum: float, limit: int) -> list[Link]:
    if not (len(first) and len(second)):
        return []
    nearest_second, nearest_first, cosines = _nearest_both_ways(first, second)
    weights = edge_weights(cosines)
    rows = np.arange(len(first))
    kept = rows[(nearest_first[nearest_second] == rows) & (weights >= minimum) & (weights > 0)]
    strongest = kept[np.argsort(-weights[kept], kind="stable")][:limit]
    return [(int(row), int(nearest_second[row]), float(weights[row])) for row in strongest]


def _nearest_both_ways(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the nearest row of `second` for each of `first`, the nearest of `first` for each of `second`, the former's cosines."""
    nearest_second = np.zeros(len(first), dtype=np.int64)
    cosines = np.zeros(len(first))
    nearest_first = np.zeros(len(second), dtype=np.int64)
    highest = np.full(len(second), -np.inf)
    block_rows = max(1, LINK_BLOCK_CELLS // len(second))
    for start in range(0, len(first), block_rows):
        block = first[start : start + block_rows] @ second.T
        nearest_second[start : start + len(block)] = block.argmax(axis=1)
        cosines[start : start + len(block)] = block.max(axis=1)
        tops = block.max(axis=0)
        # Strictly greater, so that an equal cosine stays with the lower row of an earlier block.
        better = tops > highest
        nearest_first[better] = start + block.argmax(axis=0)[better]
        highest = np.maximum(highest, tops)
    return nearest_second, nearest_first, cosines


Pair = tuple[int, int]
"""Two nodes, the lower row first."""


@dataclass(frozen=True, slots=True)
class Links:
    """The linked pairs with the round that last named each (0: the layout), and the relation that a node named to another.

    Where links are directed a pair is from the node that keeps it to the other.
    """

    rounds: Mapping[Pair, int]
    relations: Mapping[Pair, str]

    def relation(self, source: int, target: int) -> str:
        """Return the relation that the source named, else the one that the target named, else ""."""
        return self.relations.get((source, target)) or self.relations.get((target, source), "")


def candidates_of(
    *,
    rows: IntArray,
    indices: IntArray,
    cosines: FloatArray,
    pairs: Collection[Pair],
    askable: Collection[int],
    directed: bool,
) -> dict[int, tuple[int, ...]]:
    """Return for each of the rows its nearest neighbours at a cosine above 0 united with its linked ones, in reading order.

    Args:
        rows: (n,), row numbers of the nodes that have meaning.
        indices: (n, k), the nearest of each, as places in `rows`; `cosines` likewise.
        pairs: the current links of the document.
        askable: the rows to be judged; the others are only candidates.
        directed: a link is one of its first node alone.
    """
    near: dict[int, set[int]] = {
        int(row): {int(rows[place]) for place in places[cosine > 0]}
        for row, places, cosine in zip(rows, indices, cosines, strict=True)
    }
    for low, high in pairs:
        if low in near and high in near:
            near[low].add(high)
            near[high].update(() if directed else (low,))
    return {row: tuple(sorted(found)) for row, found in near.items() if row in askable and found}


def links_after(
    *, before: Links, candidates: Mapping[int, Sequence[int]], named: Mapping[int, Mapping[int, str]], number: int
) -> Links:
    """Return the links that a round leaves: what a node named, and what no node that could have judged.

    A pair goes where at least one of its two was asked about the other, and none of these named it.

    `candidates` is what each node was asked about, `named` the relation to each other node that a judged node named; nodes without
    a judgement are missing there. The number is that of this round, at least 1.
    """
    judged = {_pair(row, other) for row in named for other in candidates[row]}
    relations = {(row, other): relation for row, links in named.items() for other, relation in links.items()}
    rounds = {pair: found for pair, found in before.rounds.items() if pair not in judged}
    rounds |= {_pair(row, other): number for row, other in relations}
    kept = {arc: relation for arc, relation in before.relations.items() if arc[0] not in named and _pair(*arc) in rounds}
    return Links(rounds=rounds, relations=kept | relations)


def kept_links(
    *, before: Links, candidates: Mapping[int, Sequence[int]], named: Mapping[int, Mapping[int, str]], number: int
) -> Links:
    """Return the directed links that a round leaves: what each node named, and what it was not asked about.

    Args as of `links_after`.
    """
    rounds = {arc: found for arc, found in before.rounds.items() if arc[0] not in named or arc[1] not in candidates[arc[0]]}
    relations = {(row, other): relation for row, links in named.items() for other, relation in links.items()}
    kept = {arc: relation for arc, relation in before.relations.items() if arc in rounds}
    return Links(rounds=rounds | dict.fromkeys(relations, number), relations=kept | relations)


def _pair(row: int, other: int) -> Pair:
    return (row, other) if row < other else (other, row)


@dataclass(frozen=True, slots=True)
class EvolvedVectors:
    """What a round leaves: the vectors (n, d), unit or zero, and all pairs of neighbours (p, 2), low row first, with their rounds
    (p,).
    """

    vectors: Vectors
    pairs: IntArray
    rounds: IntArray


def begin_evolution(vectors: Vectors) -> EvolvedVectors:
    """Return what the first round begins with."""
    return EvolvedVectors(vectors, np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64))


def lite_round(*, before: EvolvedVectors, number: int, neighbours: int) -> EvolvedVectors:
    """Return what a round of the rule-based evolution leaves (G2-Reader, Appendix A, Lite; in FlowReader's notation eq. 14).

    Each node i takes N, the `neighbours` nodes j of greatest cos(e_i, e_j) among the vectors of the round before, and
    e_i becomes e_i + the sum over N of max(cos(e_i, e_j), 0) e_j, scaled to length 1. The pairs of i with N join the
    pairs found before; a pair's round is the last one that found it. Pruning is left to the caller, which has the last vectors.

    A zero vector stays zero and is no node's neighbour.
    """
    indices, cosines = nearest_neighbours(vectors=before.vectors, limit=neighbours)
    found = neighbour_pairs(indices=indices, cosines=cosines)
    pairs, rounds = unite_pairs(
        current=before.pairs, current_rounds=before.rounds, found=found, found_rounds=np.full(len(found), number)
    )
    return EvolvedVectors(average_with_neighbours(vectors=before.vectors, indices=indices, cosines=cosines), pairs, rounds)


def average_with_neighbours(*, vectors: Vectors, indices: IntArray, cosines: FloatArray) -> Vectors:
    """Return each of n vectors plus its neighbours' (n, k) weighted by max(cos, 0), at length 1; zero vectors stay zero."""
    weights = np.maximum(cosines, 0.0)
    summed = vectors.astype(np.float64)
    # One neighbour at a time: all at once would hold k copies of the matrix.
    for column in range(indices.shape[1]):
        summed += weights[:, column, None] * vectors[indices[:, column]]
    lengths = np.sqrt(np.einsum("nd,nd->n", summed, summed))
    return (summed / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)
