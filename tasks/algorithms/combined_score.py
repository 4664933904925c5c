"""The combined score h, which decides sources, costs and capacities (FlowReader, section 3.3)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.checks import require_range
from tasks.algorithms.cosines import FloatArray

WEIGHT_ERROR = 1e-9
"""How far from 1 the weights may sum: more than decimals lose in binary, less than anyone writes."""


def combined_score(*, relevance: FloatArray, propagated: FloatArray, diffused: FloatArray, weights: FloatArray) -> FloatArray:
    """Return h = lambda_r r + lambda_phi phi + lambda_psi psi (n,), in [0, 1] where all three are.

    Args:
        relevance: (n,), r.
        propagated: (n,), phi.
        diffused: (n,), psi, scaled to be comparable with the others.
        weights: (3,), the lambdas in this order. ValueError where they are not three, one is negative or their sum is not 1.
    """
    if weights.shape != (3,) or not ((weights >= 0).all() and abs(weights.sum() - 1.0) <= WEIGHT_ERROR):
        raise ValueError(f"the weights of the combined score are {weights.tolist()}; give three from 0 to 1 that sum to 1")
    scores = weights[0] * relevance + weights[1] * propagated + weights[2] * diffused
    require_range(name="combined scores", values=scores, low=0.0, high=np.inf)
    # A mean cannot exceed what it is the mean of, but its last bit can, and a capacity above 1 is an error later on.
    return np.asarray(np.minimum(scores, np.maximum(np.maximum(relevance, propagated), diffused)))
