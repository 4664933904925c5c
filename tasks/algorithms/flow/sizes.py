"""How many pages a question is worth: calibrated probabilities of its pages, and reading on while a page is worth its price."""

from collections.abc import Sequence

import numpy as np

from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray, require_range

WEIGHED_PAGES = 40
"""Pages of a question that have a probability, the best of the ranking: no answer of more pages is worth its price."""
COMPLETENESS = 0.5
"""alpha of `completeness`: pages that are missed are missed together. Between 0.25 and 0.7 all are within 0.2 points."""
LEAST_RATIO = 0.02
"""Below it a page's ratio to the best says nothing more; its logarithm would."""
LARGEST_PROBABILITY = 1.0 - 1e-9
LARGEST_PRICE = 1.0
HALVINGS = 50

FEATURES = ("ratio", "rank", "collects", "collects by rank", "follows", "best")
"""What the probability of a page is made of, in the order of `page_features`."""


def page_features(*, scores: FloatArray, follows: BoolArray, collects: bool) -> FloatArray:
    """Return, for each page in the order of the ranking, what its probability is made of (P, 6), as `FEATURES` names them.

    ln(h / max h), at least that of LEAST_RATIO; ln(1 + rank), from 0; whether the question counts or collects, and that times the
    rank's: its evidence goes on over further ranks; whether the page follows the best page, and whether it is the best itself.

    Args:
        scores: (P,), h, the best first, at least 0.
        follows: (P,), which page stands behind the best one.
        collects: of the question.
    """
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    ratios = np.log(np.maximum(scores / (scores.max(initial=0.0) or 1.0), LEAST_RATIO))
    ranks, asked = np.log1p(np.arange(len(scores))), np.full(len(scores), float(collects))
    best = (ranks == 0).astype(np.float64)
    return np.stack([ratios, ranks, asked, asked * ranks, follows.astype(np.float64), best], axis=1)


def completeness(probabilities: FloatArray) -> FloatArray:
    """Return F(k) for k = 1..P (P,): how little the k most probable pages leave out; no probability.

    F(k) = prod_{i > k} (1 - p_i)^alpha; the pages (P,) come in falling order of p.
    """
    missed = np.log1p(-np.minimum(probabilities, LARGEST_PROBABILITY))
    behind = np.cumsum(missed[::-1])[::-1]
    return np.asarray(np.exp(COMPLETENESS * np.append(behind, 0.0)[1:]))


def pages_worth(complete: FloatArray, *, price: float) -> int:
    """Return k* = argmax F(k) - price k, the least of equals, from F (P,) of `completeness`; 0 where there is no page."""
    return 1 + int(np.argmax(complete - price * np.arange(1, len(complete) + 1))) if len(complete) else 0


def price_for(questions: Sequence[FloatArray], *, pages: float) -> float:
    """Return the price at which these questions, each by its F (P,), P at least 1, are worth `pages` pages on average.

    The mean falls as the price rises, by steps; of the two prices at a step this is the higher, where fewer pages are read.
    """
    steps = np.arange(1, max(map(len, questions)) + 1)
    complete = np.full((len(questions), len(steps)), -np.inf)
    for place, one in enumerate(questions):
        complete[place, : len(one)] = one
    low, high = 0.0, LARGEST_PRICE
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        if 1 + np.argmax(complete - middle * steps, axis=1).mean() > pages:
            low = middle
        else:
            high = middle
    return high


def most_probable(probabilities: FloatArray) -> IntArray:
    """Return the places of the pages, the most probable first, equal ones by place."""
    return np.asarray(np.argsort(-probabilities, kind="stable"))
