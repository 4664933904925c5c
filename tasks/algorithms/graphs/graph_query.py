"""Queries of the graph, run on arrays: filters, walks, and what they leave in an order or counted."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain

import numpy as np

from storage.records.documents import WHOLE_PAGE, Box, EdgeKind
from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray
from tasks.algorithms.graphs.query_form import ARCS, BESIDE, CHOICES, Condition, GraphQuery, Walk, check_query, read_value
from tasks.algorithms.text.counting import CodedTexts, count_stems

MOST_REACHED = 5_000  # nodes that a walk keeps, the strongest


@dataclass(frozen=True, slots=True)
class WordField:
    """t texts; `owners` (t,) is the section or whatever else has each, `places` (n,) that of each node, -1 for none."""

    texts: CodedTexts
    owners: IntArray
    places: IntArray

    @classmethod
    def of(cls, texts: Sequence[Sequence[str]], places: IntArray, code: Callable[[Sequence[str]], CodedTexts]) -> WordField:
        """Code the texts of each owner."""
        owners = np.repeat(np.arange(len(texts)), [len(own) for own in texts])
        return cls(code(tuple(chain.from_iterable(texts))), owners, places)

    def passing(self, op: str, stems: Sequence[str]) -> BoolArray:
        """Return which nodes have a text with all the stems ("has") and no other ("is"), or none with any ("lacks")."""
        counts = count_stems(self.texts, stems)
        found = counts.any(axis=1) if op == "lacks" else counts.all(axis=1)
        if op in ("is", "is_not"):
            found &= counts.sum(axis=1) == np.bincount(self.texts.owners, minlength=len(counts))
        return np.isin(self.places, self.owners[found], invert=op in ("lacks", "is_not"))


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """n nodes as a query sees them, and the m arcs between them.

    `columns` (n,) has document, section and label, places in `names` of that name; kind, modality and position, places in CHOICES;
    page, section_level (0 outside of sections), degree, and ordinal, the reading order within a document. A place of -1 is none.
    `words` has every field of WORDS. `scores` (n,) are the question's. `arc_kinds` (m,) are places in EdgeKind; `relations` has the
    name of the relation of those arcs that have one.
    """

    columns: Mapping[str, IntArray]
    names: Mapping[str, Sequence[str]]
    words: Mapping[str, WordField]
    scores: FloatArray
    tails: IntArray
    heads: IntArray
    arc_kinds: IntArray
    weights: FloatArray
    relations: Mapping[int, str]

    def ordered(self, scores: FloatArray) -> IntArray:
        """Return the nodes by falling score, equal ones as they are read."""
        return np.lexsort((self.columns["ordinal"], self.columns["document"], -scores))


@dataclass(frozen=True, slots=True)
class CountRow:
    """How many nodes of a document have the key, and the first and last of their pages."""

    document: int
    key: str
    nodes: int
    first_page: int
    last_page: int


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The nodes of a query up to its limit, or so many rows of a count, and the total of nodes without a limit.

    `left` says how many nodes each condition of `where` left, each walk reached, each condition of `then` left.
    """

    nodes: tuple[int, ...]
    counts: tuple[CountRow, ...]
    total: int
    left: tuple[int, ...]


def positions_of(boxes: Sequence[Box | None]) -> IntArray:
    """Return the place in POSITIONS of each box, by the thirds of the page that its middle is in; -1 where it says nothing."""
    thirds = (
        -1 if box is None or box == WHOLE_PAGE else 3 * min(2, int(1.5 * (box[1] + box[3]))) + min(2, int(1.5 * (box[0] + box[2])))
        for box in boxes
    )
    return np.fromiter(thirds, dtype=np.int64, count=len(boxes))


