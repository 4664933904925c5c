"""As much flow as pays: where visits earn, the demand is what the question has good evidence for, and nobody has to set it."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.flow_network import FlowNetwork
from tasks.algorithms.flow_solvers import UNITS_OF_FLOW, cost_units, refused, solver_arcs
from tasks.algorithms.min_cost_flow import RoutedFlow


def paying_flow(network: FlowNetwork) -> RoutedFlow:
    """Route the flow of least cost among those of any amount; nothing where no chain has a cost below 0.

    Args:
        network: with costs below 0 for what is earned; circles inside it that pay would be run as well, so it should have none.

    Raises:
        FlowError: numbers too large for the solver.
    """
    # 0.1 s of a cold start, and only questions that route pay it.
    from ortools.graph.python.min_cost_flow import SimpleMinCostFlow

    arcs = solver_arcs(network)
    solver = SimpleMinCostFlow()
    solver.add_arcs_with_capacity_and_unit_cost(arcs.tails, arcs.heads, arcs.capacities, cost_units(network.costs[arcs.places]))
    # What arrives comes back for nothing: a circulation is as large as it pays.
    back = solver.add_arc_with_capacity_and_unit_cost(arcs.end, arcs.begin, int(arcs.capacities[arcs.tails == arcs.begin].sum()), 0)
    status = solver.solve()
    if status != SimpleMinCostFlow.OPTIMAL:
        raise refused(solver="min-cost circulation", status=status.name, network=network)
    flow = np.zeros(len(network.tails))
    flow[arcs.places] = solver.flows(np.arange(len(arcs.places), dtype=np.int32)) / UNITS_OF_FLOW
    # Not a dot product: its threads cost more than the solver, and the order of its sum is theirs.
    return RoutedFlow(flow=flow, amount=solver.flow(back) / UNITS_OF_FLOW, cost=float((flow * network.costs).sum()))
