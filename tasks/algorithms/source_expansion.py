"""System 2's edit where no answer is supported: more places for the evidence to start from (appendix C, T3)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_places, require_range, strongest


def expanded_sources(
    *, sources: IntArray, tails: IntArray, heads: IntArray, propagated: FloatArray, depth: int, count: int
) -> IntArray:
    """Choose new sources among the nodes within `depth` steps along the edges from the old ones.

    Args:
        sources: the old ones.
        tails: (m,), where each edge begins.
        heads: (m,), where each edge ends.
        propagated: (n,), phi, at least 0; a node of phi = 0 is never chosen.
        depth: steps at most; 0 finds nothing.
        count: new sources at most.

    Returns:
        Distinct nodes that were no sources, the largest phi first, equal ones by index.
    """
    nodes = len(propagated)
    require_range(name="propagated scores", values=propagated, low=0.0, high=np.inf)
    for name, places in (("sources", sources), ("tails", tails), ("heads", heads)):
        require_places(name=name, places=places, count=nodes)
    reached = np.zeros(nodes, dtype=np.bool_)
    reached[sources] = True
    for _ in range(depth):
        reached[heads[reached[tails]]] = True
    reached[sources] = False
    return strongest(scores=np.where(reached, propagated, 0.0), count=count)
