"""Relevance r, propagation phi, diffusion psi and the combined score h of the nodes (FlowReader, section 3.3)."""

import numpy as np

from storage.records.documents import Vectors
from tasks.algorithms.arrays import FloatArray, IntArray, require_finite_vectors, require_range, snap_fine

ROWS_AT_ONCE = 128
"""Rows that fit the processor's cache."""


def dense_relevance(*, query: Vectors, vectors: Vectors) -> FloatArray:
    """Return max(cos(q, e_i), 0) for each of n nodes (r^dense of section 3.3), in [0, 1].

    Vectors are unit or zero; ValueError names the first that holds a number that is not finite.
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
        tails, heads: (m,), u and v of each arc u -> v; a symmetric relation is two arcs, parallel arcs add up.
        weights: (m,), p_uv, at least 0.
        anchor: alpha_phi, in [0, 1): the share of the predecessors' mean; the node's own relevance has the rest.
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


def personalized_pagerank(
    *,
    nodes: int,
    tails: IntArray,
    heads: IntArray,
    weights: FloatArray,
    seeds: IntArray,
    seed_weights: FloatArray,
    damping: float,
    tolerance: float,
    max_steps: int,
) -> FloatArray:
    """Return how often a walker from the seeds is at each node (nodes,): psi of section 3.3, summing to 1.

    The walker follows arcs by weight, and with 1 - damping, or where no arc leads on, returns to a seed by its weight. It stops
    by networkx's rule, when the sum of all changes is below nodes * tolerance; it starts at the seeds, where networkx
    starts everywhere, so that a node that no walk reaches has exactly 0.

    Args:
        tails, heads: (m,), where each arc begins and ends; parallel arcs add up.
        weights: (m,), at least 0.
        seeds: (s,), nodes to return to; without any, all results are 0.
        seed_weights: (s,), at least 0; the same where they are all 0.
        damping: in [0, 1).
        max_steps: ValueError where that many do not settle it.
    """
    require_range(name="arc weights", values=weights, low=0.0, high=np.inf)
    require_range(name="seed weights", values=seed_weights, low=0.0, high=np.inf)
    restart = np.bincount(seeds, weights=seed_weights, minlength=nodes)
    if not restart.sum() > 0:
        return np.zeros(nodes)
    restart = restart / restart.sum()
    outgoing = np.bincount(tails, weights=weights, minlength=nodes)
    dangling = np.flatnonzero(outgoing == 0)
    leaving = outgoing[tails]
    shares = np.divide(weights, leaving, out=np.zeros(len(weights)), where=leaving > 0)
    visits, change = restart, np.inf
    for _ in range(max_steps):
        followed = np.bincount(heads, weights=shares * visits[tails], minlength=nodes)
        updated = damping * followed + (1.0 - damping + damping * visits[dangling].sum()) * restart
        change = np.abs(updated - visits).sum()
        visits = updated
        if change < nodes * tolerance:
            return np.asarray(visits)
    raise ValueError(f"PageRank still moves by {change:.3g} after {max_steps} steps; allow more steps or lower the damping")


def scaled_by_maximum(values: FloatArray) -> FloatArray:
    """Return the values (n,), at least 0, over their maximum; all 0 where that is 0.

    psi sums to 1 over the graph while r and phi come near 1: unscaled it would count for nothing.
    """
    require_range(name="values", values=values, low=0.0, high=np.inf)
    highest = values.max(initial=0.0)
    return values / highest if highest > 0 else np.zeros(len(values))


def combined_score(*, relevance: FloatArray, propagated: FloatArray, diffused: FloatArray, weights: FloatArray) -> FloatArray:
    """Return h = lambda_r r + lambda_phi phi + lambda_psi psi (n,), in [0, 1] where all three are.

    The weights are the three lambdas, each at least 0, which sum to 1.
    """
    scores = weights[0] * relevance + weights[1] * propagated + weights[2] * diffused
    require_range(name="combined scores", values=scores, low=0.0, high=np.inf)
    # A mean cannot exceed what it is the mean of, but its last bit can, and a capacity above 1 is an error later on.
    return np.asarray(np.minimum(scores, np.maximum(np.maximum(relevance, propagated), diffused)))
