"""What the places that a question names mean in the documents asked: pages, and elements on them."""

from collections import defaultdict
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from storage.records.documents import Section
from tasks.algorithms.questions.places import NamedPlace, PlaceKind
from tasks.algorithms.questions.sections import numbered_sections, titled_sections, with_subsections

_Key = TypeVar("_Key", bound=Hashable)

PageKey = tuple[str, int]
"""A document's id and a physical page's number."""

_FIGURES = frozenset({"chart", "graph", "diagram", "scheme", "map", "plate", "photo", "image", "illustration"})
"""What a reader may call a figure, whatever its caption calls it."""


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
    in_section: float,
    near_title: float,
) -> ResolvedPlaces:
    """Return the pages and nodes that the places mean in each document, the strongest meaning of each.

    A page's number means the page that has it printed; the page that it counts means as much only where no page of that
    document has it printed. A page, and every node on it, has strength 1; so have a labelled node and its page.

    Args:
        places: as `named_places` finds them.
        pages: all pages of the documents.
        sections: all sections of the documents, parents before their children.
        nodes: the candidates.
        beside_printed: strength of the page that a number counts, where another page has it printed.
        in_section: strength of the pages and nodes of a named section and those under it.
        near_title: the same, where a section's title only contains the words of the question.
    """
    lengths: defaultdict[str, int] = defaultdict(int)
    for page in pages:
        lengths[page.document_id] = max(lengths[page.document_id], page.number)
    known_labels = {node.label.casefold() for node in nodes}
    by_page: dict[PageKey, float] = {}
    by_label: dict[str, float] = {}
    by_section: dict[str, float] = {}
    unknown: list[NamedPlace] = []
    for place in places:
        if place.kind is PlaceKind.PAGE:
            known = _raise(by_page, _read_page(place.value, pages, beside_printed))
        elif place.kind is PlaceKind.COUNTED:
            known = _raise(by_page, _count_page(int(place.value), lengths))
        elif place.kind is PlaceKind.LABEL:
            known = _raise(by_label, _read_label(place.value, known_labels))
        else:
            known = _raise(by_section, _read_section(place, sections, in_section, near_title))
        # A title is a guess: "the market part" may be no section at all.
        if not known and place.kind is not PlaceKind.TITLED:
            unknown.append(place)
    return ResolvedPlaces(*_spread(by_page, by_label, by_section, sections, nodes), tuple(unknown))


def _read_page(number: str, pages: Sequence[PageMark], beside_printed: float) -> dict[PageKey, float]:
    printed = {(page.document_id, page.number): 1.0 for page in pages if (page.label or "").upper() == number}
    having = {document for document, _ in printed}
    counted = {
        (page.document_id, page.number): beside_printed if page.document_id in having else 1.0
        for page in pages
        if str(page.number) == number
    }
    return {**counted, **printed}


def _count_page(number: int, lengths: Mapping[str, int]) -> dict[PageKey, float]:
    counted = {document: number if number > 0 else length + 1 + number for document, length in lengths.items()}
    return {(document, page): 1.0 for document, page in counted.items() if 1 <= page <= lengths[document]}


def _read_label(label: str, known: set[str]) -> dict[str, float]:
    """Return the label that is meant: "Chart 3" is Figure 3 where the documents call their charts figures."""
    kind, number = label.split(" ", 1)
    other = f"figure {number}" if kind in _FIGURES else label
    return {meant: 1.0 for meant in (label, other) if meant in known and (meant == label or label not in known)}


def _read_section(place: NamedPlace, sections: Sequence[Section], in_section: float, near_title: float) -> dict[str, float]:
    numbered = place.kind is PlaceKind.NUMBERED
    exact, near = (numbered_sections(place.value, sections), []) if numbered else titled_sections(place.value, sections)
    found = {sections[child].id: near_title for child in with_subsections(near, sections)}
    return found | {sections[child].id: in_section for child in with_subsections(exact, sections)}


def _spread(
    by_page: Mapping[PageKey, float],
    by_label: Mapping[str, float],
    by_section: Mapping[str, float],
    sections: Sequence[Section],
    nodes: Sequence[NodeMark],
) -> tuple[dict[PageKey, float], dict[str, float]]:
    """Carry the strengths of pages, labels and sections to the nodes, and those of nodes and sections to their pages."""
    meant_pages, meant_nodes = dict(by_page), dict[str, float]()
    for section in sections:
        strength = by_section.get(section.id, 0.0)
        _raise(meant_pages, {(section.document_id, page): strength for page in range(section.first_page, section.last_page + 1)})
    for node in nodes:
        key = (node.document_id, node.page)
        labelled = by_label.get(node.label.casefold(), 0.0)
        _raise(meant_pages, {key: labelled})
        _raise(meant_nodes, {node.id: max(labelled, by_page.get(key, 0.0), by_section.get(node.section_id or "", 0.0))})
    return meant_pages, meant_nodes


def _raise(strengths: dict[_Key, float], more: Mapping[_Key, float]) -> bool:
    """Take over what is stronger, and say whether there is anything; a strength of 0 means nothing."""
    for key, strength in more.items():
        if strength > strengths.get(key, 0.0):
            strengths[key] = strength
    return bool(more)
