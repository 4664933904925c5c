"""Pages out of their nodes: which page each node stands on, and what its nodes have together."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from storage.records import Vectors
from tasks.algorithms.cosines import FloatArray, IntArray

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


def page_means(*, vectors: Vectors, weights: FloatArray, pages: IntArray) -> Vectors:
    """Return the unit mean (P, d) of the nodes' vectors (n, d) on each page, a node of weight 0 counting as 1; 0 where they cancel.

    Args:
        vectors: unit or zero.
        weights: (n,), at least 0: the nodes' words.
        pages: (n,), as `pages_of_nodes` numbers them.
    """
    weighted = vectors * np.maximum(weights, 1.0).astype(np.float32)[:, None]
    sums = sums_by_page(values=weighted, pages=pages)
    lengths: npt.NDArray[np.float32] = np.linalg.norm(sums, axis=1, keepdims=True)
    means: Vectors = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return means
