"""Query relevance r: what a node has in common with the question by meaning and by words (FlowReader, section 3.3)."""

from __future__ import annotations

import numpy as np

from storage.records import Vectors
from tasks.algorithms.checks import require_range
from tasks.algorithms.cosines import FloatArray, snap_fine
from tasks.algorithms.finite_vectors import require_finite_vectors

ROWS_AT_ONCE = 128
"""So many rows fit the processor's cache."""


def dense_relevance(*, query: Vectors, vectors: Vectors) -> FloatArray:
    """Return max(cos(q, e_i), 0) for each of n nodes (r^dense of section 3.3), in [0, 1].

    Args:
        query: (d,), the question's vector, unit or zero. ValueError where it holds a number that is not finite.
        vectors: (n, d), the nodes' vectors, unit or zero. ValueError names the first row that is not finite.
    """
    if not np.isfinite(query).all():
        raise ValueError("the vector of the question holds a number that is not finite; embed the question again")
    require_finite_vectors(vectors)
    cosines, fine = np.zeros(len(vectors)), snap_fine(query)
    for start in range(0, len(vectors), ROWS_AT_ONCE):
        rows = slice(start, start + ROWS_AT_ONCE)
        # Row by row, because the threads of a matrix product wait for each other when the processor is busy: 20 ms were seen.
        cosines[rows] = np.vecdot(snap_fine(vectors[rows]), fine)
    return np.asarray(np.clip(cosines, 0.0, 1.0))


def min_max(scores: FloatArray) -> FloatArray:
    """Return (s - min) / (max - min) of n scores, in [0, 1]: b of section 3.3. Not finite: ValueError.

    Where all scores are equal all results are 0, also where they are positive: words that every node has alike
    tell no node from another, and a lift of all to 1 would drown the dense score.
    """
    require_range(name="scores", values=scores, low=-np.inf, high=np.inf)
    if not len(scores) or scores.min() == scores.max():
        return np.zeros(len(scores))
    lowest, highest = scores.min(), scores.max()
    return np.asarray((scores - lowest) / (highest - lowest))


def blended_relevance(*, dense: FloatArray, lexical: FloatArray, blend: float) -> FloatArray:
    """Return r = (1 - alpha) dense + alpha lexical (section 3.3), in [0, 1] where both are.

    Args:
        dense: (n,), as `dense_relevance` returns it.
        lexical: (n,), BM25 after `min_max`.
        blend: alpha, in [0, 1].
    """
    return (1.0 - blend) * dense + blend * lexical
