"""Sizes by probability in an evaluation: the weights that it fits, what sets of probable pages are worth, their calibration."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

import numpy as np
import polars as pl

from storage.errors import RequestError
from storage.records.evaluations import SCORED, Asked, BenchmarkQuestion, Figure
from tasks.algorithms.arrays import IntArray
from tasks.algorithms.flow.sizes import WEIGHED_PAGES
from tasks.algorithms.metrics.bootstrap import resampled_interval
from tasks.algorithms.probability import FitError, Logistic, brier_score, calibration_error
from tasks.asking.deciding import code_identity
from tasks.asking.weights import Provenance, ScopeWeights, Weights
from tasks.evaluation.arms import OF_CORPUS, OF_DOCUMENT
from tasks.evaluation.fitting import (
    FOLDS,
    SEEDS,
    SIZES,
    Example,
    SetsMeasured,
    fit_pages,
    measure_sets,
    prices_of,
    weigh,
    weigh_out_of_fold,
)
from tasks.evaluation.plan import EvaluationPlan, Results
from tasks.evaluation.refusals import fitted_refusal
from tasks.evaluation.scoring import (
    ALL,
    BASELINE,
    CONFIDENCE,
    CONST,
    GAIN,
    PERFECT,
    SAME_EACH,
    SEED,
    document_of,
)
from tasks.routing.sizes import ranked_features
from tasks.settings.readers import PAGES_PER_ANSWER

BY_FOLDS = f"out of fold ({FOLDS} folds by document, {SEEDS} seeds)"
THREE_TO_EIGHT = "3 to 8"
MEANS = {**{f"{size:g}": [SIZES.index(size)] for size in PAGES_PER_ANSWER}, THREE_TO_EIGHT: list(range(len(SIZES)))}
"""The pages on average for which sets are shown: places in SIZES, over which the mean is taken."""
BY_PROBABILITY, OVER_CONST, OVER_SAME_EACH = f"{PERFECT} by probability", f"{GAIN}{CONST}", f"{GAIN}{SAME_EACH}"
OWN_AT_CONST, TOP_K_AT_CONST = f"{PERFECT} of the ranking at {CONST}", f"{PERFECT} of top-k at {CONST}"
SIZED = f"^(.+), mean pages ({'|'.join(MEANS)})$"
CALIBRATION_BINS = 10
CALIBRATION = (f"calibration error, {CALIBRATION_BINS} bins of equal count", "Brier score", "Brier score of the base rate")
CALIBRATION_RESAMPLES = 1_000


def at_mean(what: str, mean: str) -> str:
    return f"{what}, mean pages {mean}"


def examples_of(questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked]) -> list[Example]:
    """Return what came of questions with evidence pages as examples; of those that could not be read there is no page."""
    examples = []
    for question in questions:
        one, gold = asked[question.id], set(question.evidence)
        ranked = [pair for pair in zip(one.ranked[: len(one.scores)], one.scores, strict=True) if pair[1] > 0]
        held = np.array([float(page in gold) for page, _score in ranked])
        examples.append(Example(document_of(question), ranked_features(question.text, ranked), held, len(gold)))
    return examples


def fitted_weights(plan: EvaluationPlan, results: Results) -> Weights:
    """Return the weights of a fit with what they were fitted on; raise RequestError where nothing can be fitted."""
    with _naming(plan):
        document, corpus = (_scope_weights(plan, results.asked[arm]) for arm in (OF_DOCUMENT, OF_CORPUS))
    provenance = Provenance(
        dataset=plan.benchmark.name,
        benchmark=plan.benchmark.hash,
        documents=len(set(map(document_of, plan.with_evidence))),
        questions=len(plan.with_evidence),
        code=code_identity(),
        embedder=results.embedder,
    )
    return Weights(version=1, fitted=provenance, document=document, corpus=corpus)


def _scope_weights(plan: EvaluationPlan, asked: Mapping[str, Asked]) -> ScopeWeights:
    examples = examples_of(plan.with_evidence, asked)
    logistic, weighed = fit_pages(examples), weigh_out_of_fold(examples)
    return ScopeWeights(
        bias=logistic.bias,
        weights=logistic.weights,
        prices=prices_of(weighed, PAGES_PER_ANSWER),
        refusal=fitted_refusal(plan.questions, asked),
    )


def weights_of_flow(plan: EvaluationPlan, results: Results) -> Logistic:
    """Return weights for the scope that was asked of; raise RequestError where nothing can be fitted."""
    with _naming(plan):
        return fit_pages(examples_of(plan.with_evidence, results.asked["flow"]))


@contextmanager
def _naming(plan: EvaluationPlan) -> Iterator[None]:
    try:
        yield
    except FitError as error:
        raise RequestError(f"nothing can be fitted to {plan.benchmark.name!r}: {error}") from error


def scored_sizes(
    plan: EvaluationPlan, results: Results, weights: Logistic | None
) -> tuple[pl.DataFrame, tuple[Figure, ...], tuple[str, ...]]:
    """Return the scores of sets of probable pages for each arm of `flow`, their calibration, and why there are none.

    They are weighed by weights of elsewhere, or out of fold.
    """
    frames, figures, notes = [pl.DataFrame(schema=SCORED)], list[Figure](), list[str]()
    top_k = {arm.whole_corpus: results.asked.get(arm.name) for arm in plan.arms if arm.reader == BASELINE}
    for arm in plan.arms if plan.request.preset == "default" else ():
        if arm.reader != BASELINE:
            try:
                sets = _sets_of(plan.with_evidence, results.asked[arm.name], top_k.get(arm.whole_corpus), weights)
            except FitError as error:
                notes.append(f"no sets by probability for {arm.name}: {error}")
                continue
            frames.append(_scores_of(arm.name, plan.with_evidence, sets))
            figures += _calibration(arm.name, plan.with_evidence, sets)
    return pl.concat(frames), tuple(figures), tuple(notes)


def _sets_of(
    questions: Sequence[BenchmarkQuestion],
    asked: Mapping[str, Asked],
    top_k: Mapping[str, Asked] | None,
    weights: Logistic | None,
) -> SetsMeasured:
    """Return what sets of the most probable pages are worth, by weights of elsewhere, or out of fold; raise FitError."""
    examples = examples_of(questions, asked)
    if not any(len(one.gold) for one in examples):
        raise FitError("no question has a ranked page")
    weighed = [weigh(examples, weights)] if weights else weigh_out_of_fold(examples)
    rival = (
        [
            np.array([float(page in question.evidence) for page in top_k[question.id].ranked[:WEIGHED_PAGES]])
            for question in questions
        ]
        if top_k
        else None
    )
    return measure_sets(examples, weighed, rival)


def _scores_of(arm: str, questions: Sequence[BenchmarkQuestion], sets: SetsMeasured) -> pl.DataFrame:
    worth = {
        BY_PROBABILITY: sets.whole,
        OVER_CONST: sets.whole - sets.const,
        OVER_SAME_EACH: sets.whole - sets.same_each,
        OWN_AT_CONST: sets.const,
        **({TOP_K_AT_CONST: sets.rival_const} if sets.rival_const is not None else {}),
    }
    means = [(at_mean(what, mean), values[places].mean(axis=0)) for what, values in worth.items() for mean, places in MEANS.items()]
    rows = [
        (arm, question.id, document_of(question), metric, float(values[place]))
        for place, question in enumerate(questions)
        for metric, values in means
    ]
    return pl.DataFrame(rows, schema=SCORED, orient="row")


def _calibration(arm: str, questions: Sequence[BenchmarkQuestion], sets: SetsMeasured) -> Iterator[Figure]:
    """Yield how far the probabilities of the pages in sets of USUAL_SIZE can be trusted; the documents are drawn anew."""
    names = sorted({document_of(question) for question in questions})
    clusters = np.array([names.index(document_of(question)) for question in questions])[sets.questions]
    predicted, held = sets.predicted, sets.held
    statistics: Mapping[str, Callable[[IntArray], float]] = {
        CALIBRATION[0]: lambda drawn: calibration_error(predicted[drawn], held[drawn], bins=CALIBRATION_BINS),
        CALIBRATION[1]: lambda drawn: brier_score(predicted[drawn], held[drawn]),
        CALIBRATION[2]: lambda drawn: brier_score(np.full(len(drawn), held[drawn].mean()), held[drawn]),
    }
    for metric, statistic in statistics.items():
        interval = resampled_interval(
            statistic, clusters=clusters, resamples=CALIBRATION_RESAMPLES, confidence=CONFIDENCE, seed=SEED
        )
        yield Figure(arm, ALL, metric, *interval, len(questions), len(names))
