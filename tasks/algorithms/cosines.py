"""Cosines that come out the same to the last bit, whatever the order of summation.

A matrix product sums in an order that depends on its shape, the threads and the processor. Where vectors lie on a grid
coarse enough that every partial sum fits the mantissa, no sum is ever rounded, so no order matters.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from storage.records import Vectors

IntArray = npt.NDArray[np.int64]
FloatArray = npt.NDArray[np.float64]

COARSE_STEPS = 2048
"""Products are multiples of 2**-22 and sums of unit vectors stay under 2: exact in the 24 bits of float32."""

FINE_STEPS = 2**25
"""Products are multiples of 2**-50 and sums of unit vectors stay under 2: exact in the 53 bits of float64."""

PAIRS_AT_ONCE = 128
"""So many pairs fit the processor's cache: four times as many take five times as long a pair."""


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
