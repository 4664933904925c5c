"""System 2's edit of edges: which ones are scored again, and how far a new score may move the old weight (appendix C)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_range
from tasks.algorithms.max_flow import BoolArray
from tasks.algorithms.path_decomposition import SMALLEST_FLOW


def damped_weights(*, old: FloatArray, proposed: FloatArray, damping: float, bound: float) -> FloatArray:
    """Return (1 - damping) old + damping proposed, no further than `bound` from the old weight (appendix C).

    Args:
        old: (m,), in [0, 1]: the similarity in eq. 5.
        proposed: (m,), in [0, 1]: what the scorer says.
        damping: lambda, in [0, 1]; 0 keeps the old, 1 takes the new.
        bound: largest change, at least 0: one call must not turn an edge about.

    Returns:
        (m,), each between the old weight and the one proposed, so in [0, 1].
    """
    for name, values in (("old weights", old), ("proposed weights", proposed), ("damping", damping)):
        require_range(name=name, values=values, low=0.0, high=1.0)
    return np.asarray(np.clip(old + np.clip(damping * (proposed - old), -bound, bound), 0.0, 1.0))


def top_decile_arcs(*, flow: FloatArray) -> IntArray:
    """Return the tenth of the arcs in use that carry the most flow, at least one: largest first, equal flows by index.

    Args:
        flow: (m,), on the edges of the graph, without the arcs of supersource and supersink.
    """
    require_range(name="flows", values=flow, low=0.0, high=np.inf)
    used = np.flatnonzero(flow > SMALLEST_FLOW)
    order = np.argsort(-flow[used], kind="stable")
    return used[order[: -(-len(used) // 10)]]


def arcs_at(*, members: BoolArray, tails: IntArray, heads: IntArray) -> IntArray:
    """Return the arcs that begin or end at a member (n,), by index: the edges at cut nodes or at sources."""
    return np.flatnonzero(members[tails] | members[heads])
