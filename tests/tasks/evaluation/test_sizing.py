"""Weights are fitted to evidence, and what sets by probability are worth is measured without a question's own document."""

import numpy as np
import polars as pl
import pytest

from storage.errors import RequestError
from storage.records.evaluations import BenchmarkQuestion
from tasks.algorithms.flow.sizes import FEATURES
from tasks.algorithms.probability import FitError, Logistic, fit_logistic
from tasks.evaluation.arms import OF_CORPUS, OF_DOCUMENT
from tasks.evaluation.plan import Results
from tasks.evaluation.sizing import (
    BY_PROBABILITY,
    CALIBRATION,
    OVER_CONST,
    OVER_SAME_EACH,
    OWN_AT_CONST,
    SEEDS,
    SIZES,
    THREE_TO_EIGHT,
    TOP_K_AT_CONST,
    Example,
    at_mean,
    examples_of,
    fit_pages,
    fit_weights,
    measure_sets,
    prices_of,
    score_sizes,
    weigh,
    weigh_out_of_fold,
    weights_of_flow,
)
from tests.evaluation_plans import answered, plan_by_hand

RANK = 1
"""The place of the rank among features."""


def example(document, gold, *, needed=None, pages=10):
    """A question of so many pages that differ in their rank alone, the gold ones by their places."""
    features = np.zeros((pages, len(FEATURES)))
    features[:, RANK] = np.log1p(np.arange(pages))
    held = np.isin(np.arange(pages), gold).astype(float)
    return Example(document, features, held, needed or len(gold))


def falling(bias, slope):
    weights = np.zeros(len(FEATURES))
    weights[RANK] = slope
    return Logistic(bias, tuple(weights))


def test_weights_are_fitted_to_the_pages_of_all_questions():
    examples = [example("a", [0]), example("b", [1, 2]), example("c", [0], pages=3)]
    features, gold = np.concatenate([one.features for one in examples]), np.concatenate([one.gold for one in examples])
    assert fit_pages(examples) == fit_logistic(features, gold, strength=1.0)


def test_no_question_is_weighed_by_a_fit_that_saw_its_document():
    # In every document but the first it is the first page that holds the answer.
    examples = [example("0", [9]), example("0", [9]), *(example(f"{number}", [0]) for number in range(1, 25))]
    seeds = weigh_out_of_fold(examples)
    assert len(seeds) == SEEDS and all(len(seed) == len(examples) for seed in seeds)
    unseen = weigh(examples[:1], fit_pages(examples[2:]))[0]
    for seed in seeds:
        assert seed[0].tolist() == seed[1].tolist() == pytest.approx(unseen.tolist(), abs=0.05)
        assert seed[0][9] < max(pages[9] for pages in seed[2:]), "who saw the first document expects more of a last page"


def test_nothing_is_weighed_out_of_fold_of_one_document():
    with pytest.raises(FitError, match="all 2 questions are about one document, 'a'"):
        weigh_out_of_fold([example("a", [0]), example("a", [1])])


def test_a_price_keeps_so_many_pages_on_average():
    slow = np.array([0.9, 0.5, 0.3, 0.2, 0.1, 0.05])
    prices = prices_of([[slow, slow, np.zeros(0)]], (1, 3, 5))
    assert 0 < prices[5] < prices[3] < prices[1] < 1 and f"{prices[3]:.4g}" == str(prices[3])


def test_sets_by_hand():
    # One question is sure of its first page, the other needs all of its ten: at 5.5 pages on average each has what it needs.
    sure, unsure = example("a", [0]), example("b", list(range(10)))
    sets = measure_sets([sure, unsure], [[np.array([0.99, *[1e-9] * 9]), np.full(10, 0.9)]], None)
    at = SIZES.index(5.5)
    assert sets.whole[at].tolist() == [1.0, 1.0]
    # The ranking cut at five pages for one half and at six for the other has the second never.
    assert sets.const[at].tolist() == [1.0, 0.0] and sets.same_each[at].tolist() == [1.0, 1.0]
    assert sets.rival_const is None and sets.whole.shape == (len(SIZES), 2)


def test_a_set_is_of_the_most_probable_pages_and_not_of_the_first():
    behind = example("a", [4])
    likely = np.array([0.1, 0.1, 0.1, 0.1, 0.9, 0.1, 0.1, 0.1, 0.1, 0.1])
    sets = measure_sets([behind], [[likely]], [np.array([1.0, 0.0])])
    assert sets.whole[0].tolist() == [1.0] and sets.same_each[0].tolist() == sets.const[0].tolist() == [0.0]
    assert sets.rival_const[0].tolist() == [1.0]
    assert sets.predicted[0] == 0.9 and sets.held[0] == 1.0 and set(sets.questions.tolist()) == {0}


def test_evidence_that_is_not_in_the_ranking_is_never_whole_and_a_question_without_pages_finds_nothing():
    lacking, unread = example("a", [0], needed=2), example("b", [], needed=1, pages=0)
    sets = measure_sets([lacking, unread], [weigh([lacking, unread], falling(0.0, -1.0))], None)
    assert not sets.whole.any() and not sets.const.any() and set(sets.questions.tolist()) == {0}


