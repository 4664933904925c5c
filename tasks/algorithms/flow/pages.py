"""The network of the default: a unit of flow for each page that is read, and within these pages the chains of nodes that pay."""

from collections.abc import Sequence

import numpy as np

from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray, require_range
from tasks.algorithms.flow.chains import FlowPath
from tasks.algorithms.flow.network import FlowNetwork, step_costs

ORDER = 1e-6
"""What each further page costs besides: of two equally probable pages the first is read. The least that a solver tells apart."""
SURE = 1.0
"""The similarity of a step to the next best node of the same page: that page is open already."""


def page_network(
    *,
    probabilities: FloatArray,
    count: int,
    pages: IntArray,
    scores: FloatArray,
    tails: IntArray,
    heads: IntArray,
    similarities: FloatArray,
) -> FlowNetwork:
    """Build the network on which `count` units of flow read `count` pages.

    A unit opens a page for -ln p, and a page has room for one, so the most probable pages are opened. On each of the first
    `count` the unit goes on from node to node: a node earns its score the first time and nothing then, a step costs what eq. 5
    says, with scores relative to the best. A step may lead to another of these pages; it takes no page's place, because a page is
    opened by its own unit alone. On the pages behind nothing is earned, so none of them is worth opening first.

    Args:
        probabilities: (P,), p in [0, 1], falling.
        count: units of flow, at most P.
        pages: (n,), for each node its page's place among the first `count`; each of these has a node.
        scores: (n,), h, at least 0.
        tails, heads: (m,), the arcs; only those that lead downhill (`downhill`) carry flow, so that no chain is a circle.
        similarities: (m,), in [0, 1].

    Returns:
        Node v is split into v, where it is entered, and n + v, where it is left; page i is 2 n + i. The arcs given come first.
    """
    require_range(name="probabilities", values=probabilities, low=0.0, high=1.0)
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    require_range(name="similarities", values=similarities, low=0.0, high=1.0)
    nodes, every, opened = len(scores), np.arange(len(scores)), np.arange(len(probabilities))
    prizes = scores / (scores.max(initial=0.0) or 1.0)
    source, sink = 2 * nodes + len(opened), 2 * nodes + len(opened) + 1
    opening = -np.log(np.maximum(probabilities, np.finfo(np.float64).tiny)) + ORDER * opened
    carrying = downhill(heights=scores, tails=tails, heads=heads) & (similarities > 0)
    costs = step_costs(cosines=similarities, begun=prizes[tails], ended=prizes[heads])
    unread = opened[count:]
    parts = (
        (nodes + tails, heads, costs, carrying.astype(np.float64)),
        (np.full(len(opened), source), 2 * nodes + opened, opening, np.ones(len(opened))),
        (2 * nodes + pages, every, np.zeros(nodes), np.ones(nodes)),
        (every, nodes + every, -prizes, np.ones(nodes)),
        (every, nodes + every, np.zeros(nodes), np.full(nodes, float(count))),
        (nodes + every, np.full(nodes, sink), np.zeros(nodes), np.full(nodes, float(count))),
        (2 * nodes + unread, np.full(len(unread), sink), np.zeros(len(unread)), np.ones(len(unread))),
    )
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return FlowNetwork(
        nodes=2 * nodes + len(opened),
        tails=joined[0].astype(np.int64),
        heads=joined[1].astype(np.int64),
        costs=joined[2],
        capacities=joined[3],
        source=source,
        sink=sink,
    )


def downhill(*, heights: FloatArray, tails: IntArray, heads: IntArray) -> BoolArray:
    """Return which arcs lead from a higher node to a lower one (m,), or of two of the same height to that of the larger index."""
    above, below = heights[tails], heights[heads]
    return np.asarray((above > below) | ((above == below) & (tails < heads)))


def same_page_arcs(*, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from each node to the next best one of its page, equal ones by index."""
    order = np.lexsort((np.arange(len(scores)), -scores, pages))
    together = np.diff(pages[order]) == 0
    return order[:-1][together], order[1:][together]


def read_chains(paths: Sequence[FlowPath], *, pages: IntArray) -> tuple[tuple[int, ...], ...]:
    """Return the nodes of each path through a `page_network`, in the order of the pages (n,) that they open."""
    nodes = len(pages)
    chains = (tuple(dict.fromkeys(half % nodes for half in path.nodes if half < 2 * nodes)) for path in paths)
    return tuple(sorted(chains, key=lambda chain: (int(pages[chain[0]]), chain)))
