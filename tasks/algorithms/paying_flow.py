"""As much flow as pays: where visits earn, the demand is what the question has good evidence for, and nobody has to set it."""

from __future__ import annotations

from tasks.algorithms.flow_network import FlowNetwork
from tasks.algorithms.flow_solvers import refused, solver_arcs
from tasks.algorithms.min_cost_flow import RoutedFlow, cost_solver, routed_flow


def paying_flow(network: FlowNetwork) -> RoutedFlow:
    """Route the flow of least cost among those of any amount; nothing where no chain has a cost below 0.

    Args:
        network: with costs below 0 for what is earned; circles inside it that pay would be run as well, so it should have none.

    Raises:
        FlowError: numbers too large for the solver.
    """
    arcs = solver_arcs(network)
    solver = cost_solver(network, arcs)
    # What arrives comes back for nothing: a circulation is as large as it pays.
    back = solver.add_arc_with_capacity_and_unit_cost(arcs.end, arcs.begin, int(arcs.capacities[arcs.tails == arcs.begin].sum()), 0)
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise refused(solver="min-cost circulation", status=status.name, network=network)
    return routed_flow(solver, network, arcs, units=solver.flow(back))
