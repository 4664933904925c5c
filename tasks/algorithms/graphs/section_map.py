"""The map of a document: its sections in a tree with the pages of each, the best pages of the best, and what lies around a page."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storage.records.documents import PageKey, Section
from tasks.algorithms.arrays import FloatArray, IntArray, require_range
from tasks.algorithms.page_ranks import best_pages


@dataclass(frozen=True, slots=True)
class MappedSection:
    """A section and the pages, ascending, that hold a node of it or of the sections under it; `parent` is a place.

    `summary` is a model's, empty where none wrote one.
    """

    title: str
    level: int
    parent: int
    pages: tuple[int, ...]
    summary: str = ""


@dataclass(frozen=True, slots=True)
class DocumentMap:
    """The map of one document, its sections in reading order.

    Section 0 is the root: it has no title, level 0, every page, and is its own parent. To it belong the nodes under no section and
    the pages without a node. `places` has the place of each section by its id, that of the root by None; `on_pages` for page p, at
    place p - 1, the places of the sections that have a node on it.
    """

    document_id: str
    sections: tuple[MappedSection, ...]
    places: Mapping[str | None, int]
    on_pages: tuple[tuple[int, ...], ...]

    def smallest_section(self, page: int) -> int:
        """Return the place of the section with the fewest pages that this page has a node of, the deepest of equals."""
        own = self.on_pages[page - 1]
        return min(own, key=lambda place: (len(self.sections[place].pages), -self.sections[place].level, place))


def map_document(
    *, document_id: str, page_count: int, sections: Iterable[Section], lying: Iterable[tuple[int, str | None]]
) -> DocumentMap:
    """Return the map of a document with pages 1 to `page_count`.

    `lying` has the page of each node and the id of its section. Sections and nodes may come in any order.
    """
    outline = sorted(sections, key=lambda section: section.ordinal)
    places: dict[str | None, int] = {None: 0, **{section.id: place for place, section in enumerate(outline, 1)}}
    parents = [0, *(places[section.parent_id] for section in outline)]
    held, having = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    for page, section_id in set(lying):
        place = places[section_id]
        having[page].add(place)
        while place:  # the root holds every page anyway
            held[place].add(page)
            place = parents[place]
    tree = [MappedSection("", 0, 0, tuple(range(1, page_count + 1)))]
    for place, section in enumerate(outline, 1):
        tree.append(MappedSection(section.title, section.level, parents[place], tuple(sorted(held[place])), section.summary))
    on_pages = (tuple(sorted(having[page] or {0})) for page in tree[0].pages)
    return DocumentMap(document_id, tuple(tree), places, tuple(on_pages))


@dataclass(frozen=True, slots=True)
class NodeHeights:
    """Nodes of a document (n,): the place of the section of each, its page, and its height h, at least 0."""

    homes: IntArray
    pages: IntArray
    values: FloatArray


@dataclass(frozen=True, slots=True)
class LocatedSection:
    """A section of a document by its place, and the best of its pages, the best first."""

    document_id: str
    place: int
    pages: tuple[int, ...]


def locate_sections(
    maps: Sequence[DocumentMap],
    nodes: Sequence[NodeHeights],
    *,
    said: Sequence[Collection[int]],
    best_nodes: int,
    sections: int,
    pages_each: int,
) -> tuple[LocatedSection, ...]:
    """Return the sections that are `said`, by their places in each map, then the `sections` best others, with their best pages.

    A section is as good as the mean of the `best_nodes` best of its own nodes, or of all where it has fewer: with the nodes of the
    sections under it none would ever stand behind one of these. What stands under no section counts as one, so that a document
    without an outline has pages, too. Equal ones go by document and reading order; what has no height is never taken.

    `nodes` are those at hand of each map; ValueError where a height is negative or none.
    """
    ranked: list[tuple[bool, float, str, int, int]] = []
    for number, (mapped, found, chosen) in enumerate(zip(maps, nodes, said, strict=True)):
        require_range(name="heights", values=found.values, low=0.0, high=np.inf)
        means = section_heights(found, sections=len(mapped.sections), best_nodes=best_nodes)
        high = np.flatnonzero(means > 0).tolist()
        ranked += [(place not in chosen, -float(means[place]), mapped.document_id, place, number) for place in high]
    most = sections + sum(not other for other, *_ in ranked)
    return tuple(
        LocatedSection(document, place, best_section_pages(maps[number], place, nodes=nodes[number], count=pages_each))
        for _, _, document, place, number in sorted(ranked)[:most]
    )


def section_heights(nodes: NodeHeights, *, sections: int, best_nodes: int) -> FloatArray:
    """Return the mean of the `best_nodes` highest nodes of each section (S,), of all where it has fewer, 0 where it has none."""
    order = np.lexsort((-nodes.values, nodes.homes))
    homes = nodes.homes[order]
    best = np.arange(len(homes)) - np.searchsorted(homes, homes) < best_nodes
    sums = np.bincount(homes[best], weights=nodes.values[order][best], minlength=sections)
    return np.asarray(sums / np.maximum(np.bincount(homes[best], minlength=sections), 1))


def best_section_pages(mapped: DocumentMap, place: int, *, nodes: NodeHeights, count: int) -> tuple[int, ...]:
    """Return the `count` pages of a section that have the highest best node, above 0, the best first, equal ones by number.

    A page counts whole, whatever section its best node stands in.
    """
    inside = np.isin(nodes.pages, mapped.sections[place].pages)
    return tuple(best_pages(scores=nodes.values[inside], pages=nodes.pages[inside], count=count).tolist())


def widen_pages(
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
