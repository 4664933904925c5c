"""The flow network of a question: the graph's edges with costs and capacities, a supersource before it, a supersink behind it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_places, require_range

ROUNDING = 1e-6
"""How far beyond 1 a cosine of two unit vectors may come out."""


@dataclass(frozen=True, slots=True)
class FlowNetwork:
    """Nodes 0..nodes-1 with `source` = nodes and `sink` = nodes + 1; the four arrays have one entry for each arc.

    The edges of the graph come first, in the order given, then the arcs out of `source`, then those into `sink`.
    """

    nodes: int
    tails: IntArray
    heads: IntArray
    costs: FloatArray
    capacities: FloatArray
    source: int
    sink: int


def edge_costs(*, cosines: FloatArray, tail_scores: FloatArray, head_scores: FloatArray) -> FloatArray:
    """Return 1 - max(cos, 0) (h_u + h_v) / 2 for each edge (eq. 5); below 0 only where a score is above 1."""
    return np.asarray(1.0 - np.maximum(cosines, 0.0) * (tail_scores + head_scores) / 2.0)


def edge_capacities(*, tail_scores: FloatArray, head_scores: FloatArray) -> FloatArray:
    """Return min(h_u, h_v) for each edge: a chain carries what its weakest node bears (section 3.4)."""
    return np.minimum(tail_scores, head_scores)


def build_network(
    *,
    nodes: int,
    tails: IntArray,
    heads: IntArray,
    cosines: FloatArray,
    scores: FloatArray,
    sources: IntArray,
    sinks: IntArray,
    answerability: FloatArray,
) -> FlowNetwork:
    """Build the network of section 3.4, with the paper's costs and capacities.

    Args:
        nodes: n.
        tails: (m,), where each edge begins; parallel edges add up.
        heads: (m,), where each edge ends.
        cosines: (m,), in [-1, 1].
        scores: (n,), h, at least 0.
        sources: distinct nodes; each may send its h.
        sinks: distinct nodes; each may take its a. A node that is a source too is a chain of its own.
        answerability: (n,), a, at least 0.

    Raises:
        ValueError: lengths that differ, nodes that are not there or named twice, numbers that are not finite or out of range.
    """
    _require_lengths(expected=len(tails), heads=heads, cosines=cosines)
    _require_lengths(expected=nodes, scores=scores, answerability=answerability)
    require_range(name="cosines", values=cosines, low=-1.0 - ROUNDING, high=1.0 + ROUNDING)
    for name, values in (("scores", scores), ("answerability", answerability)):
        require_range(name=name, values=values, low=0.0, high=np.inf)
    for name, places in (("tails", tails), ("heads", heads), ("sources", sources), ("sinks", sinks)):
        require_places(name=name, places=places, count=nodes)
    ends = {"tail_scores": scores[tails], "head_scores": scores[heads]}
    return assemble_network(
        nodes=nodes,
        tails=tails,
        heads=heads,
        costs=edge_costs(cosines=cosines, **ends),
        capacities=edge_capacities(**ends),
        sources=sources,
        source_capacities=scores[sources],
        sinks=sinks,
        sink_capacities=answerability[sinks],
    )


def assemble_network(
    *,
    nodes: int,
    tails: IntArray,
    heads: IntArray,
    costs: FloatArray,
    capacities: FloatArray,
    sources: IntArray,
    source_capacities: FloatArray,
    sinks: IntArray,
    sink_capacities: FloatArray,
) -> FlowNetwork:
    """Set the graph between a supersource and a supersink whose arcs cost nothing.

    Args:
        nodes: n.
        tails: (m,), where each edge begins.
        heads: (m,), where each edge ends.
        costs: (m,), of one unit of flow.
        capacities: (m,), at least 0.
        sources: (s,), distinct nodes.
        source_capacities: (s,), at least 0.
        sinks: (t,), distinct nodes; one may be a source too.
        sink_capacities: (t,), at least 0.

    Raises:
        ValueError: lengths that differ, nodes that are not there or named twice, numbers that are not finite, a capacity below 0.
    """
    _require_lengths(expected=len(tails), heads=heads, costs=costs, capacities=capacities)
    _require_lengths(expected=len(sources), source_capacities=source_capacities)
    _require_lengths(expected=len(sinks), sink_capacities=sink_capacities)
    for name, places in (("tails", tails), ("heads", heads), ("sources", sources), ("sinks", sinks)):
        require_places(name=name, places=places, count=nodes)
    _require_distinct(sources=sources, sinks=sinks)
    source, sink = nodes, nodes + 1
    network = FlowNetwork(
        nodes=nodes,
        tails=np.concatenate([tails, np.full(len(sources), source), sinks]).astype(np.int64),
        heads=np.concatenate([heads, sources, np.full(len(sinks), sink)]).astype(np.int64),
        costs=np.concatenate([costs, np.zeros(len(sources) + len(sinks))]),
        capacities=np.concatenate([capacities, source_capacities, sink_capacities]),
        source=source,
        sink=sink,
    )
    require_range(name="costs", values=network.costs, low=-np.inf, high=np.inf)
    require_range(name="capacities", values=network.capacities, low=0.0, high=np.inf)
    return network


def _require_lengths(*, expected: int, **arrays: FloatArray | IntArray) -> None:
    for name, array in arrays.items():
        if len(array) != expected:
            raise ValueError(f"{name} has {len(array)} entries where {expected} are needed; give one for each")


def _require_distinct(**places: IntArray) -> None:
    for name, array in places.items():
        if len(np.unique(array)) != len(array):
            raise ValueError(f"{name} name a node twice: {array.tolist()}; name each once")
