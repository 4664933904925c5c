"""Sizes by probability in an evaluation: the weights that it fits, what sets of probable pages are worth, their calibration.

Out of fold: the pages of each question are weighed by a fit that did not see its document.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
import polars as pl

from storage.errors import RequestError, parts_of
from storage.records.evaluations import SCORED, Asked, BenchmarkQuestion, Figure
from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.flow.sizes import WEIGHED_PAGES, completeness, most_probable, pages_worth, price_for
from tasks.algorithms.metrics.bootstrap import resampled_interval
from tasks.algorithms.metrics.rankings import cut_of_mean, shares_of_cut
from tasks.algorithms.probability import (
    FitError,
    Logistic,
    brier_score,
    calibration_error,
    fit_logistic,
    folds_by_document,
    probabilities,
)
from tasks.asking.deciding import code_identity
from tasks.asking.weights import Provenance, ScopeWeights, Weights
from tasks.evaluation.arms import OF_CORPUS, OF_DOCUMENT
from tasks.evaluation.looks import NO_LOOKS, fit_looks, ranked_at, score_looks
from tasks.evaluation.pieces import fitted_pieces, score_pieces
from tasks.evaluation.plan import EvaluationPlan, Results
from tasks.evaluation.refusals import FOLDS, SEEDS, fitted_refusal
from tasks.evaluation.scoring import ALL, BASELINE, CONFIDENCE, CONST, GAIN, PERFECT, SAME_EACH, SEED, document_of
from tasks.models.reranker import name_of_reranker
from tasks.routing.sizes import ranked_features
from tasks.settings.readers import PAGES_PER_ANSWER

Size = TypeVar("Size", bound=int)
STRENGTH = 1.0
SIZES = tuple(half / 2 for half in range(6, 17))
"""Pages on average: 3, 3.5, ..., 8."""
USUAL_SIZE = 5.0
"""Calibration is measured on the pages of sets of this size."""
THREE_TO_EIGHT = "3 to 8"
MEANS = {**{f"{size:g}": [SIZES.index(size)] for size in PAGES_PER_ANSWER}, THREE_TO_EIGHT: list(range(len(SIZES)))}
"""The pages on average for which sets are shown: places in SIZES, over which the mean is taken."""
BY_PROBABILITY, OVER_CONST, OVER_SAME_EACH = f"{PERFECT} by probability", f"{GAIN}{CONST}", f"{GAIN}{SAME_EACH}"
OWN_AT_CONST, TOP_K_AT_CONST = f"{PERFECT} of the ranking at {CONST}", f"{PERFECT} of top-k at {CONST}"
SIZED = f"^(.+), mean pages ({'|'.join(MEANS)})$"
CALIBRATION_BINS = 10
CALIBRATION = (f"calibration error, {CALIBRATION_BINS} bins of equal count", "Brier score", "Brier score of the base rate")
CALIBRATION_RESAMPLES = 1_000

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
            f"all {len(documents)} questions are about one document, {documents[0]!r}, and what holds there may hold nowhere else"
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
    """Return for each of `sizes` the price of a page at which these questions are worth that many pages on average."""
    complete = [completeness(np.sort(pages)[::-1]) for seed in weighed for pages in seed if len(pages)]
    # Four digits: the rest depends on the machine.
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
    """Return what the rankings are worth (n,), all cut at the one number that keeps this many pages on average."""
    cut = cut_of_mean(lengths=lengths, mean=min(mean, float(lengths.mean())))
    return np.asarray(sum(share * whole[:, pages] for pages, share in shares_of_cut(cut)))


def at_mean(what: str, mean: str) -> str:
    return f"{what}, mean pages {mean}"


def examples_of(
    questions: Sequence[BenchmarkQuestion], asked: Mapping[str, Asked], looks: Mapping[str, float] = NO_LOOKS
) -> list[Example]:
    """Return what came of questions with evidence pages as examples; of those that could not be read there is no page.

    Pages are ranked by these weights of second looks, else by those that they were ranked by.
    """
    examples = []
    for question in questions:
        one, gold = asked[question.id], set(question.evidence)
        ranked = [pair for pair in ranked_at(one, looks) if pair[1] > 0]
        held = np.array([float(page in gold) for page, _score in ranked])
        examples.append(Example(document_of(question), ranked_features(question.text, ranked), held, len(gold)))
    return examples


def fit_weights(plan: EvaluationPlan, results: Results) -> Weights:
    """Return the weights of a fit with what they were fitted on; raise RequestError where nothing can be fitted."""
    with _naming(plan):
        looks = fit_looks(plan.with_evidence, results.asked[OF_DOCUMENT])
        document, corpus = (_scope_weights(plan, results.asked[arm], looks) for arm in (OF_DOCUMENT, OF_CORPUS))
    if plan.request.of_probes:  # what no document but another answers has an answer among all
        corpus = corpus.model_copy(update={"refusal": None})
    provenance = Provenance(
        dataset=plan.benchmark.name,
        benchmark=plan.benchmark.hash,
        documents=len(set(map(document_of, plan.with_evidence))),
        questions=len(plan.with_evidence),
        code=code_identity(),
        embedder=results.embedder,
        reranker=name_of_reranker(plan.request.settings.ask),
        tokens=all("tokens_weight" in one.looks for one in results.asked[OF_DOCUMENT].values() if one.scores),
    )
    pieces = fitted_pieces(plan.questions, results.asked[OF_DOCUMENT])
    return Weights(version=1, fitted=provenance, document=document, corpus=corpus, pieces=pieces, looks=looks)


def _scope_weights(plan: EvaluationPlan, asked: Mapping[str, Asked], looks: Mapping[str, float]) -> ScopeWeights:
    examples = examples_of(plan.with_evidence, asked, looks)
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
        what, remedy = parts_of(error)
        raise RequestError(f"nothing can be fitted to {plan.benchmark.name!r}: {what}", plan.benchmark.name, remedy) from error


def score_sizes(
    plan: EvaluationPlan, results: Results, weights: Logistic | None
) -> tuple[pl.DataFrame, tuple[Figure, ...], tuple[str, ...]]:
    """Return the scores of sets of probable pages for each arm of `flow`, their calibration, and why there are none.

    They are weighed by weights of elsewhere, or out of fold. Of a fit come besides those of what is shown.
    """
    frames, figures, notes = [pl.DataFrame(schema=SCORED)], list[Figure](), list[str]()
    looks: Mapping[str, float] = {}
    if plan.request.what == "fit":
        words = plan.request.settings.ask.reading.words
        shown, unknown = score_pieces(OF_DOCUMENT, plan.questions, results.asked[OF_DOCUMENT], most_words=words)
        fitted_to = results.asked[OF_DOCUMENT]
        looks = fit_looks(plan.with_evidence, fitted_to)
        of_looks = [score_looks(arm, plan.with_evidence, results.asked[arm], fitted_to) for arm in (OF_DOCUMENT, OF_CORPUS)]
        frames += [shown, *of_looks]
        notes += unknown
    top_k = {arm.whole_corpus: results.asked.get(arm.name) for arm in plan.arms if arm.reader == BASELINE}
    for arm in plan.arms if plan.request.preset == "default" else ():
        if arm.reader != BASELINE:
            try:
                sets = _sets_of(plan.with_evidence, results.asked[arm.name], top_k.get(arm.whole_corpus), weights, looks)
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
    looks: Mapping[str, float],
) -> SetsMeasured:
    """Return what sets of the most probable pages are worth, by weights of elsewhere, or out of fold; raise FitError.

    Pages are ranked with the weights of second looks that are written, where there are some: one number each, and not nested.
    """
    examples = examples_of(questions, asked, looks)
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
