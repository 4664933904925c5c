"""What the places that a question names mean in the documents asked: pages, and elements on them."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TypeVar

from storage.records.documents import PageKey, Section
from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tasks.algorithms.questions.sections import numbered_sections, titled_sections, with_subsections

_Key = TypeVar("_Key", bound=Hashable)

_FIGURES = frozenset({"chart", "graph", "diagram", "scheme", "map", "plate", "photo", "image", "illustration"})
"""What a reader may call a figure, whatever its caption calls it."""

_MOST_PAGES = 9_999


@dataclass(frozen=True, slots=True)
class PageMark:
    """A page as a question may name it: its number in the document, and the label printed on it."""

    document_id: str
    number: int
    label: str | None


@dataclass(frozen=True, slots=True)
class NodeMark:
    """A node as a question may name it: by its page, its label ("Figure 5") or its section."""

    id: str
    document_id: str
    page: int
    label: str
    section_id: str | None


@dataclass(frozen=True, slots=True)
class ResolvedPlaces:
    """How strongly the question names each page and node, 0..1, and which of its places none of the documents has."""

    pages: dict[PageKey, float]
    nodes: dict[str, float]
    unknown: tuple[NamedPlace, ...]


def resolve_places(
    places: Sequence[NamedPlace],
    *,
    pages: Sequence[PageMark],
    sections: Sequence[Section],
    nodes: Sequence[NodeMark],
    beside_printed: float,
) -> ResolvedPlaces:
    """Return the pages and nodes that the places mean in each document, the strongest meaning of each.

    A page's number means the page that has it printed; the page that it counts means as much only where no page of that
    document has it printed. A page, and every node on it, has strength 1; so have a labelled node and its page, and all pages
    and nodes of a named section and those under it.

    Args:
        places: as `named_places` finds them.
        pages: all pages of the documents.
        sections: all sections of the documents, parents before their children.
        nodes: the candidates.
        beside_printed: strength of the page that a number counts, where another page has it printed.
    """
    lengths: defaultdict[str, int] = defaultdict(int)
    for page in pages:
        lengths[page.document_id] = max(lengths[page.document_id], page.number)
    known_labels = {node.label.casefold() for node in nodes}
    by_page: dict[PageKey, float] = {}
    by_label: dict[str, float] = {}
    named_sections: set[str] = set()
    unknown: list[NamedPlace] = []
    for place in places:
        if place.kind is PlaceKind.PAGE:
            known = _raise(by_page, _read_pages(place, pages, beside_printed))
        elif place.kind is PlaceKind.COUNTED:
            known = _raise(by_page, _count_pages(place, lengths))
        elif place.kind is PlaceKind.LABEL:
            known = _raise(by_label, _read_label(place.value, known_labels))
        else:
            meant = _read_section(place, sections)
            known = bool(meant)
            named_sections |= meant
        # A title is a guess: "the market part" may be no section at all.
        if not known and place.kind is not PlaceKind.TITLED:
            unknown.append(place)
    return ResolvedPlaces(*_spread(by_page, by_label, named_sections, sections, nodes), tuple(unknown))


def _read_pages(place: NamedPlace, pages: Sequence[PageMark], beside_printed: float) -> dict[PageKey, float]:
    # "From page 3 to the last" ends where the document does.
    last = int(place.last) if place.last and int(place.last) > 0 else _MOST_PAGES
    numbers = set(map(str, range(int(place.value), last + 1))) if place.last else {place.value}
    printed = {(page.document_id, page.number): 1.0 for page in pages if (page.label or "").upper() in numbers}
    having = {document for document, _ in printed}
    counted = {
        (page.document_id, page.number): beside_printed if page.document_id in having else 1.0
        for page in pages
        if str(page.number) in numbers
    }
    return {**counted, **printed}


def _count_pages(place: NamedPlace, lengths: Mapping[str, int]) -> dict[PageKey, float]:
    first, last = (int(end) for end in (place.value, place.last or place.value))
    found: dict[PageKey, float] = {}
    for document, length in lengths.items():
        start, end = (number if number > 0 else length + 1 + number for number in (first, last))
        found |= {(document, page): 1.0 for page in range(max(start, 1), min(end, length) + 1)}
    return found


def _read_label(label: str, known: set[str]) -> dict[str, float]:
    """Return the label that is meant: "Chart 3" is Figure 3 where the documents call their charts figures."""
    meant = next((name for name in possible_labels(label) if name in known), None)
    return {meant: 1.0} if meant else {}


def possible_labels(label: str) -> tuple[str, ...]:
    """Return what a label may be in the documents, the likeliest first: "chart 3" is chart 3, else figure 3."""
    kind, number = label.split(" ", 1)
    return (label, f"figure {number}") if kind in _FIGURES else (label,)


def _read_section(place: NamedPlace, sections: Sequence[Section]) -> set[str]:
    numbered = place.kind is PlaceKind.NUMBERED
    found = numbered_sections(place.value, sections) if numbered else titled_sections(place.value, sections)
    return {sections[child].id for child in with_subsections(found, sections)}


def _spread(
    by_page: Mapping[PageKey, float],
    by_label: Mapping[str, float],
    named_sections: Set[str],
    sections: Sequence[Section],
    nodes: Sequence[NodeMark],
) -> tuple[dict[PageKey, float], dict[str, float]]:
    """Carry the strengths of pages and labels to the nodes, and those of nodes and sections to their pages.

    A section with named pages means these pages: "page 9 of the conclusion".
    """
    in_sections = {
        (section.document_id, page)
        for section in sections
        if section.id in named_sections
        for page in range(section.first_page, section.last_page + 1)
    }
    in_sections = in_sections & by_page.keys() or in_sections
    meant_pages, meant_nodes = dict(by_page), dict[str, float]()
    _raise(meant_pages, dict.fromkeys(in_sections, 1.0))
    for node in nodes:
        key = (node.document_id, node.page)
        labelled = by_label.get(node.label.casefold(), 0.0)
        in_section = float(node.section_id in named_sections and key in in_sections)
        _raise(meant_pages, {key: labelled})
        _raise(meant_nodes, {node.id: max(labelled, by_page.get(key, 0.0), in_section)})
    return meant_pages, meant_nodes


def _raise(strengths: dict[_Key, float], more: Mapping[_Key, float]) -> bool:
    """Take over the stronger values, and say whether `more` has any; a strength of 0 means nothing."""
    for key, strength in more.items():
        if strength > strengths.get(key, 0.0):
            strengths[key] = strength
    return bool(more)
