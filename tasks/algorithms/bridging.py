"""System 2's edit for a low saturation: which pairs of nodes across the minimum cut are worth a new edge (appendix C, T1)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_places, require_range, strongest
from tasks.algorithms.max_flow import BoolArray


def cut_pairs(
    *, source_side: BoolArray, sink_side: BoolArray, tails: IntArray, heads: IntArray, scores: FloatArray, limit: int
) -> IntArray:
    """Choose pairs (u, v) that no edge joins yet and whose edge would let more flow through.

    The paper asks a model about each boundary pair, and does not say which nodes are the boundary; the ends of the cut's own arcs
    are none where the graph falls apart, which is when a bridge is needed most. Here u is a node to which the supersource could
    still send more, and v one that could still send more on to the supersink: any edge between them raises the maximum flow.
    All such pairs are too many to ask about, so the strongest nodes of both sides are paired, few with few: all pairs of the k
    first of either side come before any with a later one. By capacity alone, one weak node would be in every pair.

    Args:
        source_side: (n,), of the minimum cut.
        sink_side: (n,), likewise.
        tails: (m,), where each edge begins.
        heads: (m,), where each edge ends.
        scores: (n,), h; a node of h = 0 is in no pair, because its edges carry nothing.
        limit: pairs at most.

    Returns:
        (p, 2), distinct, p <= limit; ordered by the later of the two ranks by h (equal h by index), then their sum, then that of u.
    """
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    for name, places in (("tails", tails), ("heads", heads)):
        require_places(name=name, places=places, count=len(scores))
    before, behind = (strongest(scores=np.where(side, scores, 0.0), count=len(scores)) for side in (source_side, sink_side))
    edges = tails * len(scores) + heads
    reach = limit
    # Doubling, because edges that are there already may take any number of the first places.
    while len(pairs := _new_pairs(before[:reach], behind[:reach], edges, len(scores))) < limit:
        if reach >= max(len(before), len(behind)):
            break
        reach *= 2
    return pairs[:limit]


def accepted_bridges(*, scores: FloatArray, above: float) -> IntArray:
    """Return the places of the pairs whose score is above the bound, in order.

    Args:
        scores: (p,), what the scorer gave, in [0, 1].
        above: the bound, itself not enough.
    """
    require_range(name="bridge scores", values=scores, low=0.0, high=1.0)
    return np.flatnonzero(scores > above)


def _new_pairs(before: IntArray, behind: IntArray, edges: IntArray, nodes: int) -> IntArray:
    """Return all pairs that are no edges, in the order that `cut_pairs` states; an edge is tail * nodes + head."""
    ranks_u, ranks_v = (axis.ravel() for axis in np.indices((len(before), len(behind))))
    order = np.lexsort((ranks_u, ranks_u + ranks_v, np.maximum(ranks_u, ranks_v)))
    pairs = np.stack([before[ranks_u[order]], behind[ranks_v[order]]], axis=1)
    return pairs[~np.isin(pairs[:, 0] * nodes + pairs[:, 1], edges)]
