"""The few strongest of many scores."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.cosines import FloatArray, IntArray


def strongest(*, scores: FloatArray, count: int) -> IntArray:
    """Return the indices of the at most `count` greatest scores above 0, the greatest first, equal ones by index."""
    order = np.argsort(-scores, kind="stable")[:count]
    return np.asarray(order[scores[order] > 0])
