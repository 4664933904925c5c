"""Probabilities that are fitted, and refusing by them: by hand, by their properties, and against scikit-learn."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.calibration import calibration_curve
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import brier_score_loss

from tasks.algorithms.probability import (
    FitError,
    Logistic,
    brier_score,
    calibration_error,
    fit_logistic,
    folds_by_document,
    probabilities,
)
from tasks.algorithms.refusal import FEATURES, fit_refusal, refusal_features, refused_out_of_fold, refusing_from


def drawn(seed, *, rows=300):
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(rows, 3)) * [1.0, 4.0, 0.2]
    labels = (generator.random(rows) < 1 / (1 + np.exp(1.0 - features @ [1.0, 0.5, 0.0]))).astype(float)
    return features, labels


def test_probabilities_by_hand():
    found = probabilities(np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]]), Logistic(bias=-1.0, weights=(2.0, 1.0)))
    assert found.tolist() == pytest.approx([0.5, 1 / (1 + np.exp(-1.0)), 1 / (1 + np.exp(-4.0))])
    assert probabilities(np.zeros((0, 2)), Logistic(0.0, (1.0, 1.0))).shape == (0,)


def test_a_fit_by_hand_without_a_feature_that_differs_is_the_share_of_those_that_hold():
    fitted = fit_logistic(np.zeros((4, 1)), np.array([1.0, 0.0, 0.0, 0.0]), strength=1.0)
    assert fitted.bias == pytest.approx(np.log(1 / 3), abs=1e-4) and fitted.weights == (0.0,)


@pytest.mark.parametrize("strength", [0.01, 1.0, 100.0])
def test_a_fit_is_that_of_scikit_learn(strength):
    features, labels = drawn(3)
    reference = LogisticRegression(C=strength, tol=1e-10, max_iter=10_000).fit(features, labels)
    fitted = fit_logistic(features, labels, strength=strength)
    assert fitted.bias == pytest.approx(reference.intercept_[0], abs=2e-3)
    assert list(fitted.weights) == pytest.approx(reference.coef_[0].tolist(), abs=2e-3)
    assert probabilities(features, fitted) == pytest.approx(reference.predict_proba(features)[:, 1], abs=2e-3)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), rows=st.integers(20, 60))
def test_the_fitted_probabilities_add_up_to_those_that_hold_and_are_the_same_in_any_order(seed, rows):
    features, labels = drawn(seed, rows=rows)
    labels[:2] = 0.0, 1.0
    fitted = fit_logistic(features, labels, strength=1.0)
    # The bias is free: where the loss is least its slope is 0.
    assert probabilities(features, fitted).sum() == pytest.approx(labels.sum(), abs=0.05)
    order = np.random.default_rng(seed).permutation(rows)
    other = fit_logistic(features[order], labels[order], strength=1.0)
    assert [other.bias, *other.weights] == pytest.approx([fitted.bias, *fitted.weights], abs=1e-2)


@pytest.mark.parametrize("labels", [[0.0, 0.0], [1.0, 1.0], []])
def test_examples_that_are_all_alike_are_refused(labels):
    with pytest.raises(FitError, match=f"all {len(labels)} examples are alike"):
        fit_logistic(np.ones((len(labels), 1)), np.array(labels), strength=1.0)


def test_a_fit_that_does_not_end_well_is_refused(monkeypatch):
    class Ended:
        success, message = False, "ABNORMAL"

    monkeypatch.setattr("scipy.optimize.minimize", lambda *_arguments, **_options: Ended)
    with pytest.raises(FitError, match="the weights were not found: ABNORMAL"):
        fit_logistic(*drawn(1), strength=1.0)


@given(
    documents=st.lists(st.sampled_from("abcdefg"), min_size=1, max_size=40),
    folds=st.integers(1, 6),
    seed=st.integers(0, 2**32 - 1),
)
def test_questions_of_one_document_are_in_one_fold_and_folds_are_of_as_many_documents_as_can_be(documents, folds, seed):
    found = folds_by_document(documents, folds=folds, seed=seed)
    fold_of = dict(zip(documents, found.tolist(), strict=True))
    assert found.tolist() == [fold_of[document] for document in documents]
    sizes = np.bincount(list(fold_of.values()), minlength=folds)
    assert len(sizes) == folds and sizes.max() - sizes.min() <= 1
    again = folds_by_document(documents[::-1], folds=folds, seed=seed)
    assert again.tolist() == found.tolist()[::-1], "the order of the questions moves no document"


def test_a_calibration_error_by_hand_and_as_scikit_learn_bins_it():
    # Bins (0.1, 0.3) and (0.7, 0.9): 0.2 against 0.5 and 0.8 against 1.
    found = calibration_error(np.array([0.9, 0.1, 0.3, 0.7]), np.array([1.0, 0.0, 1.0, 1.0]), bins=2)
    assert found == pytest.approx((0.3 + 0.2) / 2)
    assert calibration_error(np.array([0.25]), np.array([1.0]), bins=10) == 0.75
    generator = np.random.default_rng(5)
    predicted = generator.random(200)
    labels = (generator.random(200) < predicted**2).astype(float)
    shares, means = calibration_curve(labels, predicted, n_bins=10, strategy="quantile")
    assert calibration_error(predicted, labels, bins=10) == pytest.approx(np.abs(shares - means).mean())


def test_a_brier_score_by_hand_and_as_scikit_learn_has_it():
    predicted, labels = np.array([0.5, 1.0, 0.2]), np.array([1.0, 1.0, 0.0])
    assert brier_score(predicted, labels) == pytest.approx((0.25 + 0.0 + 0.04) / 3)
    assert brier_score(predicted, labels) == pytest.approx(brier_score_loss(labels, predicted))


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
