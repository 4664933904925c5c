"""The terrain of a question: arcs, sources and answer-bearing sinks, laid out as the paper has them (section 3.4)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from storage.artifacts import hash_bytes
from storage.candidate_graph import MODALITIES, CandidateGraph
from storage.records import Modality
from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.ends import answerability, density, diverse_sources, strongest_sinks
from tasks.algorithms.min_cost import BoolArray
from tasks.ask_settings import RoutingSettings
from tasks.retrieval import SIMILARITY_CODES, NodeScores


@dataclass(frozen=True, slots=True)
class Terrain:
    """What the flow runs on, and what System 2 edits: arcs (m,) with their similarity, the nodes' scores (n,), its ends.

    `usable` (m,) marks the arcs that the formulation routes over; the others only tell the saturation. Chains of prizes run
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


def told_of_terrain(terrain: Terrain) -> Mapping[str, str]:
    """Return the hashes of arcs, scores and ends, for the lineage."""
    parts = {"similarities": terrain.similarities, "scores": terrain.scores, "sources": terrain.sources, "sinks": terrain.sinks}
    return {name: hash_bytes(values.tobytes()) for name, values in parts.items()}


def paper_terrain(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings) -> Terrain:
    """Lay out the graph's own arcs, all of them usable, between diverse sources and the sinks."""
    sources = diverse_sources(scores=scores.combined, vectors=graph.vectors, count=settings.sources, trade_off=settings.diversity)
    return graph_terrain(graph, scores, settings, sources)


def graph_terrain(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings, sources: IntArray) -> Terrain:
    """Return the terrain of the graph's own arcs between these sources and the sinks."""
    kept = kept_arcs(graph, settings)
    answering = _answering(graph, scores, settings)
    return Terrain(
        tails=graph.tails[kept],
        heads=graph.heads[kept],
        similarities=graph.weights[kept],
        usable=np.ones(np.count_nonzero(kept), dtype=np.bool_),
        heights=scores.combined,
        scores=scores.combined,
        answerability=answering,
        sources=sources,
        sinks=strongest_sinks(answerability=answering, count=settings.sinks),
        entry=0.0,
    )


def kept_arcs(graph: CandidateGraph, settings: RoutingSettings) -> BoolArray:
    """Return which arcs of the graph are laid out: similarities from r_min on; the layout's own relations are never pruned."""
    return np.asarray(~np.isin(graph.arc_kinds, SIMILARITY_CODES) | (graph.weights >= settings.minimum_similarity))


def _answering(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings) -> FloatArray:
    words = graph.summary_words.astype(np.float64)
    longest = float(np.percentile(words, settings.dense_percentile)) if len(words) else 0.0
    return answerability(
        relevance=scores.relevance,
        density=density(word_counts=words, percentile=longest),
        is_visual=graph.modalities != MODALITIES.index(Modality.TEXT),
        visual_bonus=settings.visual_bonus,
    )
