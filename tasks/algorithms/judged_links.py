"""The neighbourhoods of one round of evolution, and what the judgements on them leave (eq. 14)."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from tasks.algorithms.cosines import FloatArray, IntArray

Pair = tuple[int, int]
"""Two nodes, the lower row first."""


@dataclass(frozen=True, slots=True)
class Links:
    """The linked pairs with the round that last named each (0: the layout), and the relation that a node named to another."""

    rounds: Mapping[Pair, int]
    relations: Mapping[Pair, str]

    def relation(self, source: int, target: int) -> str:
        """Return what the source said of the target, else what the target said of the source, else ""."""
        return self.relations.get((source, target)) or self.relations.get((target, source), "")


def candidates_of(
    *, rows: IntArray, indices: IntArray, cosines: FloatArray, pairs: Collection[Pair], askable: Collection[int]
) -> dict[int, tuple[int, ...]]:
    """Return for each of the rows its nearest neighbours at a cosine above 0 united with its linked ones, in reading order.

    Args:
        rows: the nodes that have meaning, (n,), as row numbers of the document.
        indices: (n, k), the nearest of each, as places in `rows`.
        cosines: (n, k).
        pairs: the current links of the document.
        askable: the rows to be judged; the others are only candidates.
    """
    near: dict[int, set[int]] = {
        int(row): {int(rows[place]) for place in places[cosine > 0]}
        for row, places, cosine in zip(rows, indices, cosines, strict=True)
    }
    for low, high in pairs:
        if low in near and high in near:
            near[low].add(high)
            near[high].add(low)
    return {row: tuple(sorted(found)) for row, found in near.items() if row in askable and found}


def links_after(
    *, before: Links, candidates: Mapping[int, Sequence[int]], named: Mapping[int, Mapping[int, str]], number: int
) -> Links:
    """Return the links that a round leaves: what a node named, and what nobody who could have did judge.

    A pair goes where at least one of its two was asked about the other, and none of these named it.

    Args:
        before: the links of the round before.
        candidates: what each node was asked about.
        named: the relation to each other node that a node which was judged named; nodes without a judgement are missing.
        number: of this round, at least 1.
    """
    judged = {_pair(row, other) for row in named for other in candidates[row]}
    relations = {(row, other): relation for row, links in named.items() for other, relation in links.items()}
    rounds = {pair: found for pair, found in before.rounds.items() if pair not in judged}
    rounds |= {_pair(row, other): number for row, other in relations}
    kept = {arc: relation for arc, relation in before.relations.items() if arc[0] not in named and _pair(*arc) in rounds}
    return Links(rounds=rounds, relations=kept | relations)


def _pair(row: int, other: int) -> Pair:
    return (row, other) if row < other else (other, row)
