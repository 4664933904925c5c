"""Routing: sources and sinks, the cheapest flow between them, the chains it is made of, and which of them are read."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from storage.artifacts import hash_bytes
from storage.candidate_graph import EDGE_KINDS, MODALITIES, CandidateGraph
from storage.records import EdgeKind, Modality
from tasks.algorithms.answerability import answerability, density, strongest_sinks
from tasks.algorithms.collecting import collects
from tasks.algorithms.cosines import FloatArray, IntArray
from tasks.algorithms.diverse_sources import diverse_sources
from tasks.algorithms.flow_network import FlowNetwork, build_network
from tasks.algorithms.max_flow import (
    BoolArray,
    MaximumFlow,
    connection_network,
    connection_saturation,
    max_flow,
    saturation,
    source_capacity,
)
from tasks.algorithms.min_cost_flow import RoutedFlow, min_cost_flow
from tasks.algorithms.path_decomposition import FlowPath, decompose
from tasks.algorithms.path_quality import jaccard_distances, path_qualities, payoff_matrix
from tasks.algorithms.paying_flow import paying_flow
from tasks.algorithms.prize_network import joined_halves, prize_network
from tasks.algorithms.reading_on import page_leaders, page_turn_arcs, same_page_arcs
from tasks.algorithms.replicator import proportional_shares, replicator_dynamics, survivors
from tasks.algorithms.strongest import strongest
from tasks.ask_settings import RoutingSettings
from tasks.question import AskDesk, Question, question_key
from tasks.retrieval import SIMILARITY_CODES, NodeScores
from tasks.step import step

RELATION_CODES = [EDGE_KINDS.index(kind) for kind in (EdgeKind.REFERS_TO, EdgeKind.CAPTION_OF, EdgeKind.CONTINUES)]
"""Kinds of arcs by which a chain of prizes goes on. Along the others (similar, near by, of the same section) it found pages, but no
more gold ones among them than the ranking does."""


@dataclass(frozen=True, slots=True)
class Terrain:
    """What the flow runs on, and what System 2 edits: arcs (m,) with their similarity, the nodes' scores (n,), its ends.

    `related` marks those of the arcs laid out that a chain of prizes may take, and `begun` counts the sources laid out; what
    System 2 adds stands behind them: its arcs may be taken, and its sources cost nothing.
    """

    tails: IntArray
    heads: IntArray
    similarities: FloatArray
    scores: FloatArray
    answerability: FloatArray
    sources: IntArray
    sinks: IntArray
    related: BoolArray
    begun: int


@dataclass(frozen=True, slots=True)
class Routed:
    """The cheapest flow, on the arcs of the terrain first, its chains, and the cut that a bridge would have to cross."""

    flow: RoutedFlow
    chains: tuple[FlowPath, ...]
    saturation: float
    cut: MaximumFlow


@dataclass(frozen=True, slots=True)
class ChosenPath:
    """A chain that is read: node positions in the candidates, its flow, quality and share."""

    nodes: tuple[int, ...]
    flow: float
    quality: float
    share: float


def told_of_terrain(terrain: Terrain) -> Mapping[str, str]:
    """Return the hashes of arcs, scores and ends, for the lineage."""
    parts = {"similarities": terrain.similarities, "scores": terrain.scores, "sources": terrain.sources, "sinks": terrain.sinks}
    return {name: hash_bytes(values.tobytes()) for name, values in parts.items()}


def told_of_flow(routed: Routed) -> Mapping[str, str]:
    """Return the hash of the flow, for the lineage."""
    return {"flow": hash_bytes(routed.flow.flow.tobytes())}


def told_of_paths(paths: tuple[ChosenPath, ...]) -> Mapping[str, str]:
    """Return the hash of the chosen paths, for the lineage."""
    return {"paths": hash_bytes(repr(paths).encode())}


@step("lay-out", version="1", retries=0, cache_key=question_key, told=told_of_terrain)
def lay_out(question: Question, graph: CandidateGraph, scores: NodeScores, desk: AskDesk) -> Terrain:
    """Choose the arcs, the sources and the answer-bearing sinks (section 3.4)."""
    settings = desk.settings.routing
    similar = np.isin(graph.arc_kinds, SIMILARITY_CODES)
    # The layout's own relations are never pruned.
    kept = ~similar | (graph.weights >= settings.minimum_similarity)
    tails, heads = _reading_on(graph, scores) if settings.formulation == "prizes" else np.zeros((2, 0), dtype=np.int64)
    answering = _answering(graph, scores, settings)
    sources = _sources(graph, scores, settings)
    return Terrain(
        tails=np.concatenate([graph.tails[kept], tails]),
        heads=np.concatenate([graph.heads[kept], heads]),
        similarities=np.concatenate([graph.weights[kept], np.full(len(tails), settings.onward)]),
        scores=scores.combined,
        answerability=answering,
        sources=sources,
        sinks=strongest_sinks(answerability=answering, count=settings.sinks),
        related=np.concatenate([np.isin(graph.arc_kinds[kept], RELATION_CODES), np.ones(len(tails), dtype=np.bool_)]),
        begun=len(sources),
    )


def _reading_on(graph: CandidateGraph, scores: NodeScores) -> tuple[IntArray, IntArray]:
    """Return the arcs to more of the same page and to the next page."""
    more = same_page_arcs(documents=graph.documents, pages=graph.pages, scores=scores.combined)
    turned = page_turn_arcs(documents=graph.documents, pages=graph.pages, scores=scores.combined)
    return np.concatenate([more[0], turned[0]]), np.concatenate([more[1], turned[1]])


def _sources(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings) -> IntArray:
    if settings.formulation == "prizes":
        return page_leaders(documents=graph.documents, pages=graph.pages, scores=scores.combined, count=settings.start_pages)
    return diverse_sources(scores=scores.combined, vectors=graph.vectors, count=settings.sources, trade_off=settings.diversity)


def _answering(graph: CandidateGraph, scores: NodeScores, settings: RoutingSettings) -> FloatArray:
    words = graph.summary_words.astype(np.float64)
    longest = float(np.percentile(words, settings.dense_percentile)) if len(words) else 0.0
    return answerability(
        relevance=scores.relevance,
        density=density(word_counts=words, percentile=longest),
        is_visual=graph.modalities != MODALITIES.index(Modality.TEXT),
        visual_bonus=settings.visual_bonus,
    )


@step("route", version="1", retries=0, cache_key=question_key, told=told_of_flow)
def route(question: Question, terrain: Terrain, desk: AskDesk) -> Routed:
    """Route the evidence at the least cost and take the flow apart into chains."""
    settings = desk.settings
    network = build_network(
        nodes=len(terrain.scores),
        tails=terrain.tails,
        heads=terrain.heads,
        cosines=terrain.similarities,
        scores=terrain.scores,
        sources=terrain.sources,
        sinks=terrain.sinks,
        answerability=terrain.answerability,
    )
    filled, cut = how_saturated(network, settings.routing.demand, settings.gate.saturation_of)
    if settings.routing.formulation == "prizes":
        flow, chains = _route_prizes(question, terrain, settings.routing)
    else:
        flow = min_cost_flow(network, demand=settings.routing.demand)
        chains = decompose(network, flow=flow.flow, limit=settings.routing.paths)
    return Routed(flow=flow, chains=chains, saturation=filled, cut=cut)


def _route_prizes(question: Question, terrain: Terrain, settings: RoutingSettings) -> tuple[RoutedFlow, tuple[FlowPath, ...]]:
    """Route all that pays; what System 2 added may be used, and begun at, in any case."""
    entry = settings.entry_collecting if collects(question.text) else settings.entry
    trusts = terrain.similarities.copy()
    trusts[: len(terrain.related)][~terrain.related] = 0.0
    entries = np.full(len(terrain.sources), entry)
    entries[terrain.begun :] = 0.0
    network = prize_network(
        tails=terrain.tails,
        heads=terrain.heads,
        trusts=trusts,
        scores=terrain.scores,
        sources=terrain.sources,
        entries=entries,
        entry=entry,
    )
    flow = paying_flow(network)
    chains = decompose(network, flow=flow.flow, limit=settings.paths)
    return flow, joined_halves(chains, nodes=len(terrain.scores))


def how_saturated(network: FlowNetwork, demand: float, of: str) -> tuple[float, MaximumFlow]:
    """Return the saturation that the gate looks at, and the cut that limits it."""
    if of == "paper":
        most = max_flow(network)
        return saturation(max_flow=most.value, demand=demand), most
    most = max_flow(connection_network(network))
    return connection_saturation(value=most.value, demand=demand, source_capacity=source_capacity(network)), most


@step("select", version="1", retries=0, cache_key=question_key, told=told_of_paths)
def select(_question: Question, terrain: Terrain, routed: Routed, desk: AskDesk) -> tuple[ChosenPath, ...]:
    """Choose a compact, diverse set of good chains by replicator dynamics (section 3.5.1), the largest share first."""
    settings = desk.settings.selection
    chains = [chain.nodes for chain in routed.chains]
    qualities = path_qualities(
        paths=chains,
        flows=np.array([chain.flow for chain in routed.chains]),
        scores=terrain.scores,
        flow_exponent=settings.flow_exponent,
        peak_exponent=settings.peak_exponent,
        mean_exponent=settings.mean_exponent,
    )
    shares = replicator_dynamics(
        payoff=payoff_matrix(qualities=qualities, distances=jaccard_distances(paths=chains), diagonal=settings.diagonal_power),
        start=proportional_shares(weights=qualities),
        mixing=settings.mixing,
        tolerance=settings.tolerance,
        max_steps=settings.steps,
    )
    alive = survivors(shares=shares.unmixed if settings.extinct_before_mixing else shares.mixed, threshold=settings.extinction)
    return tuple(
        ChosenPath(
            nodes=chains[place],
            flow=routed.chains[place].flow,
            quality=float(qualities[place]),
            share=float(shares.mixed[place]),
        )
        for place in alive[: settings.read].tolist()
    )


@step("best-passages", version="1", retries=0, cache_key=question_key, told=told_of_paths)
def best_passages(_question: Question, scores: NodeScores, desk: AskDesk) -> tuple[ChosenPath, ...]:
    """Choose the most relevant nodes, each a path of its own that carries no flow: the baseline."""
    best = strongest(scores=scores.combined, count=desk.settings.selection.read)
    return tuple(ChosenPath(nodes=(node,), flow=0.0, quality=float(scores.combined[node]), share=0.0) for node in best.tolist())
