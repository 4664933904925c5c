"""Evolution by rule: G2-Reader's Lite variant of eq. 14, which moves vectors and edges and calls no model."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from storage.records import Vectors
from tasks.algorithms.candidates import nearest_neighbours, neighbour_pairs, unite_pairs
from tasks.algorithms.cosines import FloatArray, IntArray


@dataclass(frozen=True, slots=True)
class EvolvedVectors:
    """What the rounds leave: the last vectors, and the pairs of neighbours (p, 2), low row first, with their rounds (p,)."""

    vectors: Vectors
    pairs: IntArray
    rounds: IntArray


def evolve_lite(*, vectors: Vectors, rounds: int, neighbours: int) -> EvolvedVectors:
    """Run the rounds of the rule-based evolution (G2-Reader, Appendix A, Lite; in FlowReader's notation eq. 14).

    In round t each node i takes N, the `neighbours` nodes j of greatest cos(e_i, e_j) among the vectors of round t - 1, and
    e_i becomes e_i + the sum over N of max(cos(e_i, e_j), 0) e_j, scaled to length 1. The pairs of i with N join the
    pairs found before; a pair's round is the last one that found it. Pruning is left to the caller, who knows the last vectors.

    Args:
        vectors: n unit or zero vectors, one a row; a zero vector stays zero and is nobody's neighbour.
        rounds: T, at least 0; with 0 the vectors come back as they are and there are no pairs.
        neighbours: size of N, at least 1.

    Returns:
        The vectors of round T and the pairs found, sorted.
    """
    pairs, pair_rounds = np.zeros((0, 2), dtype=np.int64), np.zeros(0, dtype=np.int64)
    for number in range(1, rounds + 1):
        indices, cosines = nearest_neighbours(vectors=vectors, limit=neighbours)
        found = neighbour_pairs(indices=indices, cosines=cosines)
        pairs, pair_rounds = unite_pairs(
            current=pairs, current_rounds=pair_rounds, found=found, found_rounds=np.full(len(found), number)
        )
        vectors = average_with_neighbours(vectors=vectors, indices=indices, cosines=cosines)
    return EvolvedVectors(vectors=vectors, pairs=pairs, rounds=pair_rounds)


def average_with_neighbours(*, vectors: Vectors, indices: IntArray, cosines: FloatArray) -> Vectors:
    """Return each vector plus its neighbours' weighted by max(cos, 0), at length 1; zero vectors stay zero.

    Args:
        vectors: (n, d), unit or zero.
        indices: (n, k), the neighbours of each row, nearest first.
        cosines: (n, k), the cosine with each of them.
    """
    weights = np.maximum(cosines, 0.0)
    summed = vectors.astype(np.float64)
    # One neighbour at a time: all at once would hold k copies of the matrix.
    for column in range(indices.shape[1]):
        summed += weights[:, column, None] * vectors[indices[:, column]]
    lengths = np.sqrt(np.einsum("nd,nd->n", summed, summed))
    return (summed / np.where(lengths > 0, lengths, 1.0)[:, None]).astype(np.float32)
