"""Whether the documents answer a question at all: what that probability is made of, how it is fitted, from where on to refuse."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

import numpy as np

from tasks.algorithms.arrays import BoolArray, FloatArray
from tasks.algorithms.probability import FitError, Logistic, fit_logistic, folds_by_document, probabilities

FEATURES = ("a name is missing", "names apart", "surveys", "nearest")
"""What the probability is made of, in the order of `refusal_features`."""
STRENGTH = 10.0
"""Cosines of questions lie close together, so that their weight must be free to be large."""
REFUSED, LOST = 0.5, 0.1
"""The share of unanswerable questions that the fitted threshold refuses, unless it would refuse more than LOST of the others."""


def refusal_features(*, rarity: FloatArray, present: BoolArray, held: BoolArray, surveys: bool, nearest: float) -> FloatArray:
    """Return what the probability that nothing answers is made of (4,), as `FEATURES` names it.

    1 where a name of the question stands nowhere; what the best page lacks of them, by their rarity, 0 where there is none; whether
    the question surveys; the cosine.

    Args:
        rarity: (a,), of each name, year and number of the question, at least 0.
        present: (a,), which of them stand anywhere in what is asked.
        held: (P, a), which stand on each of the best pages.
        surveys: whether the question counts or collects all over a document: that has an answer, if only "none".
        nearest: the largest cosine of a node to the question.
    """
    whole, together = float(rarity.sum()), float((held @ rarity).max(initial=0.0))
    apart = 1.0 - together / whole if whole > 0.0 else 0.0
    return np.array([float(not present.all()), apart, float(surveys), nearest])


def refusing_from(doubts: FloatArray, share: float) -> float:
    """Return the probability from which on at least this share, in (0, 1], of one or more unanswerable questions is refused."""
    return float(np.sort(doubts)[::-1][ceil(share * len(doubts)) - 1])


def fit_refusal(features: FloatArray, unanswerable: FloatArray) -> tuple[Logistic, float]:
    """Return the weights and the threshold, from (n, 4) and (n,), 0 or 1; else FitError.

    It refuses half of the unanswerable, or fewer, where that would refuse more than a tenth of the others.
    """
    logistic = fit_logistic(features, unanswerable, strength=STRENGTH)
    doubts = probabilities(features, logistic)
    return logistic, max(refusing_from(doubts[unanswerable == 1.0], REFUSED), refusing_from(doubts[unanswerable == 0.0], LOST))


@dataclass(frozen=True, slots=True)
class OutOfFold:
    """How often each of n questions is refused by weights that were fitted without its document, over all seeds, 0..1.

    `at` (n, shares): where that share of the unanswerable is; `fitted` (n,): at the threshold that was fitted with the weights.
    """

    at: FloatArray
    fitted: FloatArray


def refused_out_of_fold(
    features: FloatArray, unanswerable: FloatArray, documents: Sequence[str], *, shares: Sequence[float], folds: int, seeds: int
) -> OutOfFold:
    """Fit on all folds but one, by document, and refuse in that one; FitError where what is left cannot be fitted."""
    if not unanswerable.any():
        raise FitError(f"none of the {len(unanswerable)} questions is without an answer; nothing can be refused rightly")
    at, fitted = np.zeros((len(features), len(shares))), np.zeros(len(features))
    for seed in range(seeds):
        places, doubts = folds_by_document(documents, folds=folds, seed=seed), np.zeros(len(features))
        for fold in np.unique(places):
            inside = places == fold
            logistic, threshold = fit_refusal(features[~inside], unanswerable[~inside])
            doubts[inside] = probabilities(features[inside], logistic)
            fitted[inside] += doubts[inside] >= threshold
        starts = [refusing_from(doubts[unanswerable == 1.0], share) for share in shares]
        at += doubts[:, np.newaxis] >= np.array(starts)
    return OutOfFold(at / seeds, fitted / seeds)
