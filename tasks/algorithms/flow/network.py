"""The flow network of a question: costs and capacities between a supersource and a supersink, and as solvers want it."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray, IntArray, require_range

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
    """Build the network of section 3.4.

    An edge costs 1 - max(cos, 0) (h_u + h_v) / 2 (eq. 5), below 0 only where a score is above 1, and has room for min(h_u, h_v): a
    chain carries what its weakest node bears.

    Args:
        nodes: n.
        tails, heads: (m,), where each edge begins and ends; parallel edges add up.
        cosines: (m,), in [-1, 1].
        scores: (n,), h, at least 0.
        sources: distinct nodes; each may send its h.
        sinks: distinct nodes; each may take its a. One that is a source too is a chain of its own.
        answerability: (n,), a, at least 0.

    Raises:
        ValueError: numbers that are not finite or out of range.
    """
    require_range(name="cosines", values=cosines, low=-1.0 - ROUNDING, high=1.0 + ROUNDING)
    for name, values in (("scores", scores), ("answerability", answerability)):
        require_range(name=name, values=values, low=0.0, high=np.inf)
    source, sink = nodes, nodes + 1
    costs = step_costs(cosines=cosines, begun=scores[tails], ended=scores[heads])
    return FlowNetwork(
        nodes=nodes,
        tails=np.concatenate([tails, np.full(len(sources), source), sinks]).astype(np.int64),
        heads=np.concatenate([heads, sources, np.full(len(sinks), sink)]).astype(np.int64),
        costs=np.concatenate([costs, np.zeros(len(sources) + len(sinks))]),
        capacities=np.concatenate([np.minimum(scores[tails], scores[heads]), scores[sources], answerability[sinks]]),
        source=source,
        sink=sink,
    )


def step_costs(*, cosines: FloatArray, begun: FloatArray, ended: FloatArray) -> FloatArray:
    """Return 1 - max(cos, 0) (h_u + h_v) / 2 of each arc (m,), from the scores of its two ends (eq. 5)."""
    return np.asarray(1.0 - np.maximum(cosines, 0.0) * (begun + ended) / 2.0)


UNITS_OF_FLOW = 10**9
"""Units in a flow of 1. Capacities are rounded down, and each that binds costs a little of the optimum: with 10**6 units the cost
was off the optimum of eq. 6 by up to 2e-5 of itself on 200 random graphs, with 10**9 by 4e-8; the time is the same."""

UNITS_OF_COST = 10**6
"""Units in a cost of 1. Rounded costs only choose between chains that differ by less; the cost reported is not made of them."""

LARGEST_UNITS = 2.0**62
"""Beyond it the cast to int64 is not defined; the solvers refuse so large a number by name."""


@dataclass(frozen=True, slots=True)
class SolverArcs:
    """The arcs that can carry something: their places in the network, ends and capacities in units, and where to begin and end.

    `turned` says that every arc runs the other way, from supersink to supersource; the same flow on each arc solves both.
    """

    places: IntArray
    tails: npt.NDArray[np.int32]
    heads: npt.NDArray[np.int32]
    capacities: IntArray
    begin: int
    end: int
    turned: bool


def solver_arcs(network: FlowNetwork) -> SolverArcs:
    """Prepare the arcs, turned round where the sinks take less than the sources could send.

    The solvers push from where they begin, and what cannot get through has to come back: from the narrow end they took a fifth
    to a third less time.
    """
    sendable = network.capacities[network.tails == network.source].sum()
    turned = bool(network.capacities[network.heads == network.sink].sum() < sendable)
    capacities = flow_units(network.capacities)
    places = np.flatnonzero(capacities)
    ends = network.tails[places].astype(np.int32), network.heads[places].astype(np.int32)
    tails, heads = ends[::-1] if turned else ends
    begin, end = (network.sink, network.source) if turned else (network.source, network.sink)
    return SolverArcs(places=places, tails=tails, heads=heads, capacities=capacities[places], begin=begin, end=end, turned=turned)


def flow_units(amounts: FloatArray) -> IntArray:
    """Return the amounts in units of flow, rounded down so that no capacity is passed."""
    return np.asarray(np.floor(np.minimum(amounts, LARGEST_UNITS / UNITS_OF_FLOW) * UNITS_OF_FLOW), dtype=np.int64)


def cost_units(costs: FloatArray) -> IntArray:
    """Return the costs in units of cost, rounded to the nearest."""
    largest = LARGEST_UNITS / UNITS_OF_COST
    return np.asarray(np.rint(np.clip(costs, -largest, largest) * UNITS_OF_COST), dtype=np.int64)


def solver_error(*, solver: str, status: str, network: FlowNetwork) -> RuntimeError:
    """Return the error for a status other than OPTIMAL: reading a flow after one ends the process."""
    return RuntimeError(
        f"{solver} ended with {status} on {network.nodes} nodes and {len(network.tails)} arcs; "
        f"costs reach {np.abs(network.costs).max(initial=0.0):g} and capacities {network.capacities.max(initial=0.0):g}: "
        "scale them to about 1"
    )
