"""The evidence of a sub-question: the best nodes, each with its nearest neighbours, as far as there is room."""

import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray, require_range


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
