"""Probabilities that are fitted, checked by hand, by their properties, and against scikit-learn."""

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


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_features_that_are_not_finite_are_refused(value):
    with pytest.raises(ValueError, match="features"):
        probabilities(np.array([[value]]), Logistic(0.0, (1.0,)))
    with pytest.raises(ValueError, match="features"):
        fit_logistic(np.array([[value], [0.0]]), np.array([0.0, 1.0]), strength=1.0)


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
