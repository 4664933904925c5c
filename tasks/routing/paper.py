"""Routing as FlowReader writes it (sections 3.4, 3.5): sources, sinks, the cheapest flow, its chains, and the choice of them."""

from dataclasses import dataclass

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import MODALITIES, CandidateGraph
from storage.records.documents import Modality
from tasks.algorithms.arrays import FloatArray, IntArray, strongest
from tasks.algorithms.flow.chains import FlowPath, decompose, jaccard_distances, path_qualities, payoff_matrix
from tasks.algorithms.flow.ends import answerability, density, diverse_sources
from tasks.algorithms.flow.min_cost import MaximumFlow, max_flow, min_cost_flow, saturation
from tasks.algorithms.flow.network import build_network
from tasks.algorithms.flow.replicator import proportional_shares, replicator_dynamics, survivors
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.routing.way import ChosenPath


@dataclass(frozen=True, slots=True)
class Terrain:
    """What the flow runs on, and what System 2 edits: arcs (m,) with their cosine, the nodes' scores (n,), its ends."""

    tails: IntArray
    heads: IntArray
    similarities: FloatArray
    scores: FloatArray
    answerability: FloatArray
    sources: IntArray
    sinks: IntArray


@dataclass(frozen=True, slots=True)
class RoutedTerrain:
    """The cheapest flow, on the arcs of the terrain first, its chains, and the cut that a bridge would have to cross."""

    flow: FloatArray
    chains: tuple[FlowPath, ...]
    saturation: float
    cut: MaximumFlow


@question_step(
    "lay-out",
    lambda terrain: {name: hash_bytes(getattr(terrain, name).tobytes()) for name in ("similarities", "scores", "sources", "sinks")},
    retries=0,
)
def lay_out(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Terrain:
    """Lay out the arcs, whose weight is the cosine of eq. 5, between diverse sources and the sinks.

    The norm of the summary length is not given: words over their 95th percentile, at most 1.
    """
    settings = context.settings.routing
    kept = graph.weights >= settings.minimum_similarity
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
        scores=scores.combined,
        answerability=answering,
        sources=diverse_sources(
            scores=scores.combined, vectors=graph.vectors, count=settings.sources, trade_off=settings.diversity
        ),
        sinks=strongest(scores=answering, count=settings.sinks),
    )


@question_step("route", lambda routed: {"flow": hash_bytes(routed.flow.tobytes())}, retries=0)
def route(question: Question, terrain: Terrain, context: AskContext) -> RoutedTerrain:
    """Route F, or what fits of it, which the paper leaves open: with its own figures F fits for hardly any question."""
    settings = context.settings.routing
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
    cut = max_flow(network)
    flow = min_cost_flow(network, demand=settings.demand)
    return RoutedTerrain(
        flow=flow,
        chains=decompose(network, flow=flow, limit=settings.paths),
        saturation=saturation(max_flow=cut.value, demand=settings.demand),
        cut=cut,
    )


@question_step("select", lambda paths: {"paths": hash_bytes(repr(paths).encode())}, retries=0)
def select(_question: Question, terrain: Terrain, routed: RoutedTerrain, context: AskContext) -> tuple[ChosenPath, ...]:
    """Choose a compact, diverse set of good chains by replicator dynamics (section 3.5.1), the largest share first."""
    settings = context.settings.selection
    chains, flows = [chain.nodes for chain in routed.chains], np.array([chain.flow for chain in routed.chains])
    qualities = path_qualities(
        paths=chains,
        flows=flows,
        scores=terrain.scores,
        flow_exponent=settings.flow_exponent,
        peak_exponent=settings.peak_exponent,
        mean_exponent=settings.mean_exponent,
    )
    shares = replicator_dynamics(
        payoff=payoff_matrix(qualities=qualities, distances=jaccard_distances(paths=chains)),
        start=proportional_shares(weights={"quality": qualities, "flow": flows, "both": qualities * flows}[settings.start]),
        mixing=settings.mixing,
        tolerance=settings.tolerance,
        max_steps=settings.steps,
    )
    alive = survivors(shares=shares, threshold=settings.extinction)
    chosen = strongest(scores=flows, count=len(flows)) if settings.rule == "greedy" else alive
    return tuple(
        ChosenPath(nodes=chains[place], flow=routed.chains[place].flow, quality=float(qualities[place]), share=float(shares[place]))
        for place in chosen[: settings.read].tolist()
    )
