"""System 2: when the first reading is not trusted, and which edits of the network follow (section 3.5.2, appendix C)."""

from enum import StrEnum

import numpy as np

from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray, require_range, strongest
from tasks.algorithms.flow.chains import SMALLEST_FLOW


class Trigger(StrEnum):
    """Why System 2 is called (section 3.5.2), in the order of precedence: one edit only, for the gravest reason."""

    NO_SUPPORT = "no_support"
    LOW_SATURATION = "low_saturation"
    LOW_CONSISTENCY = "low_consistency"


def gate(
    *, supported: int, saturation: float, consistency: float, saturation_below: float, consistency_below: float
) -> Trigger | None:
    """Return the gravest trigger, or None where the answer may be given as it is.

    `supported` is the number of answers that a path supports. A trigger fires under its bound, not at it; 0 switches it off. A
    saturation or consistency that is no number in [0, 1] would never fire, and raises ValueError.
    """
    require_range(name="saturation and consistency", values=[saturation, consistency], low=0.0, high=1.0)
    if supported == 0:
        return Trigger.NO_SUPPORT
    if saturation < saturation_below:
        return Trigger.LOW_SATURATION
    if consistency < consistency_below:
        return Trigger.LOW_CONSISTENCY
    return None


def cut_pairs(
    *, source_side: BoolArray, sink_side: BoolArray, tails: IntArray, heads: IntArray, scores: FloatArray, limit: int
) -> IntArray:
    """Choose pairs (u, v) that no edge joins yet, where an edge would let more flow through.

    The paper asks a model about each boundary pair, and does not say which nodes are the boundary; the ends of the cut's own arcs
    are none where the graph falls apart, which is when a bridge is needed most. Here u is a node to which the supersource could
    still send more, and v one that could still send more on to the supersink: any edge between them raises the maximum flow.
    All such pairs are too many to ask about, so the strongest nodes of both sides are paired, few with few: all pairs of the k
    first of either side come before any with a later one. By capacity alone, one weak node would be in every pair.

    The sides (n,) are those of the minimum cut. A node of h = 0 is in no pair, because its edges carry nothing.

    Returns:
        (p, 2), distinct, p <= limit; ordered by the later of the two ranks by h (equal h by index), then their sum, then that of u.
    """
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    before, behind = (strongest(scores=np.where(side, scores, 0.0), count=len(scores)) for side in (source_side, sink_side))
    edges = tails * len(scores) + heads
    reach = limit
    # Doubling, because edges that are there already may take any number of the first places.
    while len(pairs := _new_pairs(before[:reach], behind[:reach], edges, len(scores))) < limit:
        if reach >= max(len(before), len(behind)):
            break
        reach *= 2
    return pairs[:limit]


def _new_pairs(before: IntArray, behind: IntArray, edges: IntArray, nodes: int) -> IntArray:
    """Return all pairs that are no edges, in the order that `cut_pairs` states; an edge is tail * nodes + head."""
    ranks_u, ranks_v = (axis.ravel() for axis in np.indices((len(before), len(behind))))
    order = np.lexsort((ranks_u, ranks_u + ranks_v, np.maximum(ranks_u, ranks_v)))
    pairs = np.stack([before[ranks_u[order]], behind[ranks_v[order]]], axis=1)
    return pairs[~np.isin(pairs[:, 0] * nodes + pairs[:, 1], edges)]


def damped_weights(*, old: FloatArray, proposed: FloatArray, damping: float, bound: float) -> FloatArray:
    """Return (1 - damping) old + damping proposed, no further than `bound` from the old weight (appendix C).

    Weights (m,) and damping are in [0, 1]; old ones are the similarities of eq. 5, proposed ones what the scorer says. The bound is
    at least 0: one call must not turn an edge about. Each new weight lies between the old one and the one proposed.
    """
    for name, values in (("old weights", old), ("proposed weights", proposed), ("damping", damping)):
        require_range(name=name, values=values, low=0.0, high=1.0)
    return np.asarray(np.clip(old + np.clip(damping * (proposed - old), -bound, bound), 0.0, 1.0))


def top_decile_arcs(*, flow: FloatArray) -> IntArray:
    """Return the tenth of the arcs in use that carry the most flow (m,), at least one: largest first, equal flows by index."""
    require_range(name="flows", values=flow, low=0.0, high=np.inf)
    used = np.flatnonzero(flow > SMALLEST_FLOW)
    order = np.argsort(-flow[used], kind="stable")
    return used[order[: -(-len(used) // 10)]]


def expanded_sources(
    *, sources: IntArray, tails: IntArray, heads: IntArray, propagated: FloatArray, depth: int, count: int
) -> IntArray:
    """Choose at most `count` new sources among the nodes within `depth` steps along the edges from the old ones.

    They are distinct and were no sources, the largest phi (n,) first, equal ones by index; a node of phi = 0 is never chosen.
    """
    require_range(name="propagated scores", values=propagated, low=0.0, high=np.inf)
    reached = np.zeros(len(propagated), dtype=np.bool_)
    reached[sources] = True
    for _ in range(depth):
        reached[heads[reached[tails]]] = True
    reached[sources] = False
    return strongest(scores=np.where(reached, propagated, 0.0), count=count)
