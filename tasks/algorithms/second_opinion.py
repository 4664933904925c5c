"""A second embedder's opinion on the best pages of a ranking: log score + w z.

z is the page's best cosine, standardised over these pages: a model whose cosines all lie near 0.8 weighs as much as another.
"""

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, best_of_pages


def best_pages(*, scores: FloatArray, pages: IntArray, count: int) -> IntArray:
    """Return the numbers of the `count` pages whose best node scores highest and above 0, the best first, equal ones by number."""
    best = best_of_pages(values=scores, pages=pages)
    order = np.argsort(-best, kind="stable")[:count]
    return np.asarray(order[best[order] > 0])


def standardised(cosines: FloatArray) -> FloatArray:
    """Return (c - mean) / deviation of the pages' cosines (p,); 0 where all are equal."""
    deviation = cosines.std() if len(cosines) else 0.0
    return np.asarray((cosines - cosines.mean()) / deviation) if deviation > 0 else np.zeros(len(cosines))


def with_second_opinion(*, scores: FloatArray, pages: IntArray, best: IntArray, cosines: FloatArray, weight: float) -> FloatArray:
    """Return the nodes' scores (n,), in [0, 1] as they came, with those on the pages `best` (p,) times exp(w z).

    `cosines` (p,) are those pages'. So the log of a page's score, which is its best node's, grows by w z, and the nodes of a page
    keep their order. Where one would pass 1 all are scaled down alike.
    """
    factors = np.ones(int(pages.max(initial=-1)) + 1)
    factors[best] = np.exp(weight * standardised(cosines))
    lifted = scores * factors[pages]
    return np.asarray(lifted / max(1.0, float(lifted.max(initial=0.0))))
