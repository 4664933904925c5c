"""The graph of pages: which pages are alike, and which are joined by what stands on them (papers/molorag.txt, section 3.1)."""

import numpy as np

from storage.records.documents import Vectors
from tasks.algorithms.arrays import BoolArray, IntArray, snap_coarse


def similar_pages(*, vectors: Vectors, documents: IntArray, least: float, neighbours: int) -> BoolArray:
    """Return which pages are joined (P, P), both ways: each with its nearest of the same document, from cosine `least` on.

    Args:
        vectors: (P, d), of length 1.
        documents: (P,), the document of each page.
        least: theta, in [-1, 1].
        neighbours: of a page, at most; more may be joined to it from their side. Equal ones by place.
    """
    joined, exact = np.zeros((len(vectors), len(vectors)), dtype=np.bool_), snap_coarse(vectors)
    for document in np.unique(documents):
        places = np.flatnonzero(documents == document)
        cosines = exact[places] @ exact[places].T
        np.fill_diagonal(cosines, -np.inf)
        nearest = np.argsort(-cosines, axis=1, kind="stable")[:, :neighbours]
        rows = np.repeat(np.arange(len(places)), nearest.shape[1])
        kept = cosines[rows, nearest.ravel()] >= least
        joined[places[rows[kept]], places[nearest.ravel()[kept]]] = True
    return np.asarray(joined | joined.T)


def linked_pages(*, tails: IntArray, heads: IntArray, pages: IntArray) -> BoolArray:
    """Return which pages are joined (P, P), both ways, by arcs (m,) between their nodes; `pages` (n,) are numbered from 0."""
    count = int(pages.max(initial=-1)) + 1
    joined = np.zeros((count, count), dtype=np.bool_)
    joined[pages[tails], pages[heads]] = True
    joined |= joined.T
    np.fill_diagonal(joined, False)
    return joined


def following_pages(*, documents: IntArray, numbers: IntArray) -> BoolArray:
    """Return which pages (P, P) stand next to each other in a document, both ways."""
    beside = np.abs(numbers[:, np.newaxis] - numbers) == 1
    return np.asarray(beside & (documents[:, np.newaxis] == documents))
