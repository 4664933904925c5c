"""What System 2 changes where visits earn: bridges run downhill, and more pages may begin a chain."""

from __future__ import annotations

import numpy as np

from storage.candidate_graph import CandidateGraph
from tasks.algorithms.arrays import FloatArray, IntArray, pages_of_nodes
from tasks.algorithms.prizes import downhill, page_leaders
from tasks.terrain import Terrain


def joined_both_ways(terrain: Terrain) -> tuple[IntArray, IntArray]:
    """Return tails and heads of the usable arcs and of their reverse: two ends of either need no bridge."""
    tails, heads = terrain.tails[terrain.usable], terrain.heads[terrain.usable]
    return np.concatenate([tails, heads]), np.concatenate([heads, tails])


def laid_downhill(terrain: Terrain, pairs: IntArray) -> IntArray:
    """Return the pairs (p, 2), each from its higher to its lower node."""
    falls = downhill(heights=terrain.heights, tails=pairs[:, 0], heads=pairs[:, 1])
    return np.where(falls[:, None], pairs, pairs[:, ::-1])


def new_pages(graph: CandidateGraph, terrain: Terrain, *, near: IntArray, propagated: FloatArray, count: int) -> IntArray:
    """Return, of the nodes near the sources, those of the largest phi, one of each page on which no chain begins yet."""
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    fresh = np.zeros(len(graph), dtype=np.bool_)
    fresh[near] = ~np.isin(pages[near], pages[terrain.sources])
    return page_leaders(documents=graph.documents, pages=graph.pages, scores=np.where(fresh, propagated, 0.0), count=count)


def let_in(terrain: Terrain, *, entry: float) -> IntArray:
    """Return the sources that are worth the lower entry, but not that of the terrain."""
    prizes = terrain.scores[terrain.sources] / (terrain.scores.max(initial=0.0) or 1.0)
    return terrain.sources[(prizes >= entry) & (prizes < terrain.entry)]
