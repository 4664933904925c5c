"""What the second looks at the best pages are worth: their weights by a fit, and rankings by weights that others give them.

The log of a page's score grows by w z for each look, so a ranking at other weights needs no question asked again.
"""

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np
import polars as pl

from storage.records.documents import PageKey
from storage.records.evaluations import SCORED, Asked, BenchmarkQuestion, PageOf
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.flow.sizes import WEIGHED_PAGES
from tasks.algorithms.metrics.rankings import recall
from tasks.algorithms.probability import folds_by_document
from tasks.asking.second_look import SecondLooks
from tasks.evaluation.refusals import FOLDS, OUT_OF_FOLD, SEEDS
from tasks.evaluation.scoring import document_of

TRIED = (0.0, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)
"""Weights of a look: at 0.8 a page two deviations above the mean is worth five times what it was."""
CUTOFFS = (1, 3, 5)
Weighing = Mapping[str, float]
"""The weight of each look, by the name of its setting."""
NO_LOOKS: Weighing = {}


def look_rows(pages: Sequence[PageKey], looked: Sequence[SecondLooks]) -> dict[str, tuple[float, ...]]:
    """Return for each look its weight, then z of each of the first ranked pages, 0 where it was not looked at."""
    seen = {name: (weight, dict(zip(one.pages, z.tolist(), strict=True))) for one in looked for name, weight, z in one.opinions}
    return {
        name: (weight, *(round(of_page.get(page, 0.0), 4) for page in pages[:WEIGHED_PAGES]))
        for name, (weight, of_page) in seen.items()
    }


def ranked_at(asked: Asked, weights: Weighing) -> list[tuple[PageOf, float]]:
    """Return the first pages with their scores, the best first, as these weights rank them; a look without one keeps its own."""
    grown = np.zeros(len(asked.scores))
    for name, (weight, *z) in asked.looks.items():
        grown += (weights.get(name, weight) - weight) * np.array(z)
    scores = np.array(asked.scores) * np.exp(grown)
    order = np.argsort(-scores, kind="stable").tolist()
    return [(asked.ranked[place], float(scores[place])) for place in order]


def fit_looks(questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked]) -> dict[str, float]:
    """Return the weights at which recall@1, 3 and 5 of these questions is highest together, of equals the smallest in all.

    A look that is worth nothing gets 0.
    """
    tried, every = _recalls_of_tried(questions, asked, asked)
    return dict(tried[_best(every)])


def score_looks(
    arm: str, questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked], fitted_to: Mapping[str, Asked]
) -> pl.DataFrame:
    """Return recall without second looks, and with weights fitted without the question's document, the mean of the seeds.

    `fitted_to` is what came of the questions where the weights are fitted.
    """
    documents = list(map(document_of, questions))
    tried, every = _recalls_of_tried(questions, asked, fitted_to)
    if tried == [{}] or len(set(documents)) == 1:
        return pl.DataFrame(schema=SCORED)
    fitted = every if asked is fitted_to else _recalls_of_tried(questions, fitted_to, fitted_to)[1]
    found = np.zeros(every.shape[1:])
    for seed in range(SEEDS):
        folds = folds_by_document(documents, folds=FOLDS, seed=seed)
        for fold in np.unique(folds):
            found[folds == fold] += every[_best(fitted[:, folds != fold]), folds == fold] / SEEDS
    rows = [
        (arm, question.id, document_of(question), f"recall@{cutoff}{what}", float(values[place, column]))
        for what, values in ((" without second looks", every[0]), (f" with second looks{OUT_OF_FOLD}", found))
        for place, question in enumerate(questions)
        for column, cutoff in enumerate(CUTOFFS)
    ]
    return pl.DataFrame(rows, schema=SCORED, orient="row")


def _best(every: FloatArray) -> int:
    # rounded: the order of the questions must not decide between equals
    return int(np.argmax(np.round(every.mean(axis=(1, 2)), 9)))


def _recalls_of_tried(
    questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked], fitted_to: Mapping[str, Asked]
) -> tuple[list[Weighing], FloatArray]:
    """Return what is tried, the smallest weights first, and recall at each cutoff (tried, questions, cutoffs)."""
    names = sorted({name for one in fitted_to.values() for name in one.looks})
    tried = [dict(zip(names, weights, strict=True)) for weights in sorted(product(TRIED, repeat=len(names)), key=sum)]
    return list(tried), np.array([[_recalls(question, asked[question.id], weights) for question in questions] for weights in tried])


def _recalls(question: BenchmarkQuestion, asked: Asked, weights: Weighing) -> list[float]:
    ranked = [page for page, _score in ranked_at(asked, weights)]
    return [recall(returned=ranked[:cutoff], gold=question.evidence) for cutoff in CUTOFFS]
