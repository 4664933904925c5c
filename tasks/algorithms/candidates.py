"""Candidate neighbourhoods: the nearest nodes by cosine, united with the neighbours a node already has."""

from __future__ import annotations

import numpy as np

from storage.records import Vectors
from tasks.algorithms.cosines import COARSE_STEPS, FloatArray, IntArray, snap_coarse, snap_fine

BLOCK_CELLS = 2**20
"""Cosines held at once: about 12 MB, however many nodes there are; larger blocks were slower."""

GROUP_KEYS = 16
"""Keys of a group that is passed over when its greatest is too small."""

SPARE = 8
"""The coarse cosines choose so many more than asked for, and the fine ones choose among those."""


def nearest_neighbours(*, vectors: Vectors, limit: int) -> tuple[IntArray, FloatArray]:
    """Find the `limit` rows of greatest cosine for each row, itself left out.

    Args:
        vectors: n unit or zero vectors, one a row.
        limit: neighbours of a row, at least 1; a row has n - 1 where there are no more.

    Returns:
        The neighbours' row numbers and their cosines, both (n, min(limit, n - 1)), nearest first, equal cosines by row number.
    """
    count = len(vectors)
    width = min(limit, max(count - 1, 0))
    indices = np.zeros((count, width), dtype=np.int64)
    cosines = np.zeros((count, width))
    coarse, fine = snap_coarse(vectors), snap_fine(vectors)
    block_rows = max(1, BLOCK_CELLS // max(count, 1))
    for start in range(0, count if width else 0, block_rows):
        rows = slice(start, min(start + block_rows, count))
        shortlist = _shortlist(coarse=coarse, rows=rows, size=min(limit + SPARE, count - 1))
        near = np.einsum("rd,rsd->rs", fine[rows], fine[shortlist])
        order = np.lexsort((shortlist, -near), axis=1)[:, :width]
        indices[rows] = np.take_along_axis(shortlist, order, axis=1)
        cosines[rows] = np.take_along_axis(near, order, axis=1)
    return indices, cosines


def _shortlist(*, coarse: Vectors, rows: slice, size: int) -> IntArray:
    """Return the `size` nearest of each of the rows by coarse cosine, in no order; ties go to the lower row number."""
    count = len(coarse)
    # Cosine and row number in one integer: a partition of these needs no index array and knows no ties.
    keys = ((coarse[rows] @ coarse.T) * np.float32(COARSE_STEPS**2)).astype(np.int64)
    keys *= count
    keys += np.arange(count - 1, -1, -1)
    own = np.arange(rows.start, rows.stop)
    keys[own - rows.start, own] = np.iinfo(np.int64).min
    return np.asarray(count - 1 - _greatest(keys, size) % count)


def _greatest(keys: IntArray, size: int) -> IntArray:
    """Return the `size` greatest keys of each row, in no order; no row may hold a key twice."""
    rows, count = keys.shape
    groups = count // GROUP_KEYS
    if groups > size:
        # The greatest keys lie in the groups of the greatest maxima: most groups need only their maximum.
        grouped = keys[:, : groups * GROUP_KEYS].reshape(rows, GROUP_KEYS, groups)
        best = np.argpartition(grouped.max(axis=1), groups - size, axis=1)[:, groups - size :]
        chosen = np.take_along_axis(grouped, best[:, None, :], axis=2).reshape(rows, -1)
        keys = np.concatenate([chosen, keys[:, groups * GROUP_KEYS :]], axis=1)
    return np.partition(keys, keys.shape[1] - size, axis=1)[:, keys.shape[1] - size :]


def neighbour_pairs(*, indices: IntArray, cosines: FloatArray) -> IntArray:
    """Return the pairs (low, high) that are neighbours either way round at a cosine above 0: (p, 2), sorted, each once."""
    rows, columns = np.nonzero(cosines > 0)
    others = indices[rows, columns]
    pairs = np.stack([np.minimum(rows, others), np.maximum(rows, others)], axis=1)
    return np.unique(pairs, axis=0)


def unite_pairs(
    *, current: IntArray, current_rounds: IntArray, found: IntArray, found_rounds: IntArray
) -> tuple[IntArray, IntArray]:
    """Unite two lists of pairs (low, high); a pair in both takes its round from `found`.

    Returns:
        The pairs (p, 2), sorted, each once, and the round of each (p,).
    """
    pairs, places = np.unique(np.concatenate([found, current]), axis=0, return_index=True)
    return pairs, np.concatenate([found_rounds, current_rounds])[places]
