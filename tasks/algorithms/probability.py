"""Probabilities that are fitted: plain logistic regression, folds by document, and how well probabilities are calibrated."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray, IntArray, require_range


class FitError(ValueError):
    """Nothing can be fitted to these examples; the message says what is missing."""


@dataclass(frozen=True, slots=True)
class Logistic:
    """p = sigma(bias + features weights)."""

    bias: float
    weights: tuple[float, ...]


def probabilities(features: FloatArray, logistic: Logistic) -> FloatArray:
    """Return p (n,) of the features (n, m); ValueError where one of them is not finite."""
    require_range(name="features", values=features, low=-np.inf, high=np.inf)
    # Not a matrix product: the order of its sums depends on the machine's threads.
    return _sigma(logistic.bias + np.einsum("nm,m->n", features, np.array(logistic.weights)))


def _sigma(values: FloatArray) -> FloatArray:
    return np.asarray(0.5 + 0.5 * np.tanh(values / 2.0))


def fit_logistic(features: FloatArray, labels: FloatArray, *, strength: float) -> Logistic:
    """Return the most likely logistic with weights of a Gaussian prior of variance `strength`; the bias is free.

    Args:
        features: (n, m), finite.
        labels: (n,), 0 or 1, both of them.
        strength: above 0; scikit-learn's C.

    Raises:
        FitError: all labels are alike, or the solver did not end well.
    """
    # Only a fit needs it, and it takes long to load.
    from scipy.optimize import minimize

    require_range(name="features", values=features, low=-np.inf, high=np.inf)
    if labels.min(initial=1.0) == labels.max(initial=0.0) or not len(labels):
        raise FitError(f"all {len(labels)} examples are alike: it takes some that hold and some that do not; take more documents")

    def loss(parameters: FloatArray) -> tuple[float, FloatArray]:
        raised = parameters[0] + features @ parameters[1:]
        missed = _sigma(raised) - labels
        penalty = parameters[1:] @ parameters[1:] / (2.0 * strength)
        slopes = np.concatenate([[missed.sum()], features.T @ missed + parameters[1:] / strength])
        return float((np.logaddexp(0.0, raised) - labels * raised).sum() + penalty), slopes

    found = minimize(loss, np.zeros(features.shape[1] + 1), jac=True, method="L-BFGS-B")
    if not found.success:
        raise FitError(f"the weights were not found: {found.message}")
    # Six digits: what a fit says beyond depends on the machine.
    bias, *weights = (float(f"{value:.6g}") for value in found.x)
    return Logistic(bias, tuple(weights))


def folds_by_document(documents: Sequence[str], *, folds: int, seed: int) -> IntArray:
    """Return a fold 0..folds-1 for each question (n,) by its document: those of one document are in one fold."""
    distinct = sorted(set(documents))
    order = np.random.default_rng(seed).permutation(len(distinct)) % folds
    numbers = dict(zip(distinct, order.tolist(), strict=True))
    return np.array([numbers[document] for document in documents], dtype=np.int64)


def calibration_error(predicted: FloatArray, labels: FloatArray, *, bins: int) -> float:
    """Return the mean of |mean p - share of labels| over bins of equal count, in [0, 1], the examples in the order of p."""
    order = np.argsort(predicted, kind="stable")
    parts: list[npt.NDArray[np.int64]] = np.array_split(order, min(bins, len(order)))
    return float(np.mean([abs(predicted[part].mean() - labels[part].mean()) for part in parts]))


def brier_score(predicted: FloatArray, labels: FloatArray) -> float:
    """Return the mean of (p - label)^2."""
    return float(np.mean((predicted - labels) ** 2))
