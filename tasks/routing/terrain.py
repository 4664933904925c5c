"""The terrain where visits earn: chains begin at the best pages and go on by relations, downhill; and the flow that pays on it."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import EDGE_KINDS, MODALITIES, CandidateGraph
from storage.records.documents import EdgeKind, Modality
from tasks.algorithms.arrays import FloatArray, IntArray, strongest
from tasks.algorithms.flow.chains import FlowPath, decompose
from tasks.algorithms.flow.ends import answerability, density, diverse_sources
from tasks.algorithms.flow.min_cost import BoolArray
from tasks.algorithms.flow.prizes import (
    downhill,
    joined_halves,
    page_leaders,
    page_turn_arcs,
    paying_flow,
    prize_network,
    same_page_arcs,
    title_page_arcs,
)
from tasks.algorithms.questions.kinds import question_parts, speaks_of_document, surveys
from tasks.asking.candidates import SIMILARITY_CODES
from tasks.asking.records import NodeScores, Question
from tasks.settings.ask import RoutingSettings


@dataclass(frozen=True, slots=True)
class Terrain:
    """What the flow runs on, and what System 2 edits: arcs (m,) with their similarity, the nodes' scores (n,), its ends.

    `usable` (m,) marks the arcs that the formulation routes over; the others only decide the saturation. Chains of prizes run
    downhill on `heights` (n,), the scores by which the arcs were laid out, whatever is lifted later. They begin where that is
    worth `entry` of the best score; the paper's begin at any source.
    """

    tails: IntArray
    heads: IntArray
    similarities: FloatArray
    usable: BoolArray
    heights: FloatArray
    scores: FloatArray
    answerability: FloatArray
    sources: IntArray
    sinks: IntArray
    entry: float


def summary_of_terrain(terrain: Terrain) -> Mapping[str, str]:
    parts = {"similarities": terrain.similarities, "scores": terrain.scores, "sources": terrain.sources, "sinks": terrain.sinks}
    return {name: hash_bytes(values.tobytes()) for name, values in parts.items()}


def paper_terrain(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings) -> Terrain:
    """Lay out the graph's own arcs, all of them usable, between diverse sources and the sinks."""
    sources = diverse_sources(scores=scores.combined, vectors=graph.vectors, count=settings.sources, trade_off=settings.diversity)
    return graph_terrain(graph, scores, settings, sources)


def graph_terrain(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings, sources: IntArray) -> Terrain:
    kept = kept_arcs(graph, settings)
    words = graph.summary_words.astype(np.float64)
    longest = float(np.percentile(words, settings.dense_percentile)) if len(words) else 0.0
    answering = answerability(
        relevance=scores.relevance,
        density=density(word_counts=words, percentile=longest),
        is_visual=graph.modalities != MODALITIES.index(Modality.TEXT),
        visual_bonus=settings.visual_bonus,
    )
    return Terrain(
        tails=graph.tails[kept],
        heads=graph.heads[kept],
        similarities=graph.weights[kept],
        usable=np.ones(np.count_nonzero(kept), dtype=np.bool_),
        heights=scores.combined,
        scores=scores.combined,
        answerability=answering,
        sources=sources,
        sinks=strongest(scores=answering, count=settings.sinks),
        entry=0.0,
    )


def kept_arcs(graph: CandidateGraph, settings: RoutingSettings) -> BoolArray:
    """Return which arcs of the graph are laid out: similarities from r_min on; the layout's own relations are never pruned."""
    return np.asarray(~np.isin(graph.arc_kinds, SIMILARITY_CODES) | (graph.weights >= settings.minimum_similarity))


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


def route_prizes(terrain: Terrain, *, step: float, paths: int) -> tuple[FloatArray, tuple[FlowPath, ...]]:
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
    chains = decompose(network, flow=flow, limit=paths)
    return flow, joined_halves(chains, nodes=len(terrain.scores))
