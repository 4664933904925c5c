"""Vectors with numbers that are none: found where they enter, because every comparison with them is silently false."""

from __future__ import annotations

import numpy as np

from storage.records import Vectors


def require_finite_vectors(vectors: Vectors) -> None:
    """Raise ValueError with the first row of `vectors` (n, d) that holds NaN or an infinity."""
    bad = np.flatnonzero(~np.isfinite(vectors).all(axis=1))
    if len(bad):
        raise ValueError(f"the vector of row {bad[0]} holds a number that is not finite; embed its document again")
