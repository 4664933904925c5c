"""Pages by their sections: the best pages of the best sections, and the pages around those that did not do."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from heapq import nlargest
from statistics import fmean

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range
from tasks.algorithms.graphs.section_tree import DocumentMap, PageKey
from tasks.algorithms.second_opinion import best_pages


def locate_pages(
    maps: Sequence[DocumentMap], heights: Sequence[FloatArray], *, best_nodes: int, sections: int, pages_each: int
) -> tuple[PageKey, ...]:
    """Return the best `pages_each` pages of the best `sections` sections of these documents, the best first, none twice.

    A section is as good as the mean of the `best_nodes` best of its own nodes, or of all where it has fewer: with the nodes of the
    sections under it none would ever stand behind one of these. What stands under no section counts as one, so that a document
    without an outline has pages, too. Equal ones go by document and reading order; what has no height is never taken.

    `heights` are for each map (n,), h of its nodes in the order of the map, at least 0; else ValueError.
    """
    ranked: list[tuple[float, str, int, int]] = []
    for number, (mapped, values) in enumerate(zip(maps, heights, strict=True)):
        require_range(name="heights", values=values, low=0.0, high=np.inf)
        own = defaultdict[int, list[float]](list)
        for home, height in zip(mapped.homes, values.tolist(), strict=True):
            own[home].append(height)
        means = {place: fmean(nlargest(best_nodes, group)) for place, group in own.items()}
        ranked += [(-mean, mapped.document_id, place, number) for place, mean in means.items() if mean > 0]
    found: dict[PageKey, None] = {}
    for _, document, place, number in sorted(ranked)[:sections]:
        best = best_section_pages(maps[number], place, heights=heights[number], count=pages_each)
        found |= dict.fromkeys((document, page) for page in best)
    return tuple(found)


def best_section_pages(mapped: DocumentMap, place: int, *, heights: FloatArray, count: int) -> list[int]:
    """Return the `count` pages of a section whose best node is highest and above 0, the best first, equal ones by number.

    `heights` (n,) are those of all nodes of the map: a page counts whole, whatever section its best node stands in.
    """
    pages = np.array([node.page for node in mapped.nodes], dtype=np.int64)
    inside = np.isin(pages, mapped.sections[place].pages)
    return [int(page) for page in best_pages(scores=heights[inside], pages=pages[inside], count=count)]


def widened(
    maps: Mapping[str, DocumentMap], pages: Sequence[PageKey], *, seen: Collection[PageKey], nearest: int, most: int
) -> tuple[PageKey, ...]:
    """Return at most `most` further pages around these: those of their sections first, then those of the sections above.

    For each page the `nearest` of its smallest section that are new, then as many of this section's parent; where neither has a new
    one, the pages beside it. New is what is neither in `pages` nor in `seen`. The root is no section here: it holds everything.
    Of two equally near the following page comes first, for a text reads on. `maps` has each page's document.
    """
    known, inner, outer = {*pages, *seen}, list[PageKey](), list[PageKey]()
    for document, page in pages:
        mapped = maps[document]
        section = mapped.smallest_section(page)
        places = (section, mapped.sections[section].parent)
        own, above = (mapped.sections[place].pages if place else () for place in places)
        first = _nearest(own, (document, page), known, nearest)
        second = _nearest(above, (document, page), known.union(first), nearest)
        beside = {page - 1, page + 1}.intersection(mapped.sections[0].pages)
        inner += first
        outer += second if first or second else _nearest(beside, (document, page), known, nearest)
    return tuple(dict.fromkeys(inner + outer))[:most]


def _nearest(pages: Iterable[int], around: PageKey, known: Collection[PageKey], count: int) -> list[PageKey]:
    document, middle = around
    new = [page for page in pages if (document, page) not in known]
    return [(document, page) for page in sorted(new, key=lambda page: (abs(page - middle), -page))[:count]]
