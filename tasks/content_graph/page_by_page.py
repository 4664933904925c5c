"""A document read page by page, as it looks: its outline, what each element says, what elements have to do with each other.

These are LAD-RAG's nodes and edges and DMAP's outline, over the elements that the parser found: the model adds none. What it must
still know is handed from page to page, so the calls of a document come one after the other.
"""

from collections import defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Annotated, Literal

from pydantic import Field

from storage.records.documents import Edge, EdgeKind, Modality, Node, NodeKind
from storage.text import shorten
from tasks.algorithms.layout.boxes import FURNITURE_KINDS
from tasks.algorithms.sharing import group_in_order
from tasks.algorithms.text.standing import without_controls
from tasks.algorithms.text.words import first_words
from tasks.content_graph.analysis import NO_MEANING, with_index
from tasks.content_graph.asking import fenced_call
from tasks.content_graph.description import Describing, NodeId, body_of, entries_per_call, listing, says_nothing, wrong_ids
from tasks.content_graph.structure import make_edge
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.models.chat.forms import Form, characters, items
from tasks.models.chat.model import ChatModel
from tasks.prompts.prompt import Piece
from tasks.settings.ingest import AnalysisSettings

REMEMBERED_CHARACTERS = 160
"""Of the summary of an element that is remembered."""
HIGHEST_LEVEL = 9
MOST_COPIED = 2
"""Figures and tables whose words are copied in one call."""
MOST_NAMES, MOST_NOTES, NAME_CHARACTERS = 10, 5, 60
"""Of what is remembered; a server that does not hold a form writes more, and every later call would show it."""
LONGEST_ID = 9
"""Python refuses to read a number of some thousand digits."""
CONTINUES = "continues"
"""The link that becomes an edge of its own, from what is continued, as the layout has it; all others become references."""

Name = Annotated[str, characters(NAME_CHARACTERS)]


class Opening(Form):
    """An element that opens a section."""

    id: NodeId
    level: Annotated[int, Field(ge=1, le=HIGHEST_LEVEL)]


class PageElement(Form):
    """What an element says, and how it looks."""

    id: NodeId
    summary: Annotated[str, characters(300)]
    looks: Annotated[str, characters(60)]


class PictureWords(Form):
    id: NodeId
    words: Annotated[str, characters(1600)]


class PageLink(Form):
    """What an element of the page has to do with another."""

    source: NodeId
    target: NodeId
    relation: Literal["explains", "continues", "references", "summarizes", "updates"]


class NamedThing(Form):
    name: Name
    ids: Annotated[list[NodeId], items(3)]


class Noted(Form):
    """What is still to be known on later pages."""

    names: Annotated[list[NamedThing], items(MOST_NAMES)]
    topics: Annotated[list[Name], items(MOST_NOTES)]
    open: Annotated[list[NodeId], items(MOST_NOTES)]


class PageReading(Form):
    """What the model read on a page."""

    sections: Annotated[list[Opening], items(10)]
    elements: list[PageElement]
    words: Annotated[list[PictureWords], items(MOST_COPIED)]
    links: Annotated[list[PageLink], items(8)]
    memory: Noted


@dataclass(frozen=True, slots=True)
class Memory:
    """What is handed from page to page: the open sections by place and level, and what the model noted; elements by place."""

    sections: tuple[tuple[int, int], ...] = ()
    names: tuple[tuple[str, tuple[int, ...]], ...] = ()
    topics: tuple[str, ...] = ()
    open: tuple[int, ...] = ()

    @property
    def places(self) -> frozenset[int]:
        named = (place for _, places in self.names for place in places)
        return frozenset((*(place for place, _ in self.sections), *named, *self.open))

    def after(self, opened: Sequence[tuple[int, int]], noted: Noted, known: frozenset[int]) -> "Memory":
        """Return what is remembered after a page; ids that were never shown are left out."""
        sections = list(self.sections)
        for place, level in opened:
            sections = [(other, above) for other, above in sections if above < level] + [(place, level)]
        names = ((_short(thing.name), _places(thing.ids, known)) for thing in noted.names[:MOST_NAMES])
        topics = map(_short, noted.topics[:MOST_NOTES])
        return Memory(tuple(sections), tuple(names), tuple(topics), _places(noted.open, known)[:MOST_NOTES])

    def lines(self) -> str:
        """Return it as the prompt shows it; "nothing yet" at the beginning."""
        parts = [
            *(f"n{place} opened a section of level {level}" for place, level in self.sections),
            *(f"{name}: {' '.join(f'n{place}' for place in places)}" for name, places in self.names),
            f"Topics: {'; '.join(self.topics)}" if self.topics else "",
            f"Not explained yet: {' '.join(f'n{place}' for place in self.open)}" if self.open else "",
        ]
        return "\n".join(filter(None, parts)) or "nothing yet"


