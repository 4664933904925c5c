"""Pages out of their nodes: which page each node stands on, and what its nodes have together."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from storage.records import Vectors
from tasks.algorithms.cosines import FloatArray, IntArray


def pages_of_nodes(*, documents: IntArray, pages: IntArray) -> IntArray:
    """Return for each of n nodes the number of its page among the P pages that have nodes, by document and page."""
    _places, numbers = np.unique(np.stack([documents, pages], axis=1), axis=0, return_inverse=True)
    return np.asarray(numbers, dtype=np.int64).ravel()


def sums_by_page(*, values: FloatArray, pages: IntArray) -> FloatArray:
    """Return the sums of the nodes' values, (n,) or (n, m), by page: (P,) or (P, m)."""
    sums = np.zeros((int(pages.max(initial=-1)) + 1, *values.shape[1:]))
    np.add.at(sums, pages, values)
    return sums


def page_means(*, vectors: Vectors, weights: FloatArray, pages: IntArray) -> Vectors:
    """Return the unit mean (P, d) of the nodes' vectors (n, d) on each page, a node of weight 0 counting as 1; 0 where they cancel.

    Args:
        vectors: unit or zero.
        weights: (n,), at least 0: the nodes' words.
        pages: (n,), as `pages_of_nodes` numbers them.
    """
    # In the order of the pages, so that each page is one run; the sums do not depend on what other pages there are.
    order = np.argsort(pages, kind="stable")
    weighted = vectors[order] * np.maximum(weights[order], 1.0).astype(np.float32)[:, None]
    starts = np.flatnonzero(np.diff(pages[order], prepend=-1))
    sums = np.add.reduceat(weighted, starts, axis=0) if len(starts) else np.zeros((0, vectors.shape[1]), dtype=np.float32)
    lengths: npt.NDArray[np.float32] = np.linalg.norm(sums, axis=1, keepdims=True)
    means: Vectors = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0)
    return means
