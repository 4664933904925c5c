"""Where a page is begun and where reading goes on from there: arcs that the graph of elements has no single edge for."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, pages_of_nodes, require_range


def page_leaders(*, documents: IntArray, pages: IntArray, scores: FloatArray, count: int) -> IntArray:
    """Return the best node of each of the at most `count` best pages, the best first, equal ones by index.

    A page is as good as its best node. Pages without a score above 0 have no leader.

    Args:
        documents: (n,), the document that each node is of.
        pages: (n,), its page there.
        scores: (n,), at least 0.
        count: at least 0.
    """
    order = _best_first(scores)
    order = order[scores[order] > 0]
    _page, firsts = np.unique(pages_of_nodes(documents=documents, pages=pages)[order], return_index=True)
    return np.asarray(order[np.sort(firsts)][:count])


def same_page_arcs(*, documents: IntArray, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from each node to the next best one of its page, equal ones by index."""
    order = _best_first(scores)
    by_page = pages_of_nodes(documents=documents, pages=pages)[order]
    order = order[np.argsort(by_page, kind="stable")]
    together = _same(documents[order], pages[order])
    return order[:-1][together], order[1:][together]


def page_turn_arcs(*, documents: IntArray, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from the best node of a page to that of the page behind it, where both have nodes."""
    order = _best_first(scores)
    _page, firsts = np.unique(pages_of_nodes(documents=documents, pages=pages)[order], return_index=True)
    leaders = order[firsts]
    turned = _same(documents[leaders], pages[leaders] - np.arange(len(leaders)))
    return leaders[:-1][turned], leaders[1:][turned]


def title_page_arcs(*, documents: IntArray, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from the best node of a document to that of its page 1, where the best is elsewhere."""
    order = _best_first(scores)
    owners, firsts = np.unique(documents[order], return_index=True)
    on_title = order[pages[order] == 1]
    titled, title_firsts = np.unique(documents[on_title], return_index=True)
    best, heads = order[firsts][np.isin(owners, titled)], on_title[title_firsts]
    elsewhere = pages[best] != 1
    return best[elsewhere], heads[elsewhere]


def _best_first(scores: FloatArray) -> IntArray:
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    return np.argsort(-scores, kind="stable")


def _same(documents: IntArray, pages: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which two neighbours in a row of nodes share document and page."""
    return np.asarray((np.diff(documents) == 0) & (np.diff(pages) == 0))
