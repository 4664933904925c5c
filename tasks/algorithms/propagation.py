"""Structural propagation phi: relevance that flows along the arcs of the graph (FlowReader, eq. 3 and 4)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.checks import require_range
from tasks.algorithms.cosines import FloatArray, IntArray

EPSILON = 1e-12
"""The epsilon of eq. 4. It only keeps 0 from being divided by 0, so it is far below any weight that means something."""


def propagation_weights(cosines: FloatArray) -> FloatArray:
    """Return p = c sqrt(1 - c^2) of each arc, c = max(cos, 0) and at most 1 (eq. 3): in [0, 0.5], greatest at c = sqrt(1/2)."""
    require_range(name="cosines", values=cosines, low=-np.inf, high=np.inf)
    rectified = np.clip(cosines, 0.0, 1.0)
    return np.asarray(rectified * np.sqrt(1.0 - rectified * rectified))


def propagate(
    *,
    relevance: FloatArray,
    tails: IntArray,
    heads: IntArray,
    weights: FloatArray,
    anchor: float,
    tolerance: float,
    max_steps: int,
    keep_unreached: bool,
) -> FloatArray:
    """Iterate eq. 4 from phi = r until no node changes by `tolerance` or more, and return phi (n,), in [0, max r].

    Step k changes no node by more than alpha_phi^k max r, so 1 + log(tolerance / max r) / log(alpha_phi) steps always settle it.

    Args:
        relevance: (n,), r, at least 0.
        tails: (m,), the predecessor u of each arc u -> v; a symmetric relation is two arcs, parallel arcs add up.
        heads: (m,), the v of each arc.
        weights: (m,), p_uv, at least 0.
        anchor: alpha_phi, in [0, 1): the share of the predecessors' mean; the node's own relevance has the rest.
        tolerance: above 0.
        max_steps: ValueError where that many do not settle it.
        keep_unreached: whether a node without predecessors (or only with such that weigh nothing) keeps r. By eq. 4 it has
            (1 - alpha_phi) r: it loses to linked nodes for having no links, which says nothing of what it holds,
            and the figures and tables that evolution left unlinked are such nodes.
    """
    require_range(name="relevance", values=relevance, low=0.0, high=np.inf)
    require_range(name="propagation weights", values=weights, low=0.0, high=np.inf)
    nodes = len(relevance)
    incoming = np.bincount(heads, weights=weights, minlength=nodes)
    shares = anchor * weights / (incoming[heads] + EPSILON)
    own = (1.0 - anchor) * relevance
    if keep_unreached:
        unreached = incoming <= EPSILON
        own[unreached] = relevance[unreached]
        shares[unreached[heads]] = 0.0
    scores, change = relevance, np.inf
    for _ in range(max_steps):
        updated = own + np.bincount(heads, weights=shares * scores[tails], minlength=nodes)
        change = np.abs(updated - scores).max(initial=0.0)
        scores = updated
        if change < tolerance:
            return scores
    raise ValueError(f"the propagation still moves by {change:.3g} after {max_steps} steps; allow more steps or more tolerance")
