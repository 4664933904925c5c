"""`map`: pages by sections, by text and by figures; where a part of the question stays open, the pages around them on the map."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import MODALITIES, CandidateGraph
from storage.records.answers import PagePlace, TraceKind
from storage.records.documents import Modality, PageKey
from storage.text import counted
from tasks.algorithms.arrays import BoolArray
from tasks.algorithms.graphs.section_map import DocumentMap, LocatedSection, widen_pages
from tasks.algorithms.page_ranks import best_pages, fuse_rankings
from tasks.asking.calls import Stage, call_book
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.readers.map_model import ShownMap, locate_by_model, reflect_by_model, show_map
from tasks.readers.pages import Pages, equal_paths
from tasks.readers.section_maps import maps_of, named_pages, sections_for
from tasks.readers.whole_documents import ranked_documents
from tasks.reading.rules import ExtractiveReader, quote_words
from tasks.routing.way import ChosenPath, Way

STRUCTURE = "structure"
NEAREST = 4
"""Pages around one that are taken from its section, and from the section above, at most: most evidence stands within four pages."""


@dataclass(frozen=True, slots=True)
class Group:
    """Nodes that are read together; `seen`: a model that sees is also shown their pages."""

    nodes: Sequence[int]
    seen: bool


@dataclass(frozen=True, slots=True)
class MapSearch:
    """A search on its way: the pages of each path, the best first, and the groups that are read.

    `maps` are by document; `around` are the pages by which the search was widened, `open` the parts of the question that what was
    read does not answer. `shown` is the map as a model saw it, `look_at` where it would look next.
    """

    pages: Pages
    maps: Mapping[str, DocumentMap]
    found: Mapping[str, tuple[PageKey, ...]]
    around: tuple[PageKey, ...] = ()
    groups: tuple[Group, ...] = ()
    open: tuple[str, ...] = ()
    shown: ShownMap | None = None
    look_at: tuple[PageKey, ...] = ()
    way: Way = field(default_factory=Way)

    @property
    def paths(self) -> tuple[ChosenPath, ...]:
        return equal_paths([group.nodes for group in self.groups])

    @property
    def rankings(self) -> tuple[tuple[PageKey, ...], ...]:
        """The pages that it looked at, by path; those around are of the path that located them."""
        return tuple(keys + self.around * (name == STRUCTURE) for name, keys in self.found.items())

    def hash(self) -> Mapping[str, str]:
        return {"pages": hash_bytes(repr(self.rankings).encode()), "open": hash_bytes(repr(self.open).encode())}


@question_step("locate", MapSearch.hash, reads=True)
def locate(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> MapSearch:
    """Find pages by what the question names, and by the sections of the best documents; without that path there is no map."""
    settings, pages = context.settings.map, Pages.of(graph)
    if STRUCTURE not in settings.paths:
        return MapSearch(pages, {}, {})
    maps = {mapped.document_id: mapped for mapped in maps_of(ranked_documents(graph, scores)[: settings.documents], context)}
    groups = [("what the question names", named_pages(pages, graph, scores))]
    shown = show_map(tuple(maps.values()), pages, graph, scores, context) if context.reader.model else None
    if shown and (keys := locate_by_model(question, shown, context)):
        groups.append(("the map's likeliest places", keys))
    else:
        sections = sections_for(question, tuple(maps.values()), graph, scores, context)
        groups += [(_title(maps, one), tuple((one.document_id, page) for page in one.pages)) for one in sections]
    located = tuple(dict.fromkeys(chain(*(keys for _what, keys in groups))))[: settings.located]
    found = [f"{what} on {_pages(inside, context)}" for what, keys in groups if (inside := [key for key in keys if key in located])]
    way = Way().then(TraceKind.LOCATE, question.text, "; ".join(found) or "nothing", pages=_places(located, context))
    return MapSearch(pages, maps, {STRUCTURE: located}, way=way, shown=shown)


def _title(maps: Mapping[str, DocumentMap], section: LocatedSection) -> str:
    title = maps[section.document_id].sections[section.place].title
    return f'section "{title}"' if title else "text under no title"


def _pages(keys: Sequence[PageKey], context: AskContext) -> str:
    """Return "pages 2, 3", of several documents "pages 2, 3 of report.pdf; page 1 of paper.pdf"."""
    numbers: dict[str, list[str]] = {}
    for document, page in keys:
        numbers.setdefault(document, []).append(str(page))
    several = len(context.scope.documents or context.names) > 1
    return "; ".join(
        f"page{'s' * (len(on) != 1)} {', '.join(on)}" + (f" of {context.names[document].name}" if several else "")
        for document, on in numbers.items()
    )


def _places(keys: Sequence[PageKey], context: AskContext) -> tuple[PagePlace, ...]:
    return tuple(PagePlace(context.names[document], page) for document, page in keys)


@question_step("three-paths", MapSearch.hash)
def take_paths(_question: Question, graph: CandidateGraph, scores: NodeScores, search: MapSearch, context: AskContext) -> MapSearch:
    """Take the best pages by their text, and by their figures and tables; read these with the located ones."""
    settings, pages, visual = context.settings.map, search.pages, is_visual(graph)
    found, way = dict(search.found), search.way
    for name, nodes, what in (("text", ~visual, "text"), ("visual", visual, "figures and tables")):
        if name in settings.paths:
            best = best_pages(scores=scores.combined[nodes], pages=pages.of_nodes[nodes], count=settings.k)
            found[name] = tuple(pages.keys[page] for page in best)
            words = f"{counted(len(best), 'page')} of {len(np.unique(pages.of_nodes[nodes])):,} with such"
            way = way.then(TraceKind.SEARCH, f"the best pages by their {what}", words, pages=_places(found[name], context))
    by_text, by_figures = (fuse_rankings([found.get(STRUCTURE, ()), found.get(name, ())]) for name in ("text", "visual"))
    search = replace(search, found=found, way=way)
    return read_also(search, graph, list(by_text), list(by_figures), context, needs=range(1, way.last + 1))


def read_also(
    search: MapSearch,
    graph: CandidateGraph,
    by_text: Sequence[PageKey],
    by_figures: Sequence[PageKey],
    context: AskContext,
    *,
    needs: Sequence[int],
) -> MapSearch:
    """Return the search with the text of the first pages and the figures and tables of the others read, too, each as a group.

    Where one has the text of pages and the other their pictures, each has all that stands on all of them (eq. 10).
    """
    visual, numbers = is_visual(graph), {key: number for number, key in enumerate(search.pages.keys)}
    whole = context.settings.map.pictures == "pages" and context.reader.sees
    if whole:
        by_text = by_figures = tuple(dict.fromkeys((*by_text, *by_figures)))

    def nodes_of(keys: Sequence[PageKey], kept: BoolArray) -> list[int]:
        ordered = search.pages.in_reading_order([numbers[key] for key in keys], graph, context)
        return [node for node in chain(*ordered) if kept[node]]

    text, figures = nodes_of(by_text, ~visual | whole), nodes_of(by_figures, visual | whole)
    keys = tuple(dict.fromkeys(search.pages.keys[search.pages.of_nodes[node]] for node in (*text, *figures)))
    seen, on = ("pictures", "in") if whole else ("figures and tables", "of")
    way = search.way.then(
        TraceKind.READ,
        f"the text of {counted(len(by_text), 'page')}, the {seen} of {counted(len(by_figures), 'page')}",
        f"{counted(len(text), 'passage')} of text, {len(figures):,} {on} {seen}",
        needs=tuple(needs),
        pages=_places(keys, context),
    )
    groups = (*search.groups, *(group for group in (Group(text, seen=False), Group(figures, seen=True)) if group.nodes))
    counts = {
        "pages located": float(len(search.found.get(STRUCTURE, ()))),
        "pages around": float(len(search.around)),
        "pages read": float(len({int(search.pages.of_nodes[node]) for group in groups for node in group.nodes})),
    }
    looked_at = tuple(fuse_rankings(search.rankings).items())
    return replace(search, groups=groups, way=replace(way, pages=looked_at, counts=counts))


def is_visual(graph: CandidateGraph) -> BoolArray:
    """Return which nodes are figures or tables (n,)."""
    return np.asarray(graph.modalities != MODALITIES.index(Modality.TEXT))


@question_step("reflect", MapSearch.hash, retries=0, reads=True)
def reflect(
    question: Question, scores: NodeScores, search: MapSearch, readings: Sequence[PathReading], context: AskContext
) -> MapSearch:
    """Find the parts of the question that are still open."""
    call_book.get().stage = Stage.REFINED
    parts, look_at = open_parts(question, scores, readings, context), tuple[PageKey, ...]()
    if search.shown and (said := reflect_by_model(question, search.shown, list(chain(*search.rankings)), readings, context)):
        parts = () if said.answered else (question.text,)
        look_at = search.shown.pages_of(said.look_at)
    quoted = [quote.node for reading in readings for quote in reading.quotes]
    way = search.way.then(
        TraceKind.REFLECT,
        "is every part of the question answered?",
        f"not yet: {quote_words(parts)}" if parts else "yes",
        needs=[search.way.last],
        nodes=tuple(dict.fromkeys(node.id for node in quoted)),
        pages=_places(quoted_pages(readings), context),
    )
    return replace(search, open=parts, look_at=look_at, way=way)


def open_parts(question: Question, scores: NodeScores, readings: Sequence[PathReading], context: AskContext) -> tuple[str, ...]:
    """Return the parts whose best quote holds too little of what they ask; all of it where no model answered the whole."""
    if context.reader.model:
        return () if any(reading.supported and reading.whole for reading in readings) else (question.text,)
    settings = context.settings.reading
    answers = ExtractiveReader(settings).answered_parts(question, readings, scores.rarity)
    if not answers:  # a question without words of its own
        return () if quoted_pages(readings) else (question.text,)
    return tuple(answer.part.text for answer in answers if answer.covered < settings.whole_support)


def quoted_pages(readings: Sequence[PathReading]) -> tuple[PageKey, ...]:
    quotes = (quote.node for reading in readings for quote in reading.quotes)
    return tuple(dict.fromkeys((node.document_id, node.page) for node in quotes))


@question_step("widen", MapSearch.hash)
def widen(
    _question: Question, graph: CandidateGraph, search: MapSearch, readings: Sequence[PathReading], context: AskContext
) -> MapSearch:
    """Read the pages around those that are quoted, or else were located, as far as the map has new ones with candidates."""
    quoted, located = quoted_pages(readings), search.found.get(STRUCTURE, ())
    middle = next(filter(None, ([key for key in pages if key[0] in search.maps] for pages in (quoted, located))), [])
    mapped = {(document, page) for document, on in search.maps.items() for page in on.sections[0].pages}
    seen, most = {*chain(*search.rankings), *(mapped - set(search.pages.keys))}, context.settings.map.widen_pages
    asked = tuple(key for key in search.look_at if key not in seen)[:most]
    new = asked or widen_pages(search.maps, middle, seen=seen, nearest=NEAREST, most=most)
    way = search.way.then(
        TraceKind.WIDEN,
        "places of the map not looked at yet"
        if asked
        else f"pages around {_pages(middle, context)}, in their sections and the sections above",
        counted(len(new), "further page"),
        needs=[search.way.last],
        pages=_places(new, context),
    )
    search = replace(search, around=(*search.around, *new), way=way)
    return read_also(search, graph, new, new, context, needs=[way.last]) if new else search
