"""The cheapest way to route a demand of evidence (eq. 6), the most that fits, and where it is narrowest, by OR-Tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tasks.algorithms.arrays import BoolArray, FloatArray, require_range
from tasks.algorithms.flow.network import UNITS_OF_FLOW, FlowNetwork, SolverArcs, cost_units, flow_units, solver_arcs, solver_error

if TYPE_CHECKING:
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow


def min_cost_flow(network: FlowNetwork, *, demand: float) -> FloatArray:
    """Return the flow on each arc (arcs,) that brings min(demand, max flow) to the supersink at the least cost (eq. 6).

    The paper's LP has no solution where the demand does not fit, which is the common case; here it is cut down to what fits.

    Where costs are below 0 the flow may also run in circles that pay. A demand F that is not finite or below 0 raises ValueError,
    numbers too large for the solver RuntimeError.
    """
    require_range(name="demand", values=demand, low=0.0, high=np.inf)
    arcs = solver_arcs(network)
    solver = cost_solver(network, arcs)
    supply = int(flow_units(np.array(demand)))
    solver.set_node_supply(arcs.begin, supply)
    solver.set_node_supply(arcs.end, -supply)
    status = solver.solve_max_flow_with_min_cost()
    if status != solver.OPTIMAL:
        raise solver_error(solver="min-cost flow", status=status.name, network=network)
    return routed_flow(solver, network, arcs)


def cost_solver(network: FlowNetwork, arcs: SolverArcs) -> SimpleMinCostFlow:
    """Return a solver that knows the arcs, their capacities and what a unit of flow costs on them."""
    # 0.1 s of a cold start, and only questions that route pay it.
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    solver = SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(arcs.tails, arcs.heads, arcs.capacities, cost_units(network.costs[arcs.places]))
    return solver


def routed_flow(solver: SimpleMinCostFlow, network: FlowNetwork, arcs: SolverArcs) -> FloatArray:
    """Return the flow on each arc of the network that an optimal solver found."""
    flow = np.zeros(len(network.tails))
    flow[arcs.places] = solver.flows(np.arange(len(arcs.places), dtype=np.int32)) / UNITS_OF_FLOW
    return flow


@dataclass(frozen=True, slots=True)
class MaximumFlow:
    """The greatest flow and the minimum cut nearest to the supersource.

    `source_side` (nodes,) marks what the supersource still reaches through room left over, `sink_side` (nodes,) what still reaches
    the supersink; no node is both, and many are neither.
    """

    value: float
    source_side: BoolArray
    sink_side: BoolArray


def max_flow(network: FlowNetwork) -> MaximumFlow:
    """Find the greatest flow from supersource to supersink and its minimum cut; capacities too large raise RuntimeError."""
    # 0.1 s of a cold start, and only questions that route pay it.
    from ortools.graph.python.max_flow import SimpleMaxFlow

    arcs = solver_arcs(network)
    solver = SimpleMaxFlow()
    # The solver knows only nodes that it saw on an arc, and must know both ends.
    solver.add_arc_with_capacity(arcs.begin, arcs.end, 0)
    solver.add_arcs_with_capacity(arcs.tails, arcs.heads, arcs.capacities)
    status = solver.solve(arcs.begin, arcs.end)
    if status != SimpleMaxFlow.OPTIMAL:
        raise solver_error(solver="max flow", status=status.name, network=network)
    from_begin, to_end = np.zeros((2, network.nodes + 2), dtype=np.bool_)
    from_begin[solver.get_source_side_min_cut()] = True
    to_end[solver.get_sink_side_min_cut()] = True
    before, behind = (to_end, from_begin) if arcs.turned else (from_begin, to_end)
    return MaximumFlow(
        value=solver.optimal_flow() / UNITS_OF_FLOW,
        source_side=before[: network.nodes],
        sink_side=behind[: network.nodes],
    )


def saturation(*, max_flow: float, demand: float) -> float:
    """Return min(max flow / F, 1), the paper's saturation (section 3.4), for a demand above 0."""
    return min(max_flow / demand, 1.0)
