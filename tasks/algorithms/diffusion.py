"""Locality diffusion psi: personalized PageRank around the nodes most relevant to the question (FlowReader, section 3.3)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.checks import require_range
from tasks.algorithms.cosines import FloatArray, IntArray
from tasks.algorithms.strongest import strongest


def top_seeds(*, relevance: FloatArray, count: int) -> IntArray:
    """Return the at most `count` nodes of greatest relevance above 0, the greatest first, equal ones by index."""
    require_range(name="relevance", values=relevance, low=0.0, high=np.inf)
    return strongest(scores=relevance, count=count)


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
        nodes: number of nodes.
        tails: (m,), where each arc begins; parallel arcs add up.
        heads: (m,), where it ends.
        weights: (m,), at least 0.
        seeds: (s,), nodes to return to; without any, all results are 0.
        seed_weights: (s,), at least 0; the same where they are all 0.
        damping: in [0, 1).
        tolerance: above 0.
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

    psi sums to 1 over the graph while r and phi come near 1: unscaled it would say nothing beside them.
    """
    require_range(name="values", values=values, low=0.0, high=np.inf)
    highest = values.max(initial=0.0)
    return values / highest if highest > 0 else np.zeros(len(values))
