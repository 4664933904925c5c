"""What a chat model does for `map`: it locates by the map of the documents, and says where else to look."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, count

import numpy as np

from storage.graph.candidates import NODE_KINDS, CandidateGraph
from storage.records.documents import NodeKind, PageKey
from storage.text import shorten
from tasks.algorithms.graphs.section_map import DocumentMap, best_section_pages
from tasks.asking.question import AskContext
from tasks.asking.records import Duty, NodeScores, PathReading, Question
from tasks.prompts.prompt import Piece
from tasks.readers.forms import Located, Reflected, ShortPlaces
from tasks.readers.graph_indexes import ordinals_in
from tasks.readers.pages import LINE_CHARACTERS, Pages, describe_reading
from tasks.readers.section_maps import PAGES_EACH, heights_on

SECTIONS_SHOWN, PAGES_SHOWN, TITLES_SHOWN = 120, 40, 5
"""Of a map at most: sections, the least deep first; pages, the best; titles under a section."""


@dataclass(frozen=True, slots=True)
class ShownMap:
    """A map as it is shown, and the pages that each id on it stands for, the best first."""

    pieces: tuple[Piece, ...]
    places: Mapping[str, tuple[PageKey, ...]]

    def unknown(self, names: Sequence[str]) -> str:
        """Return what is wrong with ids that a model names, "" where all are shown."""
        wrong = [name for name in names if name not in self.places]
        return f"there is no {', '.join(wrong[:3])} on the map; name ids that are shown" if wrong else ""

    def pages_of(self, names: Sequence[str]) -> tuple[PageKey, ...]:
        return tuple(dict.fromkeys(chain.from_iterable(self.places[name] for name in names)))


def show_map(maps: Sequence[DocumentMap], pages: Pages, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> ShownMap:
    """Show the sections with their summary, or the titles under them or what they begin with; the best pages with their figures.

    A page goes by its number, p12, in the second of several documents d2p12.
    """
    view = context.snapshot.view
    read = view.columns.take(view.adjacency.positions_of(graph.ids), ["summary", "label"])
    places: dict[str, tuple[PageKey, ...]] = {}
    outline = list(_section_lines(maps, pages, read["summary"].tolist(), graph, scores, context, places))
    labels = read["label"].tolist()
    best = pages.best(scores.combined)
    said = context.snapshot.page_summaries([mapped.document_id for mapped in maps])
    lines, numbers = [], count(1)
    documents = {mapped.document_id: f"d{number}" if len(maps) > 1 else "" for number, mapped in enumerate(maps, 1)}
    ranked = [page for page in np.argsort(-best, kind="stable").tolist() if pages.keys[page][0] in documents]
    for page in sorted(ranked[:PAGES_SHOWN]):
        key = pages.keys[page]
        own = f"{documents[key[0]]}p{key[1]}"
        places[own] = (key,)
        elements = []
        # A caption has the label of its figure.
        for label in dict.fromkeys(filter(None, (labels[node] for node in np.flatnonzero(pages.of_nodes == page).tolist()))):
            name = f"e{next(numbers)}"
            places[name] = (key,)
            elements.append(f"{name} {label}")
        on_it = f"; {', '.join(elements)}" if elements else ""
        lines.append(f"{own}: page {key[1]}{_of(key[0], maps, context)}: {shorten(said.get(key, ''), LINE_CHARACTERS)}{on_it}")
    return ShownMap((Piece("sections", "\n".join(outline)), Piece("pages", "\n".join(lines))), places)


def _of(document: str, maps: Sequence[DocumentMap], context: AskContext) -> str:
    return f" of {context.names[document].name}" if len(maps) > 1 else ""


def _section_lines(
    maps: Sequence[DocumentMap],
    pages: Pages,
    summaries: Sequence[str],
    graph: CandidateGraph,
    scores: NodeScores,
    context: AskContext,
    places: dict[str, tuple[PageKey, ...]],
) -> Iterator[str]:
    numbers, known = count(1), {*pages.keys}
    ordinals, titles = ordinals_in(graph, context), graph.kinds == NODE_KINDS.index(NodeKind.TITLE)
    for mapped, heights in zip(maps, heights_on(maps, graph, scores, context), strict=True):
        own = np.flatnonzero(graph.documents == graph.document_ids.index(mapped.document_id))
        begins: dict[int, str] = {}
        for place in np.argsort(ordinals[own], kind="stable").tolist():
            if not titles[own[place]]:
                begins.setdefault(int(heights.homes[place]), summaries[own[place]])
        shown = sorted(range(1, len(mapped.sections)), key=lambda place: (mapped.sections[place].level, place))[:SECTIONS_SHOWN]
        for place in sorted(shown):
            section = mapped.sections[place]
            best = best_section_pages(mapped, place, nodes=heights, count=PAGES_EACH) or section.pages
            held = tuple((mapped.document_id, page) for page in best if (mapped.document_id, page) in known)[:PAGES_EACH]
            if not held:
                continue
            name = f"s{next(numbers)}"
            places[name] = held
            under = [other.title for other in mapped.sections if other.parent == place and other.level][:TITLES_SHOWN]
            what = section.summary or "; ".join(under) or begins.get(place, "")
            on = f"pages {section.pages[0]}-{section.pages[-1]}" if len(section.pages) > 1 else f"page {section.pages[0]}"
            document = _of(mapped.document_id, maps, context)
            yield f"{name}: {'  ' * (section.level - 1)}{section.title}, {on}{document}: {shorten(what, LINE_CHARACTERS)}"


def locate_by_model(question: Question, shown: ShownMap, context: AskContext) -> tuple[PageKey, ...] | None:
    """Have the model name the likeliest places of the map; return their pages, the best first."""
    if context.reader.short:
        (short,) = context.reader.do(question, [Duty("map_locate_small", "the places", ShortPlaces, shown.pieces)])
        return None if short is None else shown.pages_of([name for name in short.root if name in shown.places])
    (located,) = context.reader.do(
        question, [Duty("map_locate", "the places", Located, shown.pieces, lambda value: shown.unknown(value.places))]
    )
    return None if located is None else shown.pages_of(located.places)


def reflect_by_model(
    question: Question, shown: ShownMap, looked_at: Sequence[PageKey], readings: Sequence[PathReading], context: AskContext
) -> Reflected | None:
    """Have the model judge whether the question is answered; a small one is not asked."""
    if context.reader.short:
        return None
    seen = {name for name, keys in shown.places.items() if set(keys) <= set(looked_at)}
    pieces = [Piece(f"reader {number}", describe_reading(reading)) for number, reading in enumerate(readings, 1)]
    pieces += [Piece("looked at already", ", ".join(name for name in shown.places if name in seen) or "nothing"), *shown.pieces]
    duty = Duty("map_reflect", "the reflection", Reflected, tuple(pieces), lambda value: shown.unknown(value.look_at))
    (reflected,) = context.reader.do(question, [duty])
    return reflected
