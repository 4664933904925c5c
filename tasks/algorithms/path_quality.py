"""How good each chain is and how little two chains overlap: the game that the replicator dynamics play."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_places, require_range


def jaccard_distances(*, paths: Sequence[Sequence[int]]) -> FloatArray:
    """Return 1 - |shared nodes| / |nodes of either| for each two of the K paths (eq. 7): (K, K), symmetric, in [0, 1], 0 inside.

    Args:
        paths: the nodes of each; a path without nodes raises ValueError.
    """
    _require_nodes(paths)
    numbers = np.concatenate([np.asarray(path, dtype=np.int64) for path in paths]) if paths else np.zeros(0, dtype=np.int64)
    owners = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
    distinct, columns = np.unique(numbers, return_inverse=True)
    members = np.zeros((len(paths), len(distinct)))
    members[owners, columns] = 1.0
    # Sums of ones are exact in any order, so equal sets are at a distance of exactly 0.
    shared = members @ members.T
    sizes = members.sum(axis=1)
    return np.asarray(1.0 - shared / (sizes[:, None] + sizes[None, :] - shared))


def path_qualities(
    *,
    paths: Sequence[Sequence[int]],
    flows: FloatArray,
    scores: FloatArray,
    flow_exponent: float,
    peak_exponent: float,
    mean_exponent: float,
) -> FloatArray:
    """Return q_k = (b_k / max b)^a (max h)^b (mean h)^c for each of the K paths (section 3.5.1): (K,), in [0, 1] for h in [0, 1].

    Args:
        paths: the distinct nodes of each; a path without nodes raises ValueError.
        flows: (K,), at least 0; where all are 0, so is every relative flow.
        scores: (n,), h, at least 0.
        flow_exponent: a, at least 0; 0 leaves the signal out.
        peak_exponent: b, likewise.
        mean_exponent: c, likewise. The paper's "length-weighted mean" is read as the sum of h over the number of nodes.
    """
    _require_nodes(paths)
    require_range(name="flows", values=flows, low=0.0, high=np.inf)
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    require_range(name="exponents", values=[flow_exponent, peak_exponent, mean_exponent], low=0.0, high=np.inf)
    for path in paths:
        require_places(name="paths", places=path, count=len(scores))
    largest = flows.max(initial=0.0)
    relative = flows / largest if largest > 0 else np.zeros(len(paths))
    peaks = np.array([scores[list(path)].max() for path in paths])
    means = np.array([scores[list(path)].mean() for path in paths])
    return np.asarray(relative**flow_exponent * peaks**peak_exponent * means**mean_exponent)


def payoff_matrix(*, qualities: FloatArray, distances: FloatArray, diagonal: float) -> FloatArray:
    """Return the payoffs of eq. 8: q_k^diagonal for a path against itself, sqrt(q_k q_l) d_kl for two; (K, K), symmetric.

    Args:
        qualities: (K,), at least 0.
        distances: (K, K), in [0, 1].
        diagonal: the power of q on the diagonal, above 0. The paper's 2 lets diversity weigh more than quality where q < 1; with 1
            two paths without a common node and a path alone are measured alike.
    """
    require_range(name="qualities", values=qualities, low=0.0, high=np.inf)
    require_range(name="distances", values=distances, low=0.0, high=1.0)
    payoff = np.sqrt(np.outer(qualities, qualities)) * distances
    np.fill_diagonal(payoff, qualities**diagonal)
    return payoff


def _require_nodes(paths: Sequence[Sequence[int]]) -> None:
    empty = [place for place, path in enumerate(paths) if not len(path)]
    if empty:
        raise ValueError(f"path {empty[0]} of {len(paths)} has no nodes; leave it out")
