"""What stands around nodes: communities of a document (Louvain), a node's neighbours, and the nearest of several nodes."""

import math

import networkx as nx
import numpy as np
from scipy.sparse import csr_array
from scipy.sparse.csgraph import dijkstra

from tasks.algorithms.arrays import FloatArray, IntArray, require_range

GRID = 2**25
"""What all weights sum to. With whole parts of a power of two no gain of Louvain's is rounded, so of two moves that are equally
good none looks better than the other; between such moves networkx goes to and fro for ever."""


def find_communities(
    *, ordinals: IntArray, tails: IntArray, heads: IntArray, weights: FloatArray, resolution: float, seed: int
) -> IntArray:
    """Return the community (n,) of each node of a document, numbered by their first nodes in reading order.

    `ordinals` (n,) are the reading order. Of the arcs (m,) between two nodes, whatever their direction, the one of the greatest
    weight counts, if that is above 0. The order in which nodes and arcs come makes no difference. The greater the `resolution`,
    above 0, the smaller the communities.
    """
    count, rank = len(ordinals), np.argsort(np.argsort(ordinals))
    ends = np.sort(np.stack([rank[tails], rank[heads]]), axis=0)
    pairs, places = np.unique(ends[0] * count + ends[1], return_inverse=True)
    greatest = np.zeros(len(pairs))
    np.maximum.at(greatest, places, weights)
    # A node of its own takes the rest of the grid as a loop. The larger that is, the larger the communities, as with a resolution
    # that is smaller: so each resolution is a power of two, which rounds nothing, and a rest.
    power = 2 ** max(0, math.ceil(math.log2(resolution)))
    parts = np.floor(greatest * (GRID * resolution / power / (greatest.sum() or 1.0))).astype(np.int64)
    graph = nx.Graph()
    graph.add_nodes_from(range(count + 1))
    graph.add_weighted_edges_from((*divmod(pair, count), part) for pair, part in zip(pairs.tolist(), parts.tolist(), strict=True))
    graph.add_edge(count, count, weight=GRID - int(parts.sum()))
    labels = np.empty(count + 1, dtype=np.int64)
    for label, members in enumerate(sorted(nx.community.louvain_communities(graph, resolution=power, seed=seed), key=min)):
        labels[list(members)] = label
    return labels[rank]


def context_of(
    node: int, *, communities: IntArray, ordinals: IntArray, tails: IntArray, heads: IntArray, most: int
) -> tuple[list[int], int]:
    """Return the neighbours of a node and the others of its community, at most `most`, and how many more there are.

    They come by the number of arcs (m,), in whichever direction, on the way to them, those without a way last; then by the
    distance of their `ordinals` (n,); then as they are read.
    """
    arcs = csr_array((np.ones(len(tails)), (tails, heads)), shape=(len(ordinals), len(ordinals)))
    hops = dijkstra(arcs, directed=False, unweighted=True, indices=node)
    order = np.lexsort((ordinals, np.abs(ordinals - ordinals[node]), hops))
    around = order[((hops == 1) | (communities == communities[node]))[order] & (order != node)].tolist()
    return around[:most], max(0, len(around) - most)


def readout(
    *, order: IntArray, tails: IntArray, heads: IntArray, strengths: FloatArray, scores: FloatArray, neighbours: int, nodes: int
) -> IntArray:
    """Return at most `nodes` nodes: each of the order in turn, followed by its strongest neighbours, no node twice.

    Args:
        order: (k,), nodes to begin with, the best first, each once.
        tails, heads: (m,), the arcs; both ends are neighbours of each other, once, by the strongest arc between them.
        strengths: (m,), at least 0.
        scores: (n,), which of equally near neighbours comes first, the higher one; then it is the lower position.
        neighbours: how many of a node follow it, at most; those that are there already count.
    """
    require_range(name="strengths of arcs", values=strengths, low=0.0, high=np.inf)
    require_range(name="scores", values=scores, low=-np.inf, high=np.inf)
    # Each adds itself at least, so that those behind them would find no room.
    seeds = order[:nodes]
    turns = np.full(len(scores), len(seeds))
    turns[seeds] = np.arange(len(seeds))
    # A seed is nearer to itself than any neighbour.
    near, far = np.concatenate([seeds, tails, heads]), np.concatenate([seeds, heads, tails])
    strength = np.concatenate([np.full(len(seeds), np.inf), strengths, strengths])
    begun = np.flatnonzero(turns[near] < len(seeds))
    line = begun[np.lexsort((far[begun], -scores[far[begun]], -strength[begun], turns[near[begun]]))]
    line = line[_firsts(turns[near[line]] * len(scores) + far[line])]
    turn = turns[near[line]]
    found = far[line][np.arange(len(line)) - np.searchsorted(turn, turn) <= neighbours]
    return np.asarray(found[_firsts(found)][:nodes])


def _firsts(values: IntArray) -> IntArray:
    """Return where each value stands for the first time, in order."""
    return np.sort(np.unique(values, return_index=True)[1])
