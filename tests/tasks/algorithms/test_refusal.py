"""Refusing: features by hand, a threshold that refuses half of the unanswerable, and rates that no question's own document made."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.probability import FitError, probabilities
from tasks.algorithms.refusal import FEATURES, fit_refusal, refusal_features, refused_out_of_fold, refusing_from


def features(held, *, rarity=(1.0, 3.0), present=(True, True), surveys=False, nearest=0.5):
    return refusal_features(
        rarity=np.array(rarity), present=np.array(present), held=np.array(held, dtype=bool), surveys=surveys, nearest=nearest
    ).tolist()


def test_names_that_stand_apart_count_by_their_rarity_and_one_that_stands_nowhere_by_itself():
    assert features([[True, True], [False, False]]) == [0.0, 0.0, 0.0, 0.5]
    assert features([[True, False], [False, True]]) == [0.0, 0.25, 0.0, 0.5]
    assert features([[True, False]], present=(True, False), surveys=True) == [1.0, 0.75, 1.0, 0.5]
    assert len(FEATURES) == 4


def test_a_question_without_names_and_one_without_pages_have_features_too():
    assert features(np.zeros((2, 0)), rarity=(), present=()) == [0.0, 0.0, 0.0, 0.5]
    assert features(np.zeros((0, 2))) == [0.0, 1.0, 0.0, 0.5]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.sampled_from([0.1, 0.5, 0.9, 1.0]))
def test_from_the_threshold_on_the_share_is_refused_and_no_more_than_it_takes(doubts, share):
    start = refusing_from(np.array(doubts), share)
    assert np.mean(np.array(doubts) >= start) >= share
    assert np.mean(np.array(doubts) > start) < share


def examples(count=60, seed=1):
    """Questions whose first feature says much, in twelve documents."""
    random = np.random.default_rng(seed)
    unanswerable = (random.random(count) < 0.4).astype(np.float64)
    given = np.column_stack([unanswerable * (random.random(count) < 0.7), random.random((count, 3))])
    return given, unanswerable, [f"{number % 12}.pdf" for number in range(count)]


def test_half_of_the_unanswerable_are_refused_by_the_fitted_threshold_and_a_missing_name_speaks_for_it():
    given, unanswerable, _ = examples()
    logistic, threshold = fit_refusal(given, unanswerable)
    refused = probabilities(given, logistic) >= threshold
    assert 0.5 <= refused[unanswerable == 1].mean() <= 0.55 and refused[unanswerable == 0].mean() < 0.05
    assert logistic.weights[0] == max(logistic.weights) > 1.0


def test_out_of_fold_more_is_refused_where_more_of_the_unanswerable_are():
    given, unanswerable, documents = examples()
    found = refused_out_of_fold(given, unanswerable, documents, shares=(0.3, 0.6, 0.9), folds=4, seeds=2)
    assert found.at.shape == (60, 3) and np.all(np.diff(found.at, axis=1) >= 0)
    wrong, right = found.at[unanswerable == 0].mean(axis=0), found.at[unanswerable == 1].mean(axis=0)
    assert np.all(right >= [0.3, 0.6, 0.9]) and wrong[0] < 0.1 < wrong[2]
    assert found.fitted[unanswerable == 1].mean() == pytest.approx(0.5, abs=0.2)


def test_a_document_does_not_help_to_refuse_its_own_questions():
    given, unanswerable, documents = examples()
    own = np.array(documents) == "0.pdf"
    turned = np.where(own, 1.0 - unanswerable, unanswerable)
    alone = {"shares": (0.5,), "folds": 12, "seeds": 1}
    before = refused_out_of_fold(given, unanswerable, documents, **alone).fitted[own]
    assert np.array_equal(before, refused_out_of_fold(given, turned, documents, **alone).fitted[own])


def test_where_nothing_is_unanswerable_or_one_document_is_all_nothing_can_be_fitted():
    given, unanswerable, documents = examples()
    with pytest.raises(FitError):
        fit_refusal(given, np.zeros(len(given)))
    with pytest.raises(FitError):
        refused_out_of_fold(given, unanswerable, ["one.pdf"] * len(documents), shares=(0.5,), folds=5, seeds=1)
    with pytest.raises(FitError, match="none of the 0 questions"):
        refused_out_of_fold(np.zeros((0, 4)), np.zeros(0), [], shares=(0.5,), folds=5, seeds=1)


def test_where_nothing_tells_them_apart_no_more_than_a_tenth_of_the_answerable_is_refused():
    noise = np.random.default_rng(7)
    features, unanswerable = noise.normal(size=(200, len(FEATURES))), (noise.random(200) < 0.5).astype(np.float64)
    logistic, threshold = fit_refusal(features, unanswerable)
    refused = probabilities(features, logistic) >= threshold
    answerable = unanswerable == 0.0
    assert refused[answerable].sum() == -(-answerable.sum() // 10) and refused[~answerable].mean() < 0.5
