"""How sure a mean over questions is: percentile intervals from resampled documents.

Questions of one document stand or fall together: where it is read badly, all fail. Questions drawn one by one would take them for
independent witnesses and give intervals that are too narrow, so whole documents (clusters) are drawn.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_range

DRAWS_AT_ONCE = 2**20
"""Draws held at a time: 8 MiB for each of a few arrays, whatever the numbers of clusters and resamples."""


class Interval(NamedTuple):
    """A mean, and between which values it lies with the confidence asked for."""

    mean: float
    low: float
    high: float


def bootstrap_interval(*, values: FloatArray, clusters: IntArray, resamples: int, confidence: float, seed: int) -> Interval:
    """Return the mean of the values and its percentile interval over resamples of whole clusters.

    A resample draws as many clusters as there are, with repetition; its mean is that of all values in them, each as often as its
    cluster was drawn. For how much one reader is better than another give the differences, question by question: resampled
    together, what makes a document hard for both cancels, and where the interval leaves out 0 the difference is no luck.

    Args:
        values: (n,), finite, n at least 1.
        clusters: (n,), a number for each value's cluster, any. A number of its own for each value is the plain bootstrap.
        resamples: at least 1.
        confidence: the share of the resamples' means that the interval holds, in [0, 1].
        seed: the same seed gives the same interval, in whatever order the values stand and whatever the clusters' numbers.

    Returns:
        The interval lies within the values; it is a point where they are equal or form one cluster.

    Raises:
        ValueError: a value that is not finite.
    """
    require_range(name="values", values=values, low=-np.inf, high=np.inf)
    sums, sizes = cluster_sums(values=values, clusters=clusters)
    means = np.append(_resampled_means(sums=sums, sizes=sizes, resamples=resamples, seed=seed), sums.sum() / sizes.sum())
    # No mean leaves the values, but its last bits can: equal values would give an interval that is not quite a point.
    means = np.clip(means, values.min(), values.max())
    low, high = np.quantile(means[:-1], [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return Interval(mean=float(means[-1]), low=float(low), high=float(high))


def resampled_interval(
    statistic: Callable[[IntArray], float], *, clusters: IntArray, resamples: int, confidence: float, seed: int
) -> Interval:
    """Return what `statistic` makes of all values and its interval, as `bootstrap_interval` does for a mean.

    It is given the places of the values that were drawn, those of a cluster together; `clusters` (n,) has n at least 1.
    """
    _numbers, members = np.unique(clusters, return_inverse=True)
    places = np.split(np.argsort(members, kind="stable"), np.cumsum(np.bincount(members))[:-1])
    generator = np.random.default_rng(seed)
    drawn = generator.integers(len(places), size=(resamples, len(places)))
    found = [statistic(np.concatenate([places[cluster] for cluster in row])) for row in drawn.tolist()]
    low, high = np.quantile(found, [(1.0 - confidence) / 2.0, (1.0 + confidence) / 2.0])
    return Interval(mean=statistic(np.arange(len(clusters))), low=float(low), high=float(high))


def cluster_sums(*, values: FloatArray, clusters: IntArray) -> tuple[FloatArray, IntArray]:
    """Return the sum (C,) and the number (C,) of the values in each cluster, smallest cluster first, then smallest sum.

    In this order they say nothing of how values stood or clusters were numbered, and neither do the last bits of the sums.
    """
    _numbers, members = np.unique(clusters, return_inverse=True)
    order = np.lexsort((values, members))
    sums = np.asarray(np.bincount(members[order], weights=values[order]), dtype=np.float64)
    sizes = np.bincount(members)
    canonical = np.lexsort((sums, sizes))
    return sums[canonical], sizes[canonical]


def _resampled_means(*, sums: FloatArray, sizes: IntArray, resamples: int, seed: int) -> FloatArray:
    generator = np.random.default_rng(seed)
    means = np.empty(resamples)
    rows = max(1, DRAWS_AT_ONCE // len(sums))
    for start in range(0, resamples, rows):
        # Clusters drawn one by one: five times as fast as multinomial counts of them.
        drawn = generator.integers(len(sums), size=(min(rows, resamples - start), len(sums)))
        means[start : start + rows] = sums[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    return means
