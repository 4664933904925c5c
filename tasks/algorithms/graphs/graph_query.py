"""Queries of the graph: conditions on nodes and an edge to follow from them, read as data, and run on arrays."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Literal, get_args

import numpy as np

from storage.records.documents import EdgeKind, NodeKind
from tasks.algorithms.arrays import BoolArray, FloatArray, IntArray
from tasks.algorithms.text.counting import CodedTexts, count_stems
from tasks.algorithms.text.stems import stems_in

MOST_SHOWN = 50
MOST_REACHED = 5_000  # nodes that an edge leads to, the strongest
MOST_CHARACTERS = 300  # of a value; what cuts a text into words is slow where it has no spaces
MOST_WORDS = 30  # of a value; each is a look through all texts

KINDS: tuple[str, ...] = tuple(NodeKind)
OPERATORS: dict[str, tuple[str, ...]] = {
    "kind": ("is", "is_not"),
    "page": ("is", "is_not", "from", "to"),
    **dict.fromkeys(("section", "caption", "text"), ("is", "is_not", "has", "lacks")),
    "label": ("is", "is_not"),
    **dict.fromkeys(("position", "document"), ("has", "lacks")),
}
Relation = Literal["reference", "cause", "part", "elaboration", "sequence", "contrast", "hierarchy", "dependency"]
"""What a model that evolves a graph says two nodes have to do with each other."""
RELATIONS = (*get_args(Relation), "explains", "references", "summarizes", "updates")
"""Also what one says that reads page by page; what it says to go on has an edge of its own."""
ARC_KINDS: tuple[str, ...] = (*EdgeKind, *RELATIONS)
ARCS: dict[str, tuple[str, str]] = {
    EdgeKind.NEXT: ("next", "previous"),
    EdgeKind.WINDOW: ("near", "near"),
    EdgeKind.SEMANTIC: ("similar", "similar"),
    EdgeKind.PART_OF: ("title", "members"),
    EdgeKind.REFERS_TO: ("target", "referrer"),
    EdgeKind.CAPTION_OF: ("captioned", "caption"),
    EdgeKind.CONTINUES: ("continuation", "continued"),
    **{relation: (relation, relation) for relation in RELATIONS},
}
"""The edge of the language that leads along an arc of a kind, and the one that leads against it; "any" is both of all."""
BESIDE = ("same_page", "same_section", "next_page", "previous_page")
"""Edges without arcs: from a node to all others that stand there."""
EDGES = tuple(dict.fromkeys((*chain.from_iterable(ARCS.values()), "any", *BESIDE)))


class QueryError(ValueError):
    """A query that the language does not have; the message says what it has instead."""


@dataclass(frozen=True, slots=True)
class Condition:
    field: str
    op: str
    value: str


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """Nodes that pass all conditions, with an edge also those that it leads to from them; as they are read, or the best first.

    The first `skip` of them are left out.
    """

    where: tuple[Condition, ...] = ()
    edge: str = ""
    best_first: bool = False
    limit: int = MOST_SHOWN
    skip: int = 0


@dataclass(frozen=True, slots=True)
class GraphIndex:
    """n nodes as a query sees them, and the m arcs between them.

    `columns` (n,) has document, page, section (-1 for none), kind, a place in KINDS, and ordinal, the reading order within a
    document. `words` has what each node says of itself by section, caption, text, label, position (two words, none where it has
    no box) and document (its name). `scores` (n,) are the question's; `arc_kinds` (m,) are places in ARC_KINDS.
    """

    columns: Mapping[str, IntArray]
    words: Mapping[str, CodedTexts]
    scores: FloatArray
    tails: IntArray
    heads: IntArray
    arc_kinds: IntArray
    weights: FloatArray

    def order_by_score(self, scores: FloatArray) -> IntArray:
        """Return the nodes by falling score, equal ones as they are read."""
        return np.lexsort((self.columns["ordinal"], self.columns["document"], -scores))


@dataclass(frozen=True, slots=True)
class QueryResult:
    """The nodes of a query within its limits, the total without them; `left`: how many each condition left, the edge reached."""

    nodes: tuple[int, ...]
    total: int
    left: tuple[int, ...]


def run_query(query: GraphQuery, index: GraphIndex) -> QueryResult:
    """Return what the query finds; raise QueryError where the language does not have it. An edge may lead back to its start."""
    if query.edge:
        _require_known("edge", query.edge, EDGES)
    values, left = [read_value(condition) for condition in query.where], list[int]()
    found = np.ones(len(index.scores), dtype=np.bool_)
    for condition, value in zip(query.where, values, strict=True):
        found = found & _passing(condition, value, index)
        left.append(int(found.sum()))
    if query.edge:
        reached = _follow_edge(found, query.edge, index)
        left.append(int(reached.sum()))
        found = found | reached
    order = index.order_by_score(index.scores if query.best_first else np.zeros(len(index.scores)))
    nodes = order[found[order]]
    return QueryResult(tuple(nodes[query.skip : query.skip + query.limit].tolist()), len(nodes), tuple(left))


def read_value(condition: Condition) -> list[Any]:
    """Return the places in KINDS that the value names, joined by "|", or its page, or its stems; raise QueryError."""
    field, value = condition.field, condition.value
    _require_known("field", field, tuple(OPERATORS))
    _require_known(f"operator of {field}", condition.op, OPERATORS[field])
    _require_number(f"characters of {field}", len(value), MOST_CHARACTERS)
    if field == "kind":
        names = [name.strip().casefold() for name in value.split("|")]
        for name in names:
            _require_known(field, name, KINDS)
        return [KINDS.index(name) for name in names]
    if field == "page":
        if not re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
            raise QueryError(f"{field} is a whole number, not {value[:40]!r}; write it in digits, nine at most")
        return [int(value)]
    stems = sorted(stems_in(value))
    _require_number(f"words of {field} {value[:40]!r}", len(stems), MOST_WORDS)
    return stems


def _require_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise QueryError(f"there is no {what} {name[:40]!r}; there is {', '.join(known)}")


def _require_number(what: str, number: int, most: int) -> None:
    if not 1 <= number <= most:
        raise QueryError(f"{what}: {number}, but must be 1 to {most}")


def _passing(condition: Condition, value: Sequence[Any], index: GraphIndex) -> BoolArray:
    """Return which nodes pass: of texts those with all the stems ("has") and no other ("is"), or without any of them ("lacks")."""
    op = condition.op
    if condition.field in index.words:
        texts = index.words[condition.field]
        counts = count_stems(texts, value)
        if op == "lacks":
            return np.asarray(~counts.any(axis=1))
        found = counts.all(axis=1)
        if op != "has":
            found &= counts.sum(axis=1) == np.bincount(texts.owners, minlength=len(texts))
        return np.asarray(~found if op == "is_not" else found)
    numbers = index.columns[condition.field]
    if op in ("from", "to"):
        return np.asarray(numbers >= value[0] if op == "from" else numbers <= value[0])
    return np.isin(numbers, value, invert=op == "is_not")


def _follow_edge(chosen: BoolArray, edge: str, index: GraphIndex) -> BoolArray:
    """Return what the edge leads to; a node is as strong as the best arc that leads to it."""
    strengths = _beside(chosen, edge, index) if edge in BESIDE else _arc_strengths(chosen, edge, index)
    found = strengths > -np.inf
    found[index.order_by_score(strengths)[MOST_REACHED:]] = False
    return found


def _arc_strengths(chosen: BoolArray, edge: str, index: GraphIndex) -> FloatArray:
    """Return the greatest weight of an arc by which an edge leads to each node (n,), -inf where none does."""
    reached = np.full(len(chosen), -np.inf)
    for side, sources, targets in ((0, index.tails, index.heads), (1, index.heads, index.tails)):
        kinds = [place for place, kind in enumerate(ARC_KINDS) if edge in (ARCS[kind][side], "any")]
        arcs = np.flatnonzero(chosen[sources] & np.isin(index.arc_kinds, kinds))
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
