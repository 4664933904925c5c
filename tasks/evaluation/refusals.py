"""Refusals of an evaluation without a model: what they are fitted on, and how often they are wrong and right out of fold."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor

import numpy as np
import polars as pl

from storage.records.evaluations import SCORED, Asked, BenchmarkQuestion
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.probability import FitError
from tasks.algorithms.refusal import FEATURES, fit_refusal, refused_out_of_fold
from tasks.asking.weights import RefusalWeights
from tasks.evaluation.scoring import REFUSED_RIGHTLY, REFUSED_WRONGLY, AskedBy, document_of

FOLDS, SEEDS = 5, 5
SHARES = tuple(share / 10 for share in range(1, 10))
REFUSED_AT = "refused where the unanswerable are to "
OUT_OF_FOLD = ", out of fold"
FEWEST = 10
"""The fewest questions with an answer, and without one, that refusal weights are fitted to."""


@dataclass(frozen=True, slots=True)
class RefusalExamples:
    """The questions of a dataset whose refusals have features (n, 4), 1 where nothing answers (n,), and their documents."""

    questions: tuple[BenchmarkQuestion, ...]
    features: FloatArray
    unanswerable: FloatArray

    @property
    def documents(self) -> list[str]:
        return list(map(document_of, self.questions))


def refusal_examples(questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked]) -> RefusalExamples:
    """Collect the results of an arm; questions that a model read, or whose document could not be read, are left out."""
    found = tuple(question for question in questions if asked[question.id].doubts)
    features = np.array([asked[question.id].doubts for question in found]).reshape(len(found), len(FEATURES))
    return RefusalExamples(found, features, np.array([float(not question.answerable) for question in found]))


def fitted_refusal(questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked]) -> RefusalWeights | None:
    """Return the weights that refuse half of the unanswerable; None where there are too few to fit them: those shipped hold on."""
    examples = refusal_examples(questions, asked)
    if min(examples.unanswerable.sum(), (1.0 - examples.unanswerable).sum()) < FEWEST:
        return None
    try:
        logistic, threshold = fit_refusal(examples.features, examples.unanswerable)
    except FitError:
        return None
    return RefusalWeights(bias=logistic.bias, weights=logistic.weights, threshold=floor(threshold * 1e6) / 1e6)


def score_refusals(questions: Sequence[BenchmarkQuestion], asked: AskedBy) -> tuple[pl.DataFrame, tuple[str, ...]]:
    """Return scores out of fold, at fixed shares of refused unanswerable ones and at the fitted threshold; why an arm has none.

    Where a model read there is nothing to fit.
    """
    rows, notes = [], list[str]()
    for arm, found in asked.items():
        examples = refusal_examples(questions, found)
        if not examples.questions:
            continue
        try:
            refused = refused_out_of_fold(
                examples.features, examples.unanswerable, examples.documents, shares=SHARES, folds=FOLDS, seeds=SEEDS
            )
        except FitError as error:
            notes.append(f"no refusals out of fold for {arm}: {error}")
            continue
        for place, question in enumerate(examples.questions):
            worth = {f"{REFUSED_AT}{share:.0%}": value for share, value in zip(SHARES, refused.at[place].tolist(), strict=True)}
            known = worth if question.answerable else {}
            known[(REFUSED_WRONGLY if question.answerable else REFUSED_RIGHTLY) + OUT_OF_FOLD] = float(refused.fitted[place])
            rows += [(arm, question.id, document_of(question), metric, value) for metric, value in known.items()]
    return pl.DataFrame(rows, schema=SCORED, orient="row"), tuple(notes)
