"""The map of a document: its sections in a tree, and the pages that each of them holds."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from storage.records.documents import Section


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
