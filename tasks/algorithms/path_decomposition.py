"""The flow as weighted chains of nodes, from the supersource to the supersink: the widest chain is peeled off first."""

from __future__ import annotations

import heapq
import math
from collections import deque
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range
from tasks.algorithms.flow_network import FlowNetwork

SMALLEST_FLOW = 1e-6
"""Less on an arc is no evidence but what is left where rounded capacities meet: a thousand of the solver's units."""

Residual = dict[int, dict[int, float]]
"""What is still to be peeled from each node to each next one; both in the order of the node numbers."""


@dataclass(frozen=True, slots=True)
class FlowPath:
    """A chain of distinct nodes, source first, without supersource and supersink, and the flow along it."""

    nodes: tuple[int, ...]
    flow: float


def decompose(network: FlowNetwork, *, flow: FloatArray, limit: int) -> tuple[FlowPath, ...]:
    """Peel chains off the flow, each time the one of the largest bottleneck, until none is left or there are `limit`.

    Of equal bottlenecks the shorter chain comes first, then the one of the lower node number where they part. Arcs between the
    same two nodes count as one. What runs in circles reaches no sink and is in no chain.

    Args:
        network: n nodes.
        flow: (arcs,), at least 0; conserved at every node, or what cannot get through is left out.
        limit: chains at most; none for 0.

    Returns:
        The chains, flows not increasing. Without circles and below the limit they add up to the flow.
    """
    require_range(name="flows", values=flow, low=0.0, high=np.inf)
    residual = _residual(network, flow)
    paths: list[FlowPath] = []
    while len(paths) < limit:
        width = _widest_bottleneck(residual, network.source, network.sink)
        if width == 0.0:
            break
        route = _shortest_route(residual, network.source, network.sink, width)
        _peel(residual, route, width)
        paths.append(FlowPath(nodes=tuple(route[1:-1]), flow=width))
    return tuple(paths)


def _residual(network: FlowNetwork, flow: FloatArray) -> Residual:
    residual: Residual = {}
    carrying = np.flatnonzero(flow > SMALLEST_FLOW)
    tails, heads = network.tails[carrying], network.heads[carrying]
    order = np.lexsort((heads, tails))
    for tail, head, amount in zip(tails[order].tolist(), heads[order].tolist(), flow[carrying][order].tolist(), strict=True):
        onward = residual.setdefault(tail, {})
        onward[head] = onward.get(head, 0.0) + amount
    return residual


def _widest_bottleneck(residual: Residual, source: int, sink: int) -> float:
    """Return the largest flow that fits along one chain, 0 where no chain is left: Dijkstra with min for sum and widest first."""
    widest = {source: math.inf}
    queue = [(-math.inf, source)]
    while queue:
        negative, node = heapq.heappop(queue)
        if node == sink:
            return -negative
        for head, left in residual.get(node, {}).items():
            through = min(-negative, left)
            if through > widest.get(head, 0.0):
                widest[head] = through
                heapq.heappush(queue, (-through, head))
    return 0.0


def _shortest_route(residual: Residual, source: int, sink: int, width: float) -> list[int]:
    """Return the shortest route of that width; breadth first in node order finds the lowest numbers first among equals."""
    parents = {source: source}
    queue = deque([source])
    while sink not in parents:
        node = queue.popleft()
        for head, left in residual.get(node, {}).items():
            if left >= width and head not in parents:
                parents[head] = node
                queue.append(head)
    route = [sink]
    while route[-1] != source:
        route.append(parents[route[-1]])
    return route[::-1]


def _peel(residual: Residual, route: list[int], width: float) -> None:
    for tail, head in pairwise(route):
        residual[tail][head] -= width
        if residual[tail][head] <= SMALLEST_FLOW:
            del residual[tail][head]
