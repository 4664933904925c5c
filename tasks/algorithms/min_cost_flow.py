"""The cheapest way to route a demand of evidence through the network (eq. 6), by OR-Tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range
from tasks.algorithms.flow_network import FlowNetwork
from tasks.algorithms.flow_solvers import UNITS_OF_FLOW, SolverArcs, cost_units, flow_units, refused, solver_arcs

if TYPE_CHECKING:
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow


@dataclass(frozen=True, slots=True)
class RoutedFlow:
    """The flow on each arc of the network (arcs,), what leaves the supersource in all, and what it costs."""

    flow: FloatArray
    amount: float
    cost: float


def min_cost_flow(network: FlowNetwork, *, demand: float) -> RoutedFlow:
    """Route min(demand, max flow) from supersource to supersink at the least cost (eq. 6).

    The paper's LP has no solution where the demand does not fit, which is the common case; here it is cut down to what fits.

    Args:
        network: with any finite costs; where some are below 0 the flow may also run in circles that pay.
        demand: F, at least 0.

    Raises:
        ValueError: a demand that is not finite or below 0.
        FlowError: numbers too large for the solver.
    """
    require_range(name="demand", values=demand, low=0.0, high=np.inf)
    arcs = solver_arcs(network)
    solver = cost_solver(network, arcs)
    supply = int(flow_units(np.array(demand)))
    solver.set_node_supply(arcs.begin, supply)
    solver.set_node_supply(arcs.end, -supply)
    status = solver.solve_max_flow_with_min_cost()
    if status != solver.OPTIMAL:
        raise refused(solver="min-cost flow", status=status.name, network=network)
    return routed_flow(solver, network, arcs, units=solver.maximum_flow())


def cost_solver(network: FlowNetwork, arcs: SolverArcs) -> SimpleMinCostFlow:
    """Return a solver that knows the arcs, their capacities and what a unit of flow costs on them."""
    # 0.1 s of a cold start, and only questions that route pay it.
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    solver = SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(arcs.tails, arcs.heads, arcs.capacities, cost_units(network.costs[arcs.places]))
    return solver


def routed_flow(solver: SimpleMinCostFlow, network: FlowNetwork, arcs: SolverArcs, *, units: int) -> RoutedFlow:
    """Return the flow that an optimal solver found; `units` of it run from end to end."""
    flow = np.zeros(len(network.tails))
    flow[arcs.places] = solver.flows(np.arange(len(arcs.places), dtype=np.int32)) / UNITS_OF_FLOW
    # Not a dot product: its threads cost more than the solver, and the order of its sum is theirs.
    return RoutedFlow(flow=flow, amount=units / UNITS_OF_FLOW, cost=float((flow * network.costs).sum()))