def run_query(query: GraphQuery, index: GraphIndex) -> QueryResult:
    """Return what the query finds; raise QueryError where the language does not have it. A walk may come back to its start."""
    check_query(query, relations=frozenset(index.relations.values()))

    def after(chosen: BoolArray, step: Condition | Walk) -> BoolArray:
        return chosen & _passing(step, index) if isinstance(step, Condition) else _walked(chosen, step, index)

    steps: tuple[Condition | Walk, ...] = (*query.where, *query.walk)
    first = list(accumulate(steps, after, initial=np.ones(len(index.scores), dtype=np.bool_)))
    found = first[-1] | first[len(query.where)] if query.with_start else first[-1]
    last = list(accumulate(query.then, after, initial=found))
    left = tuple(int(chosen.sum()) for chosen in (*first[1:], *last[1:]))
    order = index.ordered(index.scores if query.order == "score" else np.zeros(len(index.scores)))
    nodes = order[last[-1][order]]
    if query.count_by != "none":
        return QueryResult((), _counted(nodes, query.count_by, index)[: query.limit], len(nodes), left)
    return QueryResult(tuple(nodes[: query.limit].tolist()), (), len(nodes), left)


def _passing(condition: Condition, index: GraphIndex) -> BoolArray:
    value = read_value(condition)
    if condition.field in index.words:
        return index.words[condition.field].passing(condition.op, value)
    numbers = index.columns[condition.field]
    if condition.op in ("from", "to"):
        return np.asarray(numbers >= value[0] if condition.op == "from" else numbers <= value[0])
    return np.isin(numbers, value, invert=condition.op == "is_not")


def _walked(chosen: BoolArray, walk: Walk, index: GraphIndex) -> BoolArray:
    """Return what the walk reaches; a node is as strong as the best arc that leads to it."""
    strengths = np.full(len(chosen), -np.inf)
    for _ in range(walk.steps):
        reached = _beside(chosen, walk.edge, index) if walk.edge in BESIDE else _linked(chosen, walk, index)
        strengths, chosen = np.maximum(strengths, reached), reached > -np.inf
    found = strengths > -np.inf
    found[index.ordered(strengths)[MOST_REACHED:]] = False
    return found


def _linked(chosen: BoolArray, walk: Walk, index: GraphIndex) -> FloatArray:
    """Return the greatest weight of an arc by which an edge leads to each node (n,), -inf where none does."""
    reached = np.full(len(chosen), -np.inf)
    named = np.ones(len(index.tails), dtype=np.bool_)
    if walk.relation:
        named = np.isin(np.arange(len(named)), [arc for arc, name in index.relations.items() if name == walk.relation])
    for side, sources, targets in ((0, index.tails, index.heads), (1, index.heads, index.tails)):
        kinds = [place for place, kind in enumerate(EdgeKind) if walk.edge in (ARCS[kind][side], "any")]
        arcs = np.flatnonzero(named & chosen[sources] & np.isin(index.arc_kinds, kinds))
        np.maximum.at(reached, targets[arcs], index.weights[arcs])
    return reached


def _beside(chosen: BoolArray, edge: str, index: GraphIndex) -> FloatArray:
    """Return 1 for the nodes that stand where the edge leads from another node (n,), -inf for all others."""
    documents, pages = index.columns["document"], index.columns["page"]
    # pages count from 1, so the last of a document is not followed by the first of another
    places = index.columns["section"] if edge == "same_section" else documents * (pages.max(initial=0) + 1) + pages
    if edge in ("next_page", "previous_page"):
        reached = np.isin(places, places[chosen] + (1 if edge == "next_page" else -1))
    else:
        _, groups = np.unique(places, return_inverse=True)
        reached = (places >= 0) & (np.bincount(groups[chosen], minlength=len(groups))[groups] > chosen)
    return np.where(reached, 1.0, -np.inf)


def _counted(nodes: IntArray, by: str, index: GraphIndex) -> tuple[CountRow, ...]:
    """Count the nodes of each document by what they have in common, in the order in which they come."""
    names: Mapping[str, Sequence[str]] = {**index.names, **CHOICES}
    pages: dict[tuple[int, int], list[int]] = {}
    for document, place, page in zip(*(index.columns[name][nodes].tolist() for name in ("document", by, "page")), strict=True):
        pages.setdefault((document, place), []).append(page)
    return tuple(
        CountRow(document, str(place) if by == "page" else names[by][place] if place >= 0 else "", len(on), min(on), max(on))
        for (document, place), on in pages.items()
    )
