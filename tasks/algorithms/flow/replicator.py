"""Replicator dynamics: paths compete for shares, and good ones that differ from the others win (eq. 9 and 10)."""

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_range


def proportional_shares(*, weights: FloatArray) -> FloatArray:
    """Return the weights (K,), at least 0, over their sum, equal shares where all are 0: the start of the dynamics."""
    require_range(name="weights", values=weights, low=0.0, high=np.inf)
    largest = weights.max(initial=0.0)
    # Over the largest first: a sum of large weights would overflow, one of tiny weights lose its digits.
    scaled = weights / largest if largest > 0 else np.ones(len(weights))
    return np.asarray(scaled / max(scaled.sum(), 1.0))


def replicator_dynamics(*, payoff: FloatArray, start: FloatArray, mixing: float, tolerance: float, max_steps: int) -> FloatArray:
    """Return the shares (K,) that eq. 9 and 10 lead to in at most `max_steps`, or until they move by less than `tolerance`.

    The payoff A (K, K) is at least 0, the start (K,) of sum 1; mixing, epsilon of eq. 10, in [0, 1], is 0 for the plain dynamics.
    With no step the start comes back. A payoff that is no number, or below 0, raises ValueError.
    """
    require_range(name="payoffs", values=payoff, low=0.0, high=np.inf)
    mixed = start
    for _ in range(max_steps if len(start) else 0):
        following = (1.0 - mixing) * replicator_step(payoff=payoff, shares=mixed) + mixing / len(start)
        moved = float(np.linalg.norm(following - mixed))
        mixed = following
        if moved < tolerance:
            break
    return mixed


def replicator_step(*, payoff: FloatArray, shares: FloatArray) -> FloatArray:
    """Return x_k (A x)_k / x'A x (eq. 9); where x'A x is 0 no path earns more than another, and the shares stay."""
    # Not a matrix product: the order of its sums depends on the machine's threads.
    earned = shares * np.einsum("kl,l->k", payoff, shares)
    total = earned.sum()
    return np.asarray(earned / total) if total > 0 else shares


def survivors(*, shares: FloatArray, threshold: float) -> IntArray:
    """Return the places of the shares above the threshold, largest share first, equal ones by place."""
    order = np.argsort(-shares, kind="stable")
    return order[shares[order] > threshold]
