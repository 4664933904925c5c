"""Where the nodes of evidence paths stand in a drawing: columns by longest distance, rows by barycentre, few crossings."""

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import networkx as nx
import numpy as np

from tasks.algorithms.arrays import FloatArray, IntArray

Links = Sequence[tuple[int, int, float]]
"""Lines between two slots of neighbouring columns, the left one first, with their weights."""


def order_layers(*, layers: Sequence[Sequence[int]], links: Links, sweeps: int) -> list[list[int]]:
    """Sort the slots of each column by the weighted mean place of their neighbours, to the right and back in turn.

    Equal means and slots without neighbours keep their place. Of the orders seen, the given one first, the one with the fewest
    crossings is returned, the earliest of equals.

    Columns go from left to right, their slots from top to bottom; no slot stands twice. Links are between columns side by side;
    their weights are at least 0, and all of them 0 count as equal. At most `sweeps` passes go over all columns.
    """
    best = places = [list(layer) for layer in layers]
    fewest = count_crossings(layers=best, links=links)
    for sweep in range(sweeps):
        if not fewest:
            break
        places = _sweep(places, links, rightwards=sweep % 2 == 0)
        if (crossings := count_crossings(layers=places, links=links)) < fewest:
            best, fewest = places, crossings
    return best


def count_crossings(*, layers: Sequence[Sequence[int]], links: Links) -> int:
    """Count the pairs of lines between the same two columns that cross; lines that share an end do not."""
    column = {slot: number for number, layer in enumerate(layers) for slot in layer}
    place = {slot: number for layer in layers for number, slot in enumerate(layer)}
    crossings = 0
    for number in range(len(layers) - 1):
        ends = [(place[first], place[second]) for first, second, _ in links if column[first] == number]
        left, right = np.array(ends, dtype=np.int64).reshape(-1, 2).T
        crossings += int(np.sum((left[:, None] < left) & (right[:, None] > right)))
    return crossings


def _sweep(places: Sequence[Sequence[int]], links: Links, *, rightwards: bool) -> list[list[int]]:
    """Sort every column after the column before it, in the direction of the sweep."""
    swept = [list(layer) for layer in places]
    near: dict[int, list[tuple[int, float]]] = {}
    for first, second, weight in links:
        slot, neighbour = (second, first) if rightwards else (first, second)
        near.setdefault(slot, []).append((neighbour, weight))
    step = 1 if rightwards else -1
    for number in range(1, len(swept)) if rightwards else range(len(swept) - 2, -1, -1):
        before, layer = swept[number - step], swept[number]
        heights = {slot: (place + 0.5) / len(before) for place, slot in enumerate(before)}
        means = {slot: _mean(near.get(slot, []), heights, (place + 0.5) / len(layer)) for place, slot in enumerate(layer)}
        swept[number] = sorted(layer, key=means.__getitem__)
    return swept


def _mean(neighbours: Sequence[tuple[int, float]], heights: Mapping[int, float], own: float) -> float:
    """Return the weighted mean height of the neighbours, the slot's own height where it has none."""
    if not neighbours:
        return own
    weights = [weight for _, weight in neighbours]
    if not any(weights):
        weights = [1.0] * len(neighbours)
    return sum(heights[slot] * weight for (slot, _), weight in zip(neighbours, weights, strict=True)) / sum(weights)


SWEEPS = 6
"""Passes over the columns; the crossings of sixty paths settle within four."""

ENTRY = -1
"""Stands for where all flow comes from, one column before the first; where it goes to has the number after the last node."""

Arc = tuple[int, int]
Point = tuple[int, float]
"""A column and a row."""


@dataclass(frozen=True, slots=True)
class Route:
    """Flow from one node to another, and the points it passes on its way, one in each column between."""

    source: int
    target: int
    flow: float
    between: tuple[Point, ...]


@dataclass(frozen=True, slots=True)
class PathLayout:
    """The column (0 is the leftmost) and the row of each node, at least one row apart in a column; the routes by their ends."""

    columns: IntArray
    rows: FloatArray
    routes: tuple[Route, ...]
    width: int
    height: int


