"""The terrain where visits earn: chains begin at the best pages and go on by relations, downhill; and the flow that pays on it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from storage.candidate_graph import EDGE_KINDS, CandidateGraph
from storage.records import EdgeKind
from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.chains import FlowPath, decompose
from tasks.algorithms.kinds import question_parts, speaks_of_document, surveys
from tasks.algorithms.min_cost import RoutedFlow
from tasks.algorithms.prizes import (
    downhill,
    joined_halves,
    page_leaders,
    page_turn_arcs,
    paying_flow,
    prize_network,
    same_page_arcs,
    title_page_arcs,
)
from tasks.ask_settings import RoutingSettings
from tasks.question import Question
from tasks.retrieval import NodeScores
from tasks.terrain import Terrain, graph_terrain, kept_arcs

RELATION_CODES = [EDGE_KINDS.index(kind) for kind in (EdgeKind.REFERS_TO, EdgeKind.CAPTION_OF, EdgeKind.CONTINUES)]
"""Kinds of arcs by which a chain of prizes goes on. Along the others (similar, near by, of the same section) it found pages, but no
more gold ones among them than the ranking does."""


def prize_terrain(question: Question, graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings) -> Terrain:
    """Lay out the graph's arcs, its relations usable, and those by which one reads on."""
    sources = page_leaders(documents=graph.documents, pages=graph.pages, scores=scores.combined, count=settings.start_pages)
    plain = graph_terrain(graph, scores, settings, sources)
    onward_tails, onward_heads, trusts = _reading_on(question, graph, scores.combined, settings)
    tails, heads = np.concatenate([plain.tails, onward_tails]), np.concatenate([plain.heads, onward_heads])
    related = np.isin(graph.arc_kinds[kept_arcs(graph, settings)], RELATION_CODES)
    onward = np.ones(len(onward_tails), dtype=np.bool_)
    return replace(
        plain,
        tails=tails,
        heads=heads,
        similarities=np.concatenate([plain.similarities, trusts]),
        usable=np.concatenate([related, onward]) & downhill(heights=scores.combined, tails=tails, heads=heads),
        entry=entry_of(question, settings),
    )


def entry_of(question: Question, settings: RoutingSettings) -> float:
    """Return the share of the best score that a passage needs to be evidence by itself.

    What a question surveys a document for, and what its several parts ask, lies on pages of which only one can be the best.
    """
    scattered = surveys(question.text) or len(question_parts(question.text)) > 1
    return settings.entry_surveying if scattered else settings.entry


def _reading_on(
    question: Question, graph: CandidateGraph, scores: FloatArray, settings: RoutingSettings
) -> tuple[IntArray, IntArray, FloatArray]:
    """Return the arcs to more of the same page, to the next page and, where the question wants it, to page 1, with their trusts.

    A question of the document itself (who wrote this report, of which year is it) is answered on its first page, which hardly
    resembles it; one that counts all over the document is not.
    """
    ways = [(same_page_arcs, settings.onward), (page_turn_arcs, settings.onward)]
    if speaks_of_document(question.text) and not surveys(question.text):
        ways.append((title_page_arcs, settings.title_page))
    tails, heads, trusts = [], [], []
    for arcs_of, trust in ways:
        begun, ended = arcs_of(documents=graph.documents, pages=graph.pages, scores=scores)
        tails.append(begun)
        heads.append(ended)
        trusts.append(np.full(len(begun), trust))
    return np.concatenate(tails), np.concatenate(heads), np.concatenate(trusts)


def route_prizes(terrain: Terrain, *, step: float, paths: int) -> tuple[RoutedFlow, tuple[FlowPath, ...]]:
    """Route all that pays; return the flow, on the arcs of the terrain first, and at most so many chains that it is made of.

    `step` is what a step costs that no relation makes cheaper; System 2 lets chains begin at less, not go on at less.
    """
    network = prize_network(
        tails=terrain.tails,
        heads=terrain.heads,
        trusts=np.where(terrain.usable, terrain.similarities, 0.0),
        heights=terrain.heights,
        scores=terrain.scores,
        sources=terrain.sources,
        entry=terrain.entry,
        step=step,
    )
    flow = paying_flow(network)
    chains = decompose(network, flow=flow.flow, limit=paths)
    return flow, joined_halves(chains, nodes=len(terrain.scores))
