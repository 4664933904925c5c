"""Routing: the terrain of a question, the cheapest flow over it, the chains it is made of, and which of them are read."""

from dataclasses import dataclass

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from tasks.algorithms.arrays import FloatArray, strongest
from tasks.algorithms.flow.chains import FlowPath, decompose, jaccard_distances, path_qualities, payoff_matrix
from tasks.algorithms.flow.min_cost import (
    MaximumFlow,
    connection_network,
    connection_saturation,
    max_flow,
    min_cost_flow,
    saturation,
)
from tasks.algorithms.flow.network import build_network
from tasks.algorithms.flow.replicator import proportional_shares, replicator_dynamics, survivors
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, Question
from tasks.routing.terrain import Terrain, paper_terrain, prize_terrain, route_prizes, summary_of_terrain
from tasks.settings.ask import RoutingSettings


@dataclass(frozen=True, slots=True)
class Routed:
    """The cheapest flow, on the arcs of the terrain first, its chains, and the cut that a bridge would have to cross."""

    flow: FloatArray
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


@question_step("lay-out", summary_of_terrain, retries=0)
def lay_out(question: Question, graph: CandidateGraph, scores: NodeScores, context: AskContext) -> Terrain:
    settings = context.settings.routing
    if settings.formulation == "prizes":
        return prize_terrain(question, graph, scores, settings)
    return paper_terrain(graph, scores, settings)


@question_step("route", lambda routed: {"flow": hash_bytes(routed.flow.tobytes())}, retries=0)
def route(question: Question, terrain: Terrain, context: AskContext) -> Routed:
    settings = context.settings
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
    demand = settings.routing.demand
    if settings.gate.saturation_of == "paper":
        cut = max_flow(network)
        filled = saturation(max_flow=cut.value, demand=demand)
    else:
        cut = max_flow(connection_network(network))
        filled = connection_saturation(network, value=cut.value, demand=demand)
    if settings.routing.formulation == "prizes":
        flow, chains = route_prizes(terrain, step=settings.routing.step, paths=settings.routing.paths)
    else:
        flow = min_cost_flow(network, demand=demand_of(question, settings.routing))
        chains = decompose(network, flow=flow, limit=settings.routing.paths)
    return Routed(flow=flow, chains=chains, saturation=filled, cut=cut)


def demand_of(question: Question, settings: RoutingSettings) -> float:
    """Return how much evidence is to be routed: F, or the part of it that the question's terms call for."""
    share = 1.0 if settings.demand_by == "fixed" else min(1.0, max(1, len(question.terms.stems)) / settings.demand_terms)
    return settings.demand * share


@question_step("select", lambda paths: {"paths": hash_bytes(repr(paths).encode())}, retries=0)
def select(_question: Question, terrain: Terrain, routed: Routed, context: AskContext) -> tuple[ChosenPath, ...]:
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
        payoff=payoff_matrix(qualities=qualities, distances=jaccard_distances(paths=chains), diagonal=settings.diagonal_power),
        start=proportional_shares(weights={"quality": qualities, "flow": flows, "both": qualities * flows}[settings.start]),
        mixing=settings.mixing,
        tolerance=settings.tolerance,
        max_steps=settings.steps,
    )
    alive = survivors(shares=shares.unmixed if settings.extinct_before_mixing else shares.mixed, threshold=settings.extinction)
    chosen = strongest(scores=flows, count=len(flows)) if settings.rule == "greedy" else alive
    return tuple(
        ChosenPath(
            nodes=chains[place],
            flow=routed.chains[place].flow,
            quality=float(qualities[place]),
            share=float(shares.mixed[place]),
        )
        for place in chosen[: settings.read].tolist()
    )


@question_step("best-passages", lambda paths: {"paths": hash_bytes(repr(paths).encode())}, retries=0)
def best_passages(_question: Question, scores: NodeScores, context: AskContext) -> tuple[ChosenPath, ...]:
    """Choose the most relevant nodes, each a path of its own that carries no flow: the baseline."""
    best = strongest(scores=scores.combined, count=context.settings.selection.read)
    return tuple(ChosenPath(nodes=(node,), flow=0.0, quality=float(scores.combined[node]), share=0.0) for node in best.tolist())
