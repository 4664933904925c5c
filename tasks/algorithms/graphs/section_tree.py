"""The map of a document: its sections in a tree, the pages that each of them holds, and the figures and tables on these."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from storage.records.documents import NodeKind, Section
from tasks.algorithms.text.summaries import titled_summary
from tasks.algorithms.text.words import sentences_of, tokens_of, word_rarity

PageKey = tuple[str, int]
"""A document's id and a page."""


@dataclass(frozen=True, slots=True)
class MappedNode:
    """What the map has of a node; `summary` is "" where the node says nothing by itself."""

    id: str
    ordinal: int
    page: int
    kind: NodeKind
    section_id: str | None
    summary: str
    label: str


@dataclass(frozen=True, slots=True)
class MappedSection:
    """A section and the pages, ascending, that hold a node of it or of the sections under it; `parent` is a place."""

    title: str
    level: int
    parent: int
    pages: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class MappedPage:
    """A page, the places of the sections that have a node on it, and its figures and tables in reading order."""

    number: int
    sections: tuple[int, ...]
    elements: tuple[MappedNode, ...]


@dataclass(frozen=True, slots=True)
class DocumentMap:
    """The map of one document; sections and nodes stand in reading order, page p at place p - 1.

    Section 0 is the root: it has no title, level 0, every page, and is its own parent. To it belong the nodes under no section and
    the pages without a node. `homes` has for each node the place of its section.
    """

    document_id: str
    sections: tuple[MappedSection, ...]
    pages: tuple[MappedPage, ...]
    nodes: tuple[MappedNode, ...]
    homes: tuple[int, ...]

    def smallest_section(self, page: int) -> int:
        """Return the place of the section with the fewest pages that this page has a node of, the deepest of equals."""
        own = self.pages[page - 1].sections
        return min(own, key=lambda place: (len(self.sections[place].pages), -self.sections[place].level, place))


def map_document(*, document_id: str, page_count: int, sections: Iterable[Section], nodes: Iterable[MappedNode]) -> DocumentMap:
    """Return the map of a document with pages 1 to `page_count`; sections and nodes may come in any order."""
    outline = sorted(sections, key=lambda section: section.ordinal)
    ordered = sorted(nodes, key=lambda node: (node.ordinal, node.id))
    places: dict[str | None, int] = {None: 0, **{section.id: place for place, section in enumerate(outline, 1)}}
    parents = [0, *(places[section.parent_id] for section in outline)]
    homes = tuple(places[node.section_id] for node in ordered)
    held, having = defaultdict[int, set[int]](set), defaultdict[int, set[int]](set)
    elements = defaultdict[int, list[MappedNode]](list)
    for node, home in zip(ordered, homes, strict=True):
        having[node.page].add(home)
        if node.kind in {NodeKind.FIGURE, NodeKind.TABLE}:
            elements[node.page].append(node)
        while home:  # the root holds every page anyway
            held[home].add(node.page)
            home = parents[home]
    tree = [MappedSection("", 0, 0, tuple(range(1, page_count + 1)))]
    for place, section in enumerate(outline, 1):
        tree.append(MappedSection(section.title, section.level, parents[place], tuple(sorted(held[place]))))
    pages = [MappedPage(page, tuple(sorted(having[page] or {0})), tuple(elements[page])) for page in tree[0].pages]
    return DocumentMap(document_id, tuple(tree), tuple(pages), tuple(ordered), homes)


def section_summaries(mapped: DocumentMap, places: Sequence[int], *, words: int) -> tuple[str, ...]:
    """Return a summary of at most `words` words for each of these sections: the titles right under it, then its best sentences.

    The sentences are those of the summaries of its own nodes, for the sections under it have summaries of their own; "" where a
    section has neither. Rarity is counted over the summaries of the whole document.
    """
    tokens = [tokens_of(node.summary) for node in mapped.nodes]
    # Words alone: a full stop stands in every sentence and would outweigh them.
    rarity = word_rarity([frozenset(token.lower() for token in part if token[0].isalnum()) for part in tokens])
    titles, texts = defaultdict[int, list[str]](list), {place: list[str]() for place in places}
    for section in mapped.sections[1:]:
        titles[section.parent].append(section.title)
    for node, home in zip(mapped.nodes, mapped.homes, strict=True):
        if home in texts and node.kind is not NodeKind.TITLE:
            texts[home] += sentences_of(node.summary)
    return tuple(
        titled_summary(above=mapped.sections[place].title, titles=titles[place], sentences=texts[place], rarity=rarity, words=words)
        for place in places
    )
