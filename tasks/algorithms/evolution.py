"""One round of evolution: by what judgements say (eq. 14), and by rule (G2-Reader's Lite variant), which calls no model."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storage.records.documents import Vectors
from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.links import nearest_neighbours, neighbour_pairs, unite_pairs

Pair = tuple[int, int]
"""Two nodes, the lower row first."""


@dataclass(frozen=True, slots=True)
class Links:
    """The linked pairs with the round that last named each (0: the layout), and the relation that a node named to another."""

    rounds: Mapping[Pair, int]
    relations: Mapping[Pair, str]

    def relation(self, source: int, target: int) -> str:
        """Return the relation that the source named, else the one that the target named, else ""."""
        return self.relations.get((source, target)) or self.relations.get((target, source), "")


def candidates_of(
    *, rows: IntArray, indices: IntArray, cosines: FloatArray, pairs: Collection[Pair], askable: Collection[int]
) -> dict[int, tuple[int, ...]]:
    """Return for each of the rows its nearest neighbours at a cosine above 0 united with its linked ones, in reading order.

    Args:
        rows: (n,), row numbers of the nodes that have meaning.
        indices: (n, k), the nearest of each, as places in `rows`; `cosines` likewise.
        pairs: the current links of the document.
        askable: the rows to be judged; the others are only candidates.
    """
    near: dict[int, set[int]] = {
        int(row): {int(rows[place]) for place in places[cosine > 0]}
        for row, places, cosine in zip(rows, indices, cosines, strict=True)
    }
    for low, high in pairs:
        if low in near and high in near:
            near[low].add(high)
            near[high].add(low)
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


def not_evolved(vectors: Vectors) -> EvolvedVectors:
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
