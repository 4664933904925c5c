"""Links between two documents, the same whichever came first."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from storage.records import Vectors
from tasks.algorithms.cosines import FloatArray, IntArray, edge_weights, snap_fine

BLOCK_CELLS = 2**22
"""Cosines held at once: 34 MB, however large the documents are."""

Link = tuple[int, int, float]
"""A row of the one, a row of the other, and the weight of the edge between them."""


def mutual_links(*, first: Vectors, second: Vectors, minimum: float, limit: int) -> list[Link]:
    """Link rows that are each other's nearest (ties: the lower row), the strongest first.

    Args:
        first: n unit or zero vectors of the document that comes first in every order of the two.
        second: m vectors of the other document.
        minimum: least weight max(cos, 0) of a link; a weight of 0 never links.
        limit: links at most; equal weights by row of `first`.

    Returns:
        (row of first, row of second, weight to six decimals). Exchanging the two yields the same links reversed wherever
        no two weights are equal, and always where `limit` cuts nothing off.
    """
    return _mutual_links(snap_fine(first), snap_fine(second), minimum, limit)


def links_to_others(
    *, own: Vectors, others: Vectors, starts: IntArray, own_first: npt.NDArray[np.bool_], minimum: float, limit: int
) -> list[Link]:
    """Link one document with many, each pair exactly as `mutual_links` does.

    Args:
        own: vectors of the document.
        others: vectors of the other documents, stacked.
        starts: (s + 1,), where each of the s documents begins in `others`, and the end.
        own_first: (s,), whether `own` is the first of the two in the order of all documents; it settles equal weights.
        minimum: as in `mutual_links`.
        limit: links at most for each pair of documents.

    Returns:
        (row of own, row of others, weight), document by document.
    """
    links: list[Link] = []
    fine = snap_fine(own)
    for begin, end, leads in zip(starts[:-1].tolist(), starts[1:].tolist(), own_first.tolist(), strict=True):
        other = snap_fine(others[begin:end])
        if leads:
            links += [(row, begin + column, weight) for row, column, weight in _mutual_links(fine, other, minimum, limit)]
        else:
            links += [(column, begin + row, weight) for row, column, weight in _mutual_links(other, fine, minimum, limit)]
    return links


def _mutual_links(first: FloatArray, second: FloatArray, minimum: float, limit: int) -> list[Link]:
    if not (len(first) and len(second)):
        return []
    nearest_second, nearest_first, cosines = _nearest_both_ways(first, second)
    weights = edge_weights(cosines)
    rows = np.arange(len(first))
    kept = rows[(nearest_first[nearest_second] == rows) & (weights >= minimum) & (weights > 0)]
    strongest = kept[np.argsort(-weights[kept], kind="stable")][:limit]
    return [(int(row), int(nearest_second[row]), float(weights[row])) for row in strongest]


def _nearest_both_ways(first: FloatArray, second: FloatArray) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the nearest row of `second` for each of `first`, the nearest of `first` for each of `second`, the former's cosines."""
    nearest_second = np.zeros(len(first), dtype=np.int64)
    cosines = np.zeros(len(first))
    nearest_first = np.zeros(len(second), dtype=np.int64)
    highest = np.full(len(second), -np.inf)
    block_rows = max(1, BLOCK_CELLS // len(second))
    for start in range(0, len(first), block_rows):
        block = first[start : start + block_rows] @ second.T
        nearest_second[start : start + len(block)] = block.argmax(axis=1)
        cosines[start : start + len(block)] = block.max(axis=1)
        tops = block.max(axis=0)
        # Strictly greater, so that an equal cosine stays with the lower row of an earlier block.
        better = tops > highest
        nearest_first[better] = start + block.argmax(axis=0)[better]
        highest = np.maximum(highest, tops)
    return nearest_second, nearest_first, cosines