def lay_out_paths(*, paths: Sequence[Sequence[int]], flows: Sequence[float], nodes: int) -> PathLayout:
    """Place the nodes of paths so that flow runs from left to right, past the nodes that it does not visit.

    A node stands as many columns from the left as the longest chain to it has nodes before it. Where chains end is the last
    column; a chain of one node stands in the first. Ties go by the order of the paths. Paths may form a cycle: the weakest arc
    that closes one is drawn back, without points between.

    A node repeated at once counts once. No path is empty, each of 0..nodes - 1 is on one, and flows are finite and at least 0.
    """
    arcs = _sum_arcs(paths, flows, nodes)
    columns, backward = _columns(arcs, nodes)
    chains = _chains([arc for arc in arcs if arc not in backward], columns, nodes)
    layers, slot_columns = _layers(dict.fromkeys(node for path in paths for node in path), chains, columns)
    links = [
        (first, second, arcs[arc])
        for arc, chain in chains.items()
        for first, second in itertools.pairwise(chain)
        if {first, second}.isdisjoint({ENTRY, nodes})
    ]
    layers = order_layers(layers=layers, links=links, sweeps=SWEEPS)
    height = max((len(layer) for layer in layers), default=0)
    rows = {slot: place + (height - len(layer)) / 2 for layer in layers for place, slot in enumerate(layer)}
    return PathLayout(
        columns=np.array([columns[node] for node in range(nodes)], dtype=np.int64),
        rows=np.array([rows[node] for node in range(nodes)], dtype=np.float64),
        routes=tuple(
            Route(*arc, arcs[arc], tuple((slot_columns[slot], rows[slot]) for slot in chains.get(arc, [])[1:-1]))
            for arc in sorted(arcs)
        ),
        width=len(layers),
        height=height,
    )


def _sum_arcs(paths: Sequence[Sequence[int]], flows: Sequence[float], nodes: int) -> dict[Arc, float]:
    """Return the flow of each arc, those from the entry and to the exit included, in the order of the paths."""
    arcs: dict[Arc, float] = {}
    for path, flow in zip(paths, flows, strict=True):
        for arc in itertools.pairwise([ENTRY, *path, nodes]):
            if arc[0] != arc[1]:
                arcs[arc] = arcs.get(arc, 0.0) + float(flow)
    return arcs


def _columns(arcs: Mapping[Arc, float], nodes: int) -> tuple[dict[int, int], set[Arc]]:
    """Return the column of each node, of entry and exit, and the arcs that would close a cycle (the strongest go first)."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(nodes))
    backward: set[Arc] = set()
    inner = [arc for arc in arcs if ENTRY not in arc and nodes not in arc]
    for source, target in sorted(inner, key=lambda arc: (-arcs[arc], arc)):
        if nx.has_path(graph, target, source):
            backward.add((source, target))
        else:
            graph.add_edge(source, target)
    columns = {node: depth for depth, generation in enumerate(nx.topological_generations(graph)) for node in generation}
    width = max(columns.values(), default=-1) + 1
    ends = [node for node in columns if graph.in_degree(node) and not graph.out_degree(node)]
    return columns | dict.fromkeys(ends, width - 1) | {ENTRY: -1, nodes: width}, backward


def _chains(arcs: Sequence[Arc], columns: Mapping[int, int], nodes: int) -> dict[Arc, list[int]]:
    """Return the slots of each arc from end to end: its nodes, and a number of its own in each column that it crosses."""
    fresh = itertools.count(nodes + 1)
    return {
        (source, target): [source, *itertools.islice(fresh, columns[target] - columns[source] - 1), target]
        for source, target in arcs
    }


def _layers(
    order: Mapping[int, None], chains: Mapping[Arc, Sequence[int]], columns: Mapping[int, int]
) -> tuple[list[list[int]], dict[int, int]]:
    """Return the slots of each column, nodes first and in the order of the paths, and the column of each slot."""
    slots = {node: columns[node] for node in order}
    for (source, _target), chain in chains.items():
        slots |= {slot: columns[source] + step for step, slot in enumerate(chain[1:-1], 1)}
    layers: list[list[int]] = [[] for _ in range(max(slots.values(), default=-1) + 1)]
    for slot, column in slots.items():
        layers[column].append(slot)
    return layers, slots
