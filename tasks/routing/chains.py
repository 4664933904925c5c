"""The default's routing: a unit of flow for each page that is worth its price, and the chains in which their nodes are read."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.artifacts import hash_bytes
from storage.graph.candidates import CandidateGraph
from storage.records.answers import GraphEdit
from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.flow.chains import SMALLEST_FLOW, decompose
from tasks.algorithms.flow.min_cost import min_cost_flow
from tasks.algorithms.flow.pages import SURE, page_network, read_chains, same_page_arcs
from tasks.algorithms.flow.refinement import Trigger, damped_weights
from tasks.asking.question import AskContext, question_step
from tasks.asking.records import NodeScores, PathReading, Question
from tasks.routing.rating import graph_edits, lift_quoted, rate_steps
from tasks.routing.sizes import Sized
from tasks.routing.way import ChosenPath, bundle_chains


@dataclass(frozen=True, slots=True)
class OpenPages:
    """The nodes of the pages that are read, as positions in the candidates (n,), and the arcs between them by their places here."""

    nodes: IntArray
    pages: IntArray
    scores: FloatArray
    tails: IntArray
    heads: IntArray
    similarities: FloatArray


@dataclass(frozen=True, slots=True)
class Routed:
    """What was read on which pages: the flow on the arcs of the open pages, the paths, and System 2's edits before."""

    sized: Sized
    opened: OpenPages
    flow: FloatArray
    paths: tuple[ChosenPath, ...]
    edits: tuple[GraphEdit, ...] = ()


@question_step("route", lambda routed: {"paths": hash_bytes(repr(routed.paths).encode())}, retries=0)
def route(question: Question, graph: CandidateGraph, scores: NodeScores, sized: Sized, context: AskContext) -> Routed:
    """Open the pages that are worth their price, and find the chains that pay on them."""
    return route_pages(open_pages(graph, scores.combined, sized), sized, context)


def open_pages(graph: CandidateGraph, scores: FloatArray, sized: Sized) -> OpenPages:
    """Return the nodes of the pages that are read, with all arcs of the graph between them and those within each page."""
    places = {(graph.document_ids.index(document), page): place for place, (document, page) in enumerate(sized.read)}
    standing = zip(graph.documents.tolist(), graph.pages.tolist(), strict=True)
    on_page = np.array([places.get(key, -1) for key in standing], dtype=np.int64)
    nodes = np.flatnonzero(on_page >= 0)
    local = np.full(len(graph), -1)
    local[nodes] = np.arange(len(nodes))
    kept = (local[graph.tails] >= 0) & (local[graph.heads] >= 0)
    onward_tails, onward_heads = same_page_arcs(pages=on_page[nodes], scores=scores[nodes])
    return OpenPages(
        nodes=nodes,
        pages=on_page[nodes],
        scores=scores[nodes],
        tails=np.concatenate([local[graph.tails[kept]], onward_tails]),
        heads=np.concatenate([local[graph.heads[kept]], onward_heads]),
        similarities=np.concatenate([np.clip(graph.weights[kept], 0.0, 1.0), np.full(len(onward_tails), SURE)]),
    )


def route_pages(opened: OpenPages, sized: Sized, context: AskContext) -> Routed:
    network = page_network(
        probabilities=sized.probabilities,
        count=sized.count,
        pages=opened.pages,
        scores=opened.scores,
        tails=opened.tails,
        heads=opened.heads,
        similarities=opened.similarities,
    )
    flow = min_cost_flow(network, demand=sized.count)
    chains = read_chains(decompose(network, flow=flow, limit=sized.count), pages=opened.pages)
    read = [tuple(opened.nodes[list(chain)].tolist()) for chain in chains]
    return Routed(sized, opened, flow[: len(opened.tails)], bundle_chains(read, most=context.settings.selection.read))


@question_step("refine", lambda routed: {"edits": hash_bytes(repr(routed.edits).encode())}, reads=True)
def refine(
    question: Question,
    graph: CandidateGraph,
    scores: NodeScores,
    routed: Routed,
    readings: Sequence[PathReading],
    trigger: Trigger,
    context: AskContext,
) -> Routed:
    """Route once more: over twice as many pages where nothing is supported, else over steps that were weighed anew."""
    if trigger is Trigger.NO_SUPPORT:
        return more_pages(graph, scores, routed, context)
    opened, edits = reweigh_steps(question, graph, routed, context)
    opened = replace(opened, scores=lift_quoted(opened.scores, opened.nodes, graph, readings, context.settings.gate.cited_boost))
    return replace(route_pages(opened, routed.sized, context), edits=edits)


def more_pages(graph: CandidateGraph, scores: NodeScores, routed: Routed, context: AskContext) -> Routed:
    before = routed.sized
    sized = replace(before, count=min(2 * before.count, len(before.pages)))
    opened = open_pages(graph, scores.combined, sized)
    found = []
    for place in range(before.count, sized.count):
        best = opened.nodes[opened.pages == place]
        node = graph.ids[best[np.argmax(scores.combined[best])]]
        found.append(GraphEdit("source", node, "", 0.0, float(sized.probabilities[place])))
    return replace(route_pages(opened, sized, context), edits=tuple(found))


def reweigh_steps(
    question: Question, graph: CandidateGraph, routed: Routed, context: AskContext
) -> tuple[OpenPages, tuple[GraphEdit, ...]]:
    """Weigh the steps that the chains took, between the strongest nodes first, by what they say to the question (T2)."""
    opened, settings = routed.opened, context.settings.gate
    used = np.flatnonzero(routed.flow > SMALLEST_FLOW)
    strength = np.minimum(opened.scores[opened.tails[used]], opened.scores[opened.heads[used]])
    arcs = used[np.argsort(-strength, kind="stable")][: settings.pairs]
    tails, heads, old = opened.nodes[opened.tails[arcs]], opened.nodes[opened.heads[arcs]], opened.similarities[arcs]
    proposed = rate_steps(question, graph, tails, heads, context, bridges=False)
    new = damped_weights(old=old, proposed=proposed, damping=settings.damping, bound=settings.bound)
    similarities = opened.similarities.copy()
    similarities[arcs] = new
    return replace(opened, similarities=similarities), graph_edits("re-weight", graph, tails, heads, old, new)
