"""The network of a question where visits earn: a chain pays for its start and its steps and wins the scores of what it visits.

The paper's costs (eq. 5) are all close to 1, so its cheapest flow is made of the shortest chains, and the pages that they stand on
are no better than the best-ranked ones. Here a good chain is cheaper than two poor ones. With s = h / max h:

- to begin at a source costs `entry`: what is not worth that much is no evidence by itself;
- to go on from u to v costs step (1 - trust s_u): the stronger the passage and the surer the relation, the weaker a continuation
  may be that is still worth reading;
- to visit v earns s_v, once.

Chains run from the higher to the lower node only, as a rule from the stronger to the weaker one. So nothing runs in circles,
however much it would earn.
"""

from collections.abc import Sequence

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, pages_of_nodes, require_range
from tasks.algorithms.flow.chains import FlowPath
from tasks.algorithms.flow.min_cost import BoolArray, cost_solver, routed_flow
from tasks.algorithms.flow.network import FlowNetwork, refused, solver_arcs

LEAST_GAIN = 1e-4
"""What a further chain from the same start must earn at least: one that only repeats the start earns nothing."""


def prize_network(
    *,
    tails: IntArray,
    heads: IntArray,
    trusts: FloatArray,
    heights: FloatArray,
    scores: FloatArray,
    sources: IntArray,
    entry: float,
    step: float,
) -> FlowNetwork:
    """Build the network; each node v is split into where it is entered, v, and where it is left, n + v.

    The arcs of the graph come first, in the order given, then those through the nodes. Every node may be the end of a chain. From a
    source that pays for itself further chains begin at no cost, so that a passage may lead to its next page and to its figure.

    Args:
        tails: (m,), where each arc begins.
        heads: (m,), where it ends.
        trusts: (m,), how sure the relation is, in [0, 1]; an arc of 0 carries nothing, nor does one that is not `downhill`.
        heights: (n,), finite.
        scores: (n,), h, at least 0.
        sources: (s,), distinct nodes.
        entry: what it costs to begin at a source, in [0, 1] of the best score.
        step: likewise, what a step costs that no relation makes cheaper.

    Raises:
        ValueError: numbers out of range.
    """
    nodes = len(scores)
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    require_range(name="trusts", values=trusts, low=0.0, high=1.0)
    prizes = scores / (scores.max(initial=0.0) or 1.0)
    usable = downhill(heights=heights, tails=tails, heads=heads) & (trusts > 0)
    onward = np.bincount(tails[usable], minlength=nodes).astype(np.float64)
    paying = sources[prizes[sources] >= entry]
    every, source, sink = np.arange(nodes), 2 * nodes, 2 * nodes + 1
    parts = (
        (nodes + tails, heads, step * (1.0 - trusts * prizes[tails]), usable.astype(np.float64)),
        (every, nodes + every, -prizes, np.ones(nodes)),
        (np.full(len(sources), source), sources, np.full(len(sources), entry), np.ones(len(sources))),
        (np.full(len(paying), source), nodes + paying, np.full(len(paying), LEAST_GAIN), onward[paying]),
        (nodes + every, np.full(nodes, sink), np.zeros(nodes), 1.0 + onward),
    )
    joined = [np.concatenate(column) for column in zip(*parts, strict=True)]
    return FlowNetwork(
        nodes=2 * nodes,
        tails=joined[0].astype(np.int64),
        heads=joined[1].astype(np.int64),
        costs=joined[2],
        capacities=joined[3],
        source=source,
        sink=sink,
    )


def downhill(*, heights: FloatArray, tails: IntArray, heads: IntArray) -> BoolArray:
    """Return which arcs lead from a higher node to a lower one (m,), or of two of the same height to that of the larger index."""
    require_range(name="heights", values=heights, low=-np.inf, high=np.inf)
    above, below = heights[tails], heights[heads]
    return np.asarray((above > below) | ((above == below) & (tails < heads)))


def joined_halves(paths: Sequence[FlowPath], *, nodes: int) -> tuple[FlowPath, ...]:
    """Return the paths through the n nodes themselves, where each stood for two."""
    return tuple(FlowPath(nodes=tuple(dict.fromkeys(half % nodes for half in path.nodes)), flow=path.flow) for path in paths)


def page_leaders(*, documents: IntArray, pages: IntArray, scores: FloatArray, count: int) -> IntArray:
    """Return the best node of each of the at most `count` best pages, the best first, equal ones by index.

    A page is as good as its best node. Pages without a score above 0 have no leader.
    """
    order = _best_first(scores)
    order = order[scores[order] > 0]
    _page, firsts = np.unique(pages_of_nodes(documents=documents, pages=pages)[order], return_index=True)
    return np.asarray(order[np.sort(firsts)][:count])


def same_page_arcs(*, documents: IntArray, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from each node to the next best one of its page, equal ones by index."""
    order = _best_first(scores)
    by_page = pages_of_nodes(documents=documents, pages=pages)[order]
    order = order[np.argsort(by_page, kind="stable")]
    together = _same(documents[order], pages[order])
    return order[:-1][together], order[1:][together]


def page_turn_arcs(*, documents: IntArray, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from the best node of a page to that of the page behind it, where both have nodes."""
    order = _best_first(scores)
    _page, firsts = np.unique(pages_of_nodes(documents=documents, pages=pages)[order], return_index=True)
    leaders = order[firsts]
    turned = _same(documents[leaders], pages[leaders] - np.arange(len(leaders)))
    return leaders[:-1][turned], leaders[1:][turned]


def title_page_arcs(*, documents: IntArray, pages: IntArray, scores: FloatArray) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the arcs from the best node of a document to that of its page 1, where the best is elsewhere."""
    order = _best_first(scores)
    owners, firsts = np.unique(documents[order], return_index=True)
    on_title = order[pages[order] == 1]
    titled, title_firsts = np.unique(documents[on_title], return_index=True)
    best, heads = order[firsts][np.isin(owners, titled)], on_title[title_firsts]
    elsewhere = pages[best] != 1
    return best[elsewhere], heads[elsewhere]


def _best_first(scores: FloatArray) -> IntArray:
    require_range(name="scores", values=scores, low=0.0, high=np.inf)
    return np.argsort(-scores, kind="stable")


def _same(documents: IntArray, pages: IntArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Return which two neighbours in a row of nodes share document and page."""
    return np.asarray((np.diff(documents) == 0) & (np.diff(pages) == 0))


def paying_flow(network: FlowNetwork) -> FloatArray:
    """Return the flow (arcs,) of least cost among those of any amount; nothing runs where no chain has a cost below 0.

    What is earned costs below 0. Circles that pay would be run as well, so the network should have none. Numbers too large for the
    solver raise FlowError.
    """
    arcs = solver_arcs(network)
    solver = cost_solver(network, arcs)
    # What arrives comes back for nothing: a circulation is as large as it pays.
    solver.add_arc_with_capacity_and_unit_cost(arcs.end, arcs.begin, int(arcs.capacities[arcs.tails == arcs.begin].sum()), 0)
    status = solver.solve()
    if status != solver.OPTIMAL:
        raise refused(solver="min-cost circulation", status=status.name, network=network)
    return routed_flow(solver, network, arcs)