def test_the_mean_is_over_the_seeds():
    one = example("a", [0])
    first, last = np.array([0.9, *[1e-9] * 9]), np.array([*[1e-9] * 9, 0.9])
    # Of the second seed's pages the last comes first, and the first behind it.
    sets = measure_sets([one, example("b", list(range(10)))], [[first, np.full(10, 0.9)], [last, np.full(10, 0.9)]], None)
    assert sets.whole[SIZES.index(5.5)].tolist() == [0.5, 1.0]


def question(name, document, *pages):
    return BenchmarkQuestion(name, f"Which tide is {name}?", (document,), evidence=tuple((document, page) for page in pages))


MANY = tuple(question(f"q{number}", f"{number % 11}.pdf", 1, *([2] if number % 3 == 0 else [])) for number in range(33))


def found_for(*arms, ranked=(1, 2, 3, 4, 5, 6, 7, 8, 9, 10)):
    return Results({arm: {one.id: answered(one, ranked, [1]) for one in MANY} for arm in arms}, embedder="mini/8")


def test_an_example_has_the_pages_with_a_score_and_knows_what_the_ranking_lacks():
    asked = answered(MANY[0], [2, 1, 3], scores=(0.8, 0.4, 0.0))
    (found,) = examples_of([MANY[0]], {"q0": asked})
    assert found.gold.tolist() == [1.0, 1.0] and found.needed == 2 and found.document == "0.pdf"
    assert found.features[1, 0] == pytest.approx(np.log(0.5))
    (unread,) = examples_of([MANY[0]], {"q0": answered(MANY[0])})
    assert unread.features.shape == (0, len(FEATURES)) and unread.needed == 2


def test_sets_by_probability_are_scored_next_to_top_k_for_flow_alone():
    scored, figures, notes = score_sizes(plan_by_hand(*MANY), found_for("flow", "top-k"), None)
    assert notes == () and scored["arm"].unique().to_list() == ["flow"]
    means = {metric: value for metric, value in scored.group_by("metric").agg(pl.col("value").mean()).rows()}
    for mean in ("3", "5", "8", THREE_TO_EIGHT):
        whole, const = means[at_mean(BY_PROBABILITY, mean)], means[at_mean(OWN_AT_CONST, mean)]
        assert means[at_mean(OVER_CONST, mean)] == pytest.approx(whole - const) and means[at_mean(OVER_SAME_EACH, mean)] == 0.0
        assert means[at_mean(TOP_K_AT_CONST, mean)] == pytest.approx(const), "top-k has the same ranking here"
    assert {(one.arm, one.metric) for one in figures} == {("flow", metric) for metric in CALIBRATION}
    error, brier, base = figures
    assert error.low <= error.value <= error.high < 0.2 and brier.value < base.value and error.documents == 11


def test_no_sets_are_scored_under_the_paper_and_where_nothing_can_be_fitted_a_note_says_why():
    plan = plan_by_hand(*MANY, preset="paper")
    assert score_sizes(plan, found_for("flow", "top-k"), None)[0].is_empty()
    alone = plan_by_hand(*MANY[::11], readers=("flow",))
    scored, figures, notes = score_sizes(alone, found_for("flow"), None)
    assert scored.is_empty() and figures == ()
    assert "no sets by probability for flow: all 3 questions are about one document, '0.pdf'" in notes[0]
    unread = Results({"flow": {one.id: answered(one) for one in MANY}})
    assert score_sizes(plan_by_hand(*MANY, readers=("flow",)), unread, None)[2] == (
        "no sets by probability for flow: no question has a ranked page",
    )


def test_weights_of_elsewhere_are_scored_as_they_are():
    plan, found = plan_by_hand(*MANY, readers=("flow",)), found_for("flow")
    by_own, by_others = score_sizes(plan, found, None)[0], score_sizes(plan, found, falling(-3.0, +2.0))[0]
    names = at_mean(BY_PROBABILITY, "3")
    assert by_own.filter(pl.col("metric") == names)["value"].mean() == 1.0
    assert by_others.filter(pl.col("metric") == names)["value"].mean() == 0.0, "they take the last pages for the best"


def test_a_file_of_weights_says_what_they_were_fitted_on():
    plan = plan_by_hand(*MANY, BenchmarkQuestion("none", "Who won?", ("a.pdf",), answerable=False), what="fit")
    arms = [arm.name for arm in plan.arms]
    asked = {arm: dict(of_arm) for arm, of_arm in found_for(*arms).asked.items()}
    for of_arm in asked.values():
        of_arm["none"] = answered(plan.questions[-1], [1])
    weights = fit_weights(plan, Results(asked, embedder="mini/8"))
    fitted = weights.fitted
    assert (fitted.dataset, fitted.documents, fitted.questions, fitted.embedder) == ("reports", 11, 33, "mini/8")
    assert fitted.benchmark == plan.benchmark.hash
    assert weights.document == weights.corpus and sorted(weights.document.prices) == [3, 5, 8]
    assert weights.document.logistic == weights_of_flow(plan, Results({"flow": asked[OF_DOCUMENT]}))


def test_nothing_is_fitted_where_every_page_holds_the_answer():
    plan = plan_by_hand(*MANY, what="fit")
    alike = {arm: {one.id: answered(one, [1]) for one in MANY} for arm in (OF_DOCUMENT, OF_CORPUS)}
    with pytest.raises(RequestError, match="nothing can be fitted to 'reports': all 33 examples are alike"):
        fit_weights(plan, Results(alike))
