"""The maps of the best documents, made when they are first asked of, and where on them the question points to."""

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter

import numpy as np

from storage.graph.candidates import CandidateGraph
from storage.records.documents import PageKey
from tasks.algorithms.arrays import strongest
from tasks.algorithms.graphs.section_map import DocumentMap, LocatedSection, NodeHeights, locate_sections, map_document
from tasks.algorithms.questions.sections import named_titles
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, Question
from tasks.readers.pages import Pages

BEST_NODES = 3
"""A section is as good as this many of its best nodes: one that fits may stand anywhere, three are what the section is about."""
SECTIONS, PAGES_EACH = 2, 2
"""Sections that are taken by their nodes, and pages of each section: four pages, as many as of each other path."""


def maps_of(documents: Sequence[str], context: AskContext) -> tuple[DocumentMap, ...]:
    """Return the maps of the documents by their ids, each of the whole document, whatever the scope; made once for a snapshot.

    They are made together: what takes time is to ask the catalog for an outline, one or several.
    """
    ordered = tuple(sorted(documents))
    return context.snapshot.view.remember(("maps", ordered), lambda: tuple(_make_maps(ordered, context)))


def _make_maps(documents: Sequence[str], context: AskContext) -> Iterator[DocumentMap]:
    snapshot, adjacency = context.snapshot, context.snapshot.view.adjacency
    counts = {record.id: record.pages for record in snapshot.documents()}
    outlines = {document: list(part) for document, part in groupby(snapshot.sections_of(documents), attrgetter("document_id"))}
    for document in documents:
        place = np.searchsorted(adjacency.document_ids, bytes.fromhex(document))
        positions = np.flatnonzero(adjacency.documents == place)
        sections = snapshot.view.columns.take(positions, ["section_id"])["section_id"]
        yield map_document(
            document_id=document,
            page_count=counts[document],
            sections=outlines.get(document, ()),
            lying=zip(adjacency.pages[positions].tolist(), sections.tolist(), strict=True),
        )


def heights_on(maps: Sequence[DocumentMap], graph: CandidateGraph, scores: NodeScores, context: AskContext) -> list[NodeHeights]:
    """Return of each map the candidates that are its document's."""
    view = context.snapshot.view
    if "section_id" in graph.columns:
        sections = graph.columns["section_id"]
    else:  # candidates of a large scope come without
        sections = view.columns.take(view.adjacency.positions_of(graph.ids), ["section_id"])["section_id"]
    found: list[NodeHeights] = []
    for mapped in maps:
        own = np.flatnonzero(graph.documents == graph.document_ids.index(mapped.document_id))
        homes = np.array([mapped.places[section] for section in sections[own].tolist()], dtype=np.int64)
        found.append(NodeHeights(homes, graph.pages[own], scores.combined[own]))
    return found


def sections_for(
    question: Question, maps: Sequence[DocumentMap], graph: CandidateGraph, scores: NodeScores, context: AskContext
) -> tuple[LocatedSection, ...]:
    """Return the sections whose title the question says, then the best others."""
    return locate_sections(
        maps,
        heights_on(maps, graph, scores, context),
        said=[named_titles([section.title for section in mapped.sections], question.terms.stems) for mapped in maps],
        best_nodes=BEST_NODES,
        sections=SECTIONS,
        pages_each=PAGES_EACH,
    )


def named_pages(pages: Pages, graph: CandidateGraph, scores: NodeScores) -> tuple[PageKey, ...]:
    """Return the pages of the nodes that the question names outright, the best first."""
    named = np.array([name in scores.named for name in graph.ids], dtype=np.bool_)
    best = pages.best(np.where(named, scores.combined, 0.0))
    return tuple(pages.keys[page] for page in strongest(scores=best, count=len(best)).tolist())
