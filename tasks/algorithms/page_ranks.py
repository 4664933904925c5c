"""Rankings of pages: by their best node, several made into one, and after other opinions."""

from collections import defaultdict
from collections.abc import Sequence
from math import fsum

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, best_of_pages

OFFSET = 60
"""The k of reciprocal rank fusion (Cormack, Clarke and Buettcher 2009).

The larger it is, the less a first place in one ranking weighs against middling places in several."""


def fuse_rankings(rankings: Sequence[Sequence[tuple[str, int]]]) -> dict[tuple[str, int], float]:
    """Return for each page, a document's id and a number, the sum of 1 / (60 + rank) over the rankings that have it.

    The best comes first, equal ones by document and page. Ranks count from 1; a page that a ranking has twice counts there once.
    """
    shares = defaultdict[tuple[str, int], list[float]](list)
    for ranking in rankings:
        for rank, page in enumerate(dict.fromkeys(ranking), start=1):
            shares[page].append(1 / (OFFSET + rank))
    # fsum: the same ranks in another order of the rankings are a tie.
    sums = {page: fsum(parts) for page, parts in shares.items()}
    return dict(sorted(sums.items(), key=lambda item: (-item[1], item[0])))


def best_pages(*, scores: FloatArray, pages: IntArray, count: int) -> IntArray:
    """Return the numbers of the `count` pages with the highest best node, above 0, the best first, equal ones by number."""
    best = best_of_pages(values=scores, pages=pages)
    order = np.argsort(-best, kind="stable")[:count]
    return np.asarray(order[best[order] > 0])


def standardise(opinions: FloatArray) -> FloatArray:
    """Return z, (c - mean) / deviation of what a model makes of pages (p,), 0 where all are equal: so each model weighs as much."""
    # The deviation of equal numbers is not always 0.
    if not len(opinions) or opinions.min() == opinions.max():
        return np.zeros(len(opinions))
    return np.asarray((opinions - opinions.mean()) / opinions.std())


def with_opinions(
    *, scores: FloatArray, pages: IntArray, best: IntArray, opinions: Sequence[tuple[FloatArray, float]]
) -> FloatArray:
    """Return the nodes' scores (n,), in [0, 1] as they came, with those on the pages `best` (p,) times exp(sum of w z).

    `opinions` are what each model makes of those pages (p,), of any scale, with its weight w. So the log of a page's score, that of
    its best node, grows by the sum, and the nodes of a page keep their order. Where one would pass 1 all are scaled down alike.
    """
    factors = np.ones(int(pages.max(initial=-1)) + 1)
    factors[best] = np.exp(sum(weight * standardise(opinion) for opinion, weight in opinions))
    lifted = scores * factors[pages]
    return np.asarray(lifted / max(1.0, float(lifted.max(initial=0.0))))
