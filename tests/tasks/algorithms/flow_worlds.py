"""Small networks for the tests of the routing, by hand, seeded, and drawn by Hypothesis; unit vectors."""

import numpy as np
from hypothesis import strategies as st
from scipy.optimize import linprog

from tasks.algorithms.flow.network import FlowNetwork, build_network


def unit_or_zero(rows):
    """Return the rows at length 1, those of zeros as they are."""
    rows = rows.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def arcs(*pairs):
    """Return the tails and heads of the pairs."""
    array = np.array(pairs, dtype=np.int64).reshape(-1, 2)
    return {"tails": array[:, 0], "heads": array[:, 1]}


def network(nodes, edges, *, sources, sinks):
    """Return a network of edges {(u, v): (cost, capacity)}, or pairs of these, whatever eq. 5 says, and ends {node: capacity}."""
    pairs = list(edges.items() if isinstance(edges, dict) else edges)
    ends, (begin, finish) = len(sources) + len(sinks), (nodes, nodes + 1)
    inside = arcs(*(pair for pair, _ in pairs))
    return FlowNetwork(
        nodes=nodes,
        tails=np.concatenate([inside["tails"], np.full(len(sources), begin), list(sinks)]).astype(np.int64),
        heads=np.concatenate([inside["heads"], list(sources), np.full(len(sinks), finish)]).astype(np.int64),
        costs=np.array([*(float(cost) for _, (cost, _) in pairs), *[0.0] * ends]),
        capacities=np.array([*(capacity for _, (_, capacity) in pairs), *sources.values(), *sinks.values()], dtype=float),
        source=begin,
        sink=finish,
    )


def random_network(seed):
    """Return a network of eq. 5 on 2 to 30 random nodes; parallel edges, loops and one-node chains may occur."""
    random = np.random.default_rng(seed)
    nodes = int(random.integers(2, 31))
    tails, heads = random.integers(0, nodes, size=(2, int(random.integers(0, nodes * 5))))
    ends = int(random.integers(1, min(nodes, 4) + 1))
    return build_network(
        nodes=nodes,
        tails=tails,
        heads=heads,
        cosines=random.uniform(-0.2, 1.0, len(tails)),
        scores=random.random(nodes),
        sources=random.choice(nodes, ends, replace=False),
        sinks=random.choice(nodes, ends, replace=False),
        answerability=random.random(nodes),
    )


@st.composite
def whole_networks(draw):
    """Draw a network of whole costs and capacities: equal chains, zero costs and zero capacities are common."""
    nodes = draw(st.integers(1, 7))
    place, number = st.integers(0, nodes - 1), st.integers(0, 4)
    edges = draw(st.lists(st.tuples(st.tuples(place, place), st.tuples(number, number)), max_size=20))
    some = st.dictionaries(place, number, max_size=3)
    return network(nodes, edges, sources=draw(some), sinks=draw(some))


def balances(network, flow):
    """Return what flows out of each node less what flows in; supersource and supersink last."""
    count = network.nodes + 2
    return np.bincount(network.tails, flow, count) - np.bincount(network.heads, flow, count)


def amount_of(network, flow):
    """Return what leaves the supersource in all."""
    return float(flow[network.tails == network.source].sum())


def cost_of(network, flow):
    return float((flow * network.costs).sum())


def lp_cost(network, amount):
    """Solve eq. 6 as it stands, with SciPy's HiGHS; where the amount is None, any may run."""
    count = len(network.tails)
    if not count:
        return 0.0
    conservation = np.zeros((network.nodes + 2, count))
    np.add.at(conservation, (network.tails, np.arange(count)), 1.0)
    np.add.at(conservation, (network.heads, np.arange(count)), -1.0)
    supplies = np.zeros(network.nodes + 2)
    supplies[[network.source, network.sink]] = amount or 0.0, -(amount or 0.0)
    rows = slice(network.nodes if amount is None else None)
    bounds = np.stack([np.zeros(count), network.capacities], axis=1)
    solved = linprog(network.costs, A_eq=conservation[rows], b_eq=supplies[rows], bounds=bounds, method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)
