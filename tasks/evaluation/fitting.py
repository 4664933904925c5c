"""The weights of pages' probabilities, fitted to questions whose evidence is known, and what sets of probable pages are worth.

Out of fold: the pages of each question are weighed by a fit that did not see its document.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.flow.sizes import WEIGHED_PAGES, completeness, most_probable, pages_worth, price_for
from tasks.algorithms.metrics.rankings import cut_of_mean, shares_of_cut
from tasks.algorithms.probability import FitError, Logistic, fit_logistic, folds_by_document, probabilities

Size = TypeVar("Size", bound=int)
FOLDS, SEEDS = 5, 5
STRENGTH = 1.0
SIZES = tuple(half / 2 for half in range(6, 17))
"""Pages on average: 3, 3.5, ..., 8."""
USUAL_SIZE = 5.0
"""The pages whose calibration is measured are those of sets of so many."""

Weighed = Sequence[FloatArray]
"""For each question the probabilities (P,) of its pages, in the order of the ranking."""


@dataclass(frozen=True, slots=True, eq=False)
class Example:
    """A question: features (P, 6) of its first ranked pages, 1 for those that are evidence (P,), and how many are in all."""

    document: str
    features: FloatArray
    gold: FloatArray
    needed: int


@dataclass(frozen=True, slots=True, eq=False)
class SetsMeasured:
    """How often all evidence is there, for each of SIZES and n questions (S, n), in 0..1: the mean over the seeds.

    `const`: in the ranking cut at one number with the same mean; `same_each`: cut to as many pages question by question.
    Of the pages in the sets of USUAL_SIZE, of all seeds, (m,): their probability, 1 for evidence, and their question.
    """

    whole: FloatArray
    const: FloatArray
    same_each: FloatArray
    rival_const: FloatArray | None
    predicted: FloatArray
    held: FloatArray
    questions: IntArray


def fit_pages(examples: Sequence[Example]) -> Logistic:
    """Return the weights that these questions, one or more, make most likely; raise FitError where all pages are alike."""
    features, gold = (np.concatenate(parts) for parts in zip(*((one.features, one.gold) for one in examples), strict=True))
    return fit_logistic(features, gold, strength=STRENGTH)


def weigh(examples: Sequence[Example], logistic: Logistic) -> Weighed:
    return [probabilities(one.features, logistic) for one in examples]


def weigh_out_of_fold(examples: Sequence[Example]) -> list[Weighed]:
    """Return, for each seed, the probabilities by fits without the question's document; raise FitError where there is one only."""
    documents = [one.document for one in examples]
    if len(set(documents)) == 1:
        raise FitError(
            f"all {len(documents)} questions are of one document, {documents[0]!r}, and what holds there may hold nowhere else"
        )
    weighed: list[Weighed] = []
    for seed in range(SEEDS):
        folds = folds_by_document(documents, folds=FOLDS, seed=seed).tolist()
        fits = {
            fold: fit_pages([one for one, other in zip(examples, folds, strict=True) if other != fold])
            for fold in sorted(set(folds))
        }
        weighed.append([probabilities(one.features, fits[fold]) for one, fold in zip(examples, folds, strict=True)])
    return weighed


def prices_of(weighed: Sequence[Weighed], sizes: Sequence[Size]) -> dict[Size, float]:
    """Return the price of a page at which these questions are worth so many pages on average, for each of `sizes`."""
    complete = [completeness(np.sort(pages)[::-1]) for seed in weighed for pages in seed if len(pages)]
    # Four digits: what they say beyond depends on the machine.
    return {size: float(f"{price_for(complete, pages=size):.4g}") for size in sizes}


def measure_sets(examples: Sequence[Example], weighed: Sequence[Weighed], rival: Sequence[FloatArray] | None) -> SetsMeasured:
    """Return what sets of the most probable pages are worth; `rival` is another ranking of each question, 1 for evidence (P,)."""
    needed, everyone = [one.needed for one in examples], np.arange(len(examples))
    rankings = [[one.gold for one in examples]] + ([list(rival)] if rival else [])
    own, *other = ((_whole_after(ranking, needed), np.array(list(map(len, ranking)))) for ranking in rankings)
    found = np.zeros((3 + len(other), len(SIZES), len(examples)))
    predicted, held, asked = [], [], []
    for seed in weighed:
        orders = [most_probable(pages) for pages in seed]
        complete = [completeness(pages[order]) for pages, order in zip(seed, orders, strict=True)]
        sets = _whole_after([one.gold[order] for one, order in zip(examples, orders, strict=True)], needed)
        for place, size in enumerate(SIZES):
            price = price_for([one for one in complete if len(one)], pages=size)
            counts = np.array([pages_worth(one, price=price) for one in complete])
            cut = [_at_const(*ranking, mean=float(counts.mean())) for ranking in (own, *other)]
            found[:, place] += [sets[everyone, counts], cut[0], own[0][everyone, counts], *cut[1:]]
            if size == USUAL_SIZE:
                read = [order[:count] for order, count in zip(orders, counts.tolist(), strict=True)]
                predicted += [pages[places] for pages, places in zip(seed, read, strict=True)]
                held += [one.gold[places] for one, places in zip(examples, read, strict=True)]
                asked.append(np.repeat(everyone, counts))
    whole, const, same_each, *rivals = found / len(weighed)
    returned = (np.concatenate(predicted), np.concatenate(held), np.concatenate(asked))
    return SetsMeasured(whole, const, same_each, rivals[0] if rivals else None, *returned)


def _whole_after(rankings: Sequence[FloatArray], needed: Sequence[int]) -> FloatArray:
    """Return 1 where all evidence is in the first k = 0..WEIGHED_PAGES pages of each ranking (n, WEIGHED_PAGES + 1)."""
    hits = np.zeros((len(rankings), WEIGHED_PAGES + 1))
    for place, ranking in enumerate(rankings):
        hits[place, 1 : 1 + len(ranking)] = ranking
    return np.asarray(np.cumsum(hits, axis=1) >= np.array(needed)[:, np.newaxis], dtype=np.float64)


def _at_const(whole: FloatArray, lengths: IntArray, *, mean: float) -> FloatArray:
    """Return what the rankings are worth (n,), all cut at the one number that keeps so many pages on average."""
    cut = cut_of_mean(lengths=lengths, mean=min(mean, float(lengths.mean())))
    return np.asarray(sum(share * whole[:, pages] for pages, share in shares_of_cut(cut)))
