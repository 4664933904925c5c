"""Arrays that the algorithms share: exact cosines, checks, the strongest few, pages out of their nodes.

A matrix product sums in an order that depends on its shape, the threads and the processor. Where vectors lie on a grid
coarse enough that every partial sum fits the mantissa, no sum is ever rounded, so no order matters.
"""

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from storage.records.documents import Vectors

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

COARSE_STEPS = 2048
"""Products are multiples of 2**-22 and sums of unit vectors stay under 2: exact in the 24 bits of float32."""

FINE_STEPS = 2**25
"""Products are multiples of 2**-50 and sums of unit vectors stay under 2: exact in the 53 bits of float64."""

PAIRS_AT_ONCE = 128
"""Pairs that fit the processor's cache: with four times as many, a pair takes five times as long."""


def snap_coarse(vectors: Vectors) -> npt.NDArray[np.float32]:
    """Return the vectors on the coarse grid: a cosine moves by about 0.0002, and float32 products of them are exact."""
    return np.asarray(np.rint(vectors * np.float32(COARSE_STEPS)) / np.float32(COARSE_STEPS), dtype=np.float32)


def snap_fine(vectors: Vectors) -> FloatArray:
    """Return the vectors on the fine grid: a cosine moves by less than 0.000001, and float64 products of them are exact."""
    steps = np.multiply(vectors, FINE_STEPS, dtype=np.float64)
    # In place: to fetch fresh memory takes as long as to compute. Times a power of two is as exact as divided by it.
    return np.multiply(np.rint(steps, out=steps), 1 / FINE_STEPS, out=steps)


def pair_cosines(*, vectors: Vectors, first: IntArray, second: IntArray) -> FloatArray:
    """Return the cosine of row `first[p]` with row `second[p]` for each p; 0 where one of them is zero."""
    cosines, fine = np.zeros(len(first)), snap_fine(vectors)
    for start in range(0, len(first), PAIRS_AT_ONCE):
        part = slice(start, start + PAIRS_AT_ONCE)
        cosines[part] = np.einsum("pd,pd->p", fine[first[part]], fine[second[part]])
    return cosines


def edge_weights(cosines: FloatArray) -> FloatArray:
    """Return max(cos, 0) (eq. 13), at most 1, to six decimals: what an edge weighs."""
    return np.asarray(np.round(np.clip(cosines, 0.0, 1.0), 6))


def require_range(*, name: str, values: npt.ArrayLike, low: float, high: float) -> None:
    """Raise ValueError, with the first value that is wrong, unless all are finite and lie in [low, high]."""
    array = np.asarray(values, dtype=np.float64).ravel()
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= low) & (array <= high)))
    if len(wrong):
        place = f" at place {wrong[0]}" if np.ndim(values) else ""
        raise ValueError(f"{name} must be finite, from {low:g} to {high:g}, not {array[wrong[0]]}{place}; compute them again")


def require_finite_vectors(vectors: Vectors) -> None:
    """Raise ValueError with the first row of `vectors` (n, d) that holds NaN or an infinity."""
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise ValueError(f"the vector of row {bad[0]} holds a number that is not finite; embed its document again")


def strongest(*, scores: FloatArray, count: int) -> IntArray:
    """Return the indices of the at most `count` greatest scores above 0, the greatest first, equal ones by index."""
    order = np.argsort(-scores, kind="stable")[:count]
    return np.asarray(order[scores[order] > 0])


Real = TypeVar("Real", bound=np.floating[Any])


def pages_of_nodes(*, documents: IntArray, pages: IntArray) -> IntArray:
    """Return for each of n nodes the number of its page among the P pages that have nodes, by document and page."""
    _places, numbers = np.unique(documents * (pages.max(initial=0) + 1) + pages, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64)


def sums_by_page(*, values: npt.NDArray[Real], pages: IntArray) -> npt.NDArray[Real]:
    """Return the sums of the nodes' values, (n,) or (n, m), by page: (P,) or (P, m). A page's sum depends on its nodes alone."""
    order = np.argsort(pages, kind="stable")
    sizes = np.bincount(pages)
    firsts = np.cumsum(sizes) - sizes
    sums = np.zeros((len(sizes), *values.shape[1:]), dtype=values.dtype)
    # The first node of every page, then the second of those that have one, and so on: few steps, and each is quick.
    for turn in range(int(sizes.max(initial=0))):
        having = np.flatnonzero(sizes > turn)
        sums[having] += values[order[firsts[having] + turn]]
    return sums


def best_of_pages(*, values: FloatArray, pages: IntArray) -> FloatArray:
    """Return the greatest of the nodes' values (n,) on each page (P,), -inf for a page without one; pages are numbered from 0."""
    best = np.full(int(pages.max(initial=-1)) + 1, -np.inf)
    np.maximum.at(best, pages, values)
    return best


def page_means(*, vectors: Vectors, weights: FloatArray, pages: IntArray) -> Vectors:
    """Return the unit mean (P, d) of the nodes' vectors (n, d) on each page, 0 where they cancel.

    Weights (n,) are the nodes' words, one of 0 counting as 1; pages (n,) are as `pages_of_nodes` numbers them.
    """
    weighted = vectors * np.maximum(weights, 1.0).astype(np.float32)[:, None]
    sums = sums_by_page(values=weighted, pages=pages)
    lengths: npt.NDArray[np.float32] = np.linalg.norm(sums, axis=1, keepdims=True)
    means: Vectors = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return means
