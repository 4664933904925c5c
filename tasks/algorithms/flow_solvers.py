"""A network as the flow solvers want it: whole numbers, arcs that can carry something, from the narrow end."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.flow_network import FlowNetwork

UNITS_OF_FLOW = 10**9
"""Units in a flow of 1. Capacities are rounded down, and each that binds costs a little of the optimum: with 10**6 units the cost
was off the optimum of eq. 6 by up to 2e-5 of itself on 200 random graphs, with 10**9 by 4e-8; the time is the same."""

UNITS_OF_COST = 10**6
"""Units in a cost of 1. Rounded costs only choose between chains that differ by less; the cost reported is not made of them."""

LARGEST_UNITS = 2.0**62
"""Beyond it the cast to int64 is not defined; the solvers refuse so large a number by name."""


class FlowError(RuntimeError):
    """A solver could not say how the flow runs."""


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


def refused(*, solver: str, status: str, network: FlowNetwork) -> FlowError:
    """Return the error for a status other than OPTIMAL: reading a flow after one ends the process."""
    return FlowError(
        f"{solver} ended with {status} on {network.nodes} nodes and {len(network.tails)} arcs; "
        f"costs reach {np.abs(network.costs).max(initial=0.0):g} and capacities {network.capacities.max(initial=0.0):g}: "
        "scale them to about 1"
    )
