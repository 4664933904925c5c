"""The neighbourhood of some nodes: what a hop or two of arcs reach, the strongest first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from storage.adjacency import Adjacency, IntArray


def expand(adjacency: Adjacency, seeds: IntArray, *, hops: int, limit: int, allowed: npt.NDArray[np.bool_] | None) -> IntArray:
    """Return at most `limit` positions, the seeds first, then what each hop reaches; only `allowed` (n,) ones, all without it.

    A hop follows arcs either way. Within a hop the nodes come by their strongest arc from the hop before, ties by id.
    """
    open_to_hops = np.ones(len(adjacency.ids), bool) if allowed is None else allowed.copy()
    found = [seeds[:limit]]
    for _ in range(hops):
        open_to_hops[found[-1]] = False
        _owners, listed = adjacency.arcs_of(found[-1])
        heads = adjacency.heads[listed]
        way = open_to_hops[heads]
        found.append(_strongest(adjacency, heads[way], adjacency.weights[listed[way]])[: limit - sum(map(len, found))])
    return np.concatenate(found)


def _strongest(adjacency: Adjacency, heads: IntArray, weights: npt.NDArray[np.float64]) -> IntArray:
    """Return each head once, by falling weight of its strongest arc, ties by id."""
    reached, which = np.unique(heads, return_inverse=True)
    best = np.full(len(reached), -np.inf)
    np.maximum.at(best, which, weights)
    by_id = np.argsort(adjacency.ids[reached])
    return reached[by_id[np.argsort(-best[by_id], kind="stable")]].astype(np.int64)
