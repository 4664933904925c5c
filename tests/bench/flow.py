"""Min-cost flow, built and solved, against networkx's network simplex: the same cost, many times faster."""

import time

import networkx as nx
import numpy as np

from tasks.algorithms.min_cost import min_cost_flow
from tasks.algorithms.network import UNITS_OF_COST, UNITS_OF_FLOW, FlowNetwork, build_network, cost_units, flow_units
from tests.bench.measuring import Part, at_least, at_most, middle

NODES, ARCS, ENDS, ROUNDS = 2_000, 20_000, 8, 5
TIMES_FASTER = 40.0
LARGEST_DIFFERENCE = 1e-6


def measure() -> Part:
    """Route on random graphs of the size of a question, the two solvers by turns."""
    ours, theirs, differences = [], [], []
    for seed in range(ROUNDS):
        began = time.perf_counter()
        network = random_network(seed)
        found = min_cost_flow(network, demand=6.0)
        ours.append(time.perf_counter() - began)
        began = time.perf_counter()
        cost = simplex_cost(network, found.amount)
        theirs.append(time.perf_counter() - began)
        differences.append(abs(found.cost - cost) / cost)
    ratio = middle([slow / quick for slow, quick in zip(theirs, ours, strict=True)])
    figures = [
        at_least(
            "min-cost flow, networkx / ours (2,000 nodes, 20,000 arcs)", ratio, unit="x", bound=TIMES_FASTER, goal=TIMES_FASTER
        ),
        at_most("difference of cost, millionths", 1e6 * max(differences), unit="", bound=1e6 * LARGEST_DIFFERENCE),
        at_most("ours, build and solve", 1000 * middle(ours), unit="ms", bound=12.0),
    ]
    return Part(figures=figures, raw={"ours_seconds": ours, "networkx_seconds": theirs, "differences": differences})


def random_network(seed: int) -> FlowNetwork:
    """Return a network as a question makes one; making its random numbers takes a millisecond of what is measured."""
    random = np.random.default_rng(seed)
    tails, heads = random.integers(0, NODES, ARCS), random.integers(0, NODES, ARCS)
    scores = random.beta(2, 4, NODES)
    ends = random.permutation(NODES)[: 2 * ENDS]
    return build_network(
        nodes=NODES,
        tails=tails,
        heads=heads,
        cosines=random.uniform(0.22, 1.0, ARCS),
        scores=scores,
        sources=ends[:ENDS],
        sinks=ends[ENDS:],
        answerability=random.beta(2, 4, NODES),
    )


def simplex_cost(network: FlowNetwork, amount: float) -> float:
    """Return the cost that networkx finds for the same network, in the same whole numbers."""
    graph = nx.MultiDiGraph()
    units = int(flow_units(amount))
    graph.add_node(network.source, demand=-units)
    graph.add_node(network.sink, demand=units)
    columns = (network.tails, network.heads, cost_units(network.costs), flow_units(network.capacities))
    for tail, head, cost, capacity in zip(*(column.tolist() for column in columns), strict=True):
        graph.add_edge(tail, head, weight=cost, capacity=capacity)
    cost, _flow = nx.network_simplex(graph)
    return float(cost) / UNITS_OF_COST / UNITS_OF_FLOW
