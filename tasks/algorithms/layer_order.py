"""The order within the columns of a layered drawing, by barycentre (Sugiyama), so that few lines cross."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

Links = Sequence[tuple[int, int, float]]
"""Lines between two slots of neighbouring columns, the left one first, with their weights."""


def order_layers(*, layers: Sequence[Sequence[int]], links: Links, sweeps: int) -> list[list[int]]:
    """Sort the slots of each column by the weighted mean place of their neighbours, to the right and back in turn.

    Equal means and slots without neighbours keep their place. Of the orders seen, the given one first, the one with the fewest
    crossings is returned, the earliest of equals.

    Args:
        layers: the columns from left to right, each with its slots from top to bottom; no slot stands twice.
        links: between slots of columns side by side; weights are at least 0, and all of them 0 count as equal.
        sweeps: passes over all columns, at most.
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