@dataclass(slots=True)
class PagesRead:
    """What was read of a document's elements, by place: their levels as titles, 0 for what opens nothing, of pages that were read,
    what they say, the words in their pictures and their links; and why one was not read.
    """

    levels: dict[int, int] = field(default_factory=dict)
    elements: dict[int, PageElement] = field(default_factory=dict)
    words: dict[int, str] = field(default_factory=dict)
    links: dict[tuple[int, int], str] = field(default_factory=dict)
    errors: dict[int, ChatError] = field(default_factory=dict)


def page_groups(asking: Describing) -> list[list[int]]:
    """Return the elements that are shown together, page after page: not furniture, nor captions, which stand with their figures."""
    pages = defaultdict[int, list[int]](list)
    for place, node in enumerate(asking.nodes):
        if node.kind not in FURNITURE_KINDS and node.kind is not NodeKind.CAPTION:
            pages[node.page].append(place)
    size = asking.settings.model.characters_per_call
    most = entries_per_call(PageReading, "elements", asking.settings.pages_model.elements_per_call)
    groups: list[list[int]] = []
    for _, places in sorted(pages.items()):
        # A figure or table takes the room of its share of the words that are copied.
        sizes = [max(len(body_of(place, asking)), size // MOST_COPIED if _is_drawn(asking.nodes[place]) else 0) for place in places]
        runs = group_in_order(sizes=sizes, most_items=most, most_size=size)
        groups += [[places[place] for place in run] for run in runs]
    return groups


def page_call(
    group: Sequence[int], asking: Describing, memory: Memory, read: Mapping[int, PageElement], picture: bytes | None
) -> ChatCall[PageReading]:
    """Return the call about elements of a page, with what is remembered of earlier ones and the page's picture."""
    page, asked = asking.nodes[group[0]].page, [place for place in group if place in asking.places]
    pieces = [Piece("memory", memory.lines())]
    for place in sorted(memory.places.difference(group)):
        node = asking.nodes[place]
        words = read[place].summary if place in read else node.caption or node.content
        pieces.append(Piece(f"n{place}: remembered of page {node.page}", shorten(words, REMEMBERED_CHARACTERS)))
    pieces += [Piece(f"n{place}: {asking.nodes[place].kind.value}", body_of(place, asking)) for place in group]
    call = fenced_call(
        asking.document_id,
        f"page {page} of {asking.name}",
        "page",
        "read_page",
        listing(PageReading, "elements", len(asked)),
        pieces,
        check=partial(_wrong_reading, asked=asked),
        slots={
            "page": str(page),
            "asked": ", ".join(f"n{place}" for place in asked) or "no element",
            "words": str(asking.settings.summary_words),
        },
    )
    return call if picture is None else replace(call, images=(picture,), without_pictures=call)


def read_page_by_page(
    asking: Describing, *, chat: ChatModel, picture_of: Callable[[int], bytes | None], on_nodes: Callable[[int, int], None]
) -> PagesRead:
    """Have the model read the pages in their order; `on_nodes(done, total)` is called as replies come.

    What has no usable reply is asked in halves, one after the other: each hands on what it remembers. What it did not reply about
    stays as rules left it, and no later page knows of it. Raises ChatEndedError where the run cannot go on, StoppedError where the
    user ended it.
    """
    read, memory, done, groups = PagesRead(), Memory(), 0, deque(page_groups(asking))
    total, drawn = sum(map(len, groups)), dict[int, bytes | None]()

    def count(more: int) -> None:
        nonlocal done
        done += more
        on_nodes(done, total)

    count(0)
    while groups:
        group = groups.popleft()
        page = asking.nodes[group[0]].page
        if page not in drawn:
            drawn = {page: picture_of(page) if chat.abilities.sees else None}
        call = page_call(group, asking, memory, read.elements, drawn[page])
        (reply,) = chat.ask_all([call])
        if isinstance(reply, ChatError) and len(group) > 1:
            groups.extendleft((group[len(group) // 2 :], group[: len(group) // 2]))
            continue
        if isinstance(reply, ChatError):
            read.errors[group[0]] = reply
        else:
            memory = _take(reply, group, memory, read, seen=chat.saw(call))
        count(len(group))
    return read


def described_by_pages(nodes: Sequence[Node], read: PagesRead, settings: AnalysisSettings) -> tuple[Node, ...]:
    """Return the nodes as the model read them; keywords stay those of the rules, for a page's reading names none."""
    return tuple(
        _described(node, read.elements[place], read.words.get(place, ""), settings) if place in read.elements else node
        for place, node in enumerate(nodes)
    )


def edges_of_pages(
    nodes: Sequence[Node], read: PagesRead, edges: Sequence[Edge], weights: Mapping[EdgeKind, float]
) -> tuple[Edge, ...]:
    """Return the edges, and those of the links that the layout does not state."""
    known = {edge.id for edge in edges}
    ends = (
        (target, source, EdgeKind.CONTINUES, relation) if relation == CONTINUES else (source, target, EdgeKind.REFERS_TO, relation)
        for (source, target), relation in read.links.items()
    )
    found = (
        replace(make_edge(nodes[one], nodes[other], kind, weights[kind]), relation=relation) for one, other, kind, relation in ends
    )
    return (*edges, *(edge for edge in found if edge.id not in known))


def _take(reply: PageReading, group: Sequence[int], memory: Memory, read: PagesRead, *, seen: bool) -> Memory:
    """Add a reply to what was read and return what is remembered after it.

    Ids that were not shown are passed over, and so are words of pictures where none was `seen`.
    """
    shown = frozenset(group)
    known = shown | memory.places
    levels = {place: one.level for one in reply.sections if (place := _place(one.id)) in shown}
    read.levels |= {place: levels.get(place, 0) for place in group}
    read.elements |= {_place(element.id): element for element in reply.elements}
    if seen:
        read.words |= {place: without_controls(one.words) for one in reply.words if (place := _place(one.id)) in shown}
    for link in reply.links:
        source, target = _place(link.source), _place(link.target)
        if source in shown and target in known and source != target:
            read.links.setdefault((source, target), link.relation)
    return memory.after(sorted(levels.items()), reply.memory, known)


def _place(name: str) -> int:
    """Return the place that an id names, -1 where it is none."""
    return int(name[1:]) if name[1:].isdecimal() and len(name) <= LONGEST_ID else -1


def _places(names: Sequence[str], known: frozenset[int]) -> tuple[int, ...]:
    return tuple(place for name in names if (place := _place(name)) in known)


def _short(name: str) -> str:
    return shorten(without_controls(name), NAME_CHARACTERS)


def _is_drawn(node: Node) -> bool:
    return node.modality is not Modality.TEXT


def _wrong_reading(value: PageReading, asked: Sequence[int]) -> str:
    if wrong := wrong_ids([element.id for element in value.elements], [f"n{place}" for place in asked]):
        return wrong
    return next((f"the summary of {element.id} is empty" for element in value.elements if not element.summary.strip()), "")


def _described(node: Node, element: PageElement, words: str, settings: AnalysisSettings) -> Node:
    if says_nothing(element.summary):
        return replace(node, summary=NO_MEANING, keywords=(), meaningless=True)
    summary = first_words(with_index(without_controls(element.summary), node), settings.summary_words)
    words = words if _is_drawn(node) else ""
    # Full text also finds a node by how it looks, and a figure by what it shows.
    added = [words, summary if _is_drawn(node) else "", without_controls(element.looks)]
    return replace(
        node,
        summary=summary,
        search_text="\n".join(filter(None, [node.search_text, *added])),
        picture_text=words or node.picture_text,
        meaningless=False,
    )
