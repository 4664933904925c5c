"""Refusals that more than one algorithm needs: a number that is NaN or out of range would spoil an answer without a sound."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def require_range(*, name: str, values: npt.ArrayLike, low: float, high: float) -> None:
    """Raise ValueError, with the first value that is wrong, unless all are finite and lie in [low, high]."""
    array = np.asarray(values, dtype=np.float64).ravel()
    wrong = np.flatnonzero(~(np.isfinite(array) & (array >= low) & (array <= high)))
    if len(wrong):
        place = f" at place {wrong[0]}" if np.ndim(values) else ""
        raise ValueError(f"{name} must be finite, from {low:g} to {high:g}, not {array[wrong[0]]}{place}; compute them again")


def require_places(*, name: str, places: npt.ArrayLike, count: int) -> None:
    """Raise ValueError, with the first place that is wrong, unless all lie in 0..count-1."""
    array = np.asarray(places).ravel()
    wrong = array[(array < 0) | (array >= count)]
    if len(wrong):
        raise ValueError(f"{name} name place {wrong[0]} of {count}; number them from 0 to {count - 1}")
