"""The flow as weighted chains of nodes, how good each is, and how little two overlap: the game of the replicator dynamics."""

import heapq
import math
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range
from tasks.algorithms.flow.network import FlowNetwork

SMALLEST_FLOW = 1e-6
"""Less on an arc is no evidence, only the remainder of rounded capacities: a thousand of the solver's units."""

Residual = dict[int, dict[int, float]]
"""Flow still to be peeled from each node to each next one; both in the order of the node numbers."""


@dataclass(frozen=True, slots=True)
class FlowPath:
    """A chain of distinct nodes, source first, without supersource and supersink, and the flow along it."""

    nodes: tuple[int, ...]
    flow: float


def decompose(network: FlowNetwork, *, flow: FloatArray, limit: int) -> tuple[FlowPath, ...]:
    """Peel chains off the flow, each time the one of the largest bottleneck, until none is left or there are `limit`.

    Of equal bottlenecks the shorter chain comes first, then the one of the lower node number where they part. Arcs between the
    same two nodes count as one. What runs in circles reaches no sink and is in no chain.

    The flow (arcs,) is at least 0; where it is not conserved, what cannot get through is left out. The flows of the chains do not
    increase; without circles and below the limit they add up to the flow.
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


def jaccard_distances(*, paths: Sequence[Sequence[int]]) -> FloatArray:
    """Return 1 - |shared nodes| / |nodes of either| for each two of the K paths (eq. 7): (K, K), symmetric, in [0, 1], 0 inside."""
    numbers = np.concatenate([np.asarray(path, dtype=np.int64) for path in paths]) if paths else np.zeros(0, dtype=np.int64)
    owners = np.repeat(np.arange(len(paths)), [len(path) for path in paths])
    distinct, columns = np.unique(numbers, return_inverse=True)
    members = np.zeros((len(paths), len(distinct)))
    members[owners, columns] = 1.0
    # Sums of ones are exact in any order, so equal sets are at a distance of exactly 0.
    shared = members @ members.T
    sizes = members.sum(axis=1)
    return np.asarray(1.0 - shared / (sizes[:, None] + sizes[None, :] - shared))


def path_qualities(
    *,
    paths: Sequence[Sequence[int]],
    flows: FloatArray,
    scores: FloatArray,
    flow_exponent: float,
    peak_exponent: float,
    mean_exponent: float,
) -> FloatArray:
    """Return q_k = (b_k / max b)^a (max h)^b (mean h)^c for each of the K paths (section 3.5.1): (K,), in [0, 1] for h in [0, 1].

    Args:
        paths: the distinct nodes of each, at least one.
        flows: (K,), at least 0; where all are 0, so is every relative flow.
        scores: (n,), h, at least 0.
        flow_exponent: a, at least 0; 0 leaves the signal out.
        peak_exponent: b, likewise.
        mean_exponent: c, likewise. The paper's "length-weighted mean" is read as the sum of h over the number of nodes.
    """
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    largest = flows.max(initial=0.0)
    relative = flows / largest if largest > 0 else np.zeros(len(paths))
    peaks = np.array([scores[list(path)].max() for path in paths])
    means = np.array([scores[list(path)].mean() for path in paths])
    return np.asarray(relative**flow_exponent * peaks**peak_exponent * means**mean_exponent)


def payoff_matrix(*, qualities: FloatArray, distances: FloatArray) -> FloatArray:
    """Return the payoffs of eq. 8: q_k^2 for a path against itself, sqrt(q_k q_l) d_kl for two; (K, K), symmetric."""
    require_range(name="qualities", values=qualities, low=0.0, high=np.inf)
    payoff = np.sqrt(np.outer(qualities, qualities)) * distances
    np.fill_diagonal(payoff, qualities**2)
    return payoff
