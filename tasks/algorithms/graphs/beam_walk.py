"""The graph of pages, which are alike or joined by what stands on them, and a beam over it (papers/molorag.txt, section 3).

The pages nearest to the question are rated, then the neighbours of the best, hop by hop.
"""

from dataclasses import dataclass, replace

import numpy as np

from storage.records.documents import Vectors
from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray, snap_coarse


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


LOWEST, HIGHEST = 1.0, 5.0
"""A page rated HIGHEST holds all of the answer, one rated LOWEST nothing of it."""


@dataclass(frozen=True, slots=True)
class Beam:
    """A walk on its way: `similarity` (P,) 0..1 to the question, `ratings` (P,) LOWEST..HIGHEST, NaN where there is none yet.

    `open` are the pages to rate next, by falling similarity; the walk is over where there is none. `hop` is how many were made.
    """

    similarity: FloatArray
    ratings: FloatArray
    open: IntArray
    hop: int = 0

    @property
    def visited(self) -> BoolArray:
        return np.asarray(~np.isnan(self.ratings))


def begin(similarity: FloatArray, *, width: int) -> Beam:
    """Return a walk from the `width` most similar pages; the similarity (P,) is scaled to 0..1 over all of them."""
    low, high = similarity.min(initial=np.inf), similarity.max(initial=-np.inf)
    scaled = (similarity - low) / (high - low) if high > low else np.ones(len(similarity))
    beam = Beam(scaled, np.full(len(similarity), np.nan), np.zeros(0, dtype=np.int64))
    return replace(beam, open=_best(np.arange(len(similarity)), scaled)[:width])


def scores_of(beam: Beam, *, share: float) -> FloatArray:
    """Return s (P,): the similarity's `share` of it, the rest is the rating's; of a page without a rating the similarity."""
    rated = share * beam.similarity + (1.0 - share) * (beam.ratings - LOWEST) / (HIGHEST - LOWEST)
    return np.where(beam.visited, rated, beam.similarity)


def go_on(beam: Beam, ratings: FloatArray, *, arcs: BoolArray, width: int, hops: int, share: float, most: int) -> Beam:
    """Return the walk after its open pages got these ratings, with the unvisited neighbours of the best of them open.

    Args:
        beam: a walk that is not over.
        ratings: one for each open page; NaN where none was to be had, which leaves the page worth its similarity.
        arcs: (P, P), which pages are joined.
        width: how many of the pages just rated are walked on from.
        hops: how many are made, at most.
        share: as in `scores_of`.
        most: pages that are rated, at most.
    """
    known = beam.ratings.copy()
    as_near = LOWEST + (HIGHEST - LOWEST) * beam.similarity[beam.open]
    known[beam.open] = np.where(np.isnan(ratings), as_near, ratings)
    walked = replace(beam, ratings=known, open=beam.open[:0], hop=beam.hop + 1)
    left = most - int(walked.visited.sum())
    if beam.hop == hops or left <= 0:
        return walked
    best = _best(beam.open, scores_of(walked, share=share))[:width]
    reached = np.flatnonzero(arcs[best].any(axis=0) & ~walked.visited)
    return replace(walked, open=_best(reached, walked.similarity)[:left])


def pages_to_read(beam: Beam, *, share: float, least: float, count: int) -> IntArray:
    """Return the best visited pages, `count` at most: those with an s of `least` or more, or the best one where there is none.

    Equal ones come by similarity, then by place.
    """
    found, worth = np.flatnonzero(beam.visited), scores_of(beam, share=share)
    ranked = found[np.lexsort((found, -beam.similarity[found], -worth[found]))]
    kept = ranked[worth[ranked] >= least]
    return (kept if len(kept) else ranked[:1])[:count]


def _best(places: IntArray, values: FloatArray) -> IntArray:
    """Return the places by falling value, equal ones by place."""
    return np.asarray(places[np.argsort(-values[places], kind="stable")])
