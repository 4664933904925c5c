"""Sources: strong nodes that do not repeat each other, by maximal marginal relevance (FlowReader, appendix B.1)."""

from __future__ import annotations

import numpy as np

from storage.records import Vectors
from tasks.algorithms.checks import require_range
from tasks.algorithms.cosines import FloatArray, IntArray, snap_fine
from tasks.algorithms.finite_vectors import require_finite_vectors


def diverse_sources(*, scores: FloatArray, vectors: Vectors, count: int, trade_off: float) -> IntArray:
    """Choose at most `count` nodes v one by one, each the greatest in lambda h_v - (1 - lambda) max cos(e_v, e_u) (B.1).

    The maximum is over the nodes u chosen before; the first choice has none, and no penalty.

    Args:
        scores: (n,), h; only nodes with h > 0 are chosen, because a source supplies h.
        vectors: (n, d), unit or zero.
        count: at least 0.
        trade_off: lambda, in [0, 1]; 1 looks at scores only.

    Returns:
        The indices of the nodes in the order of choice; equal values by index.
    """
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    require_finite_vectors(vectors)
    candidates = np.flatnonzero(scores > 0)
    rows = snap_fine(vectors[candidates])
    gains = trade_off * scores[candidates]
    nearest = np.full(len(candidates), -np.inf)
    values = gains.copy()
    chosen: list[int] = []
    for _ in range(min(count, len(candidates))):
        chosen.append(int(values.argmax()))
        nearest = np.maximum(nearest, np.vecdot(rows, rows[chosen[-1]]))
        values = gains - (1.0 - trade_off) * nearest
        values[chosen] = -np.inf
    return np.asarray(candidates[np.array(chosen, dtype=np.int64)])
