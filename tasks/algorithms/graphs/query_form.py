"""The language in which the graph is queried. Values are read by their field; no pattern or operator stands within them."""

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

from storage.records.documents import EdgeKind, Modality, NodeKind
from tasks.algorithms.text.stems import stems_in

MOST_CONDITIONS = 20
MOST_SHOWN = 50
MOST_CHARACTERS = 300  # of a value; what cuts a text into words is slow where it has no spaces
MOST_WORDS = 30  # of a value; each is a look through all texts

POSITIONS = tuple(f"{row}-{column}" for row in ("top", "middle", "bottom") for column in ("left", "center", "right"))
CHOICES: dict[str, tuple[str, ...]] = {"kind": tuple(NodeKind), "modality": tuple(Modality), "position": POSITIONS}
NUMBERS = ("page", "section_level", "degree")
WORDS = ("section", "caption", "text", "keyword", "document", "label", "printed")
OPERATORS: dict[str, tuple[str, ...]] = {
    **dict.fromkeys(CHOICES, ("is", "is_not")),
    **dict.fromkeys(NUMBERS, ("is", "is_not", "from", "to")),
    **dict.fromkeys(WORDS, ("is", "is_not", "has", "lacks")),
    **dict.fromkeys(("label", "printed"), ("is", "is_not")),
}
ARCS: dict[EdgeKind, tuple[str, str]] = {
    EdgeKind.NEXT: ("next", "previous"),
    EdgeKind.WINDOW: ("near", "near"),
    EdgeKind.SEMANTIC: ("similar", "similar"),
    EdgeKind.PART_OF: ("title", "members"),
    EdgeKind.REFERS_TO: ("target", "referrer"),
    EdgeKind.CAPTION_OF: ("captioned", "caption"),
    EdgeKind.CONTINUES: ("continuation", "continued"),
}
"""The edge of the language that leads along an arc of a kind, and the one that leads against it; "any" is both of all."""
BESIDE = ("same_page", "same_section", "next_page", "previous_page")
"""Edges without arcs: from a node to all others that stand there."""
EDGES = tuple(dict.fromkeys((*chain.from_iterable(ARCS.values()), "any", *BESIDE)))
COUNTED = ("none", "page", "section", "kind", "label", "document")
ORDERS = ("reading", "score")
SHOWN = ("ids", "lines", "text")


class QueryError(ValueError):
    """A query that the language does not have; the message says what it has instead."""


@dataclass(frozen=True, slots=True)
class Condition:
    field: str
    op: str
    value: str


@dataclass(frozen=True, slots=True)
class Walk:
    edge: str
    relation: str = ""
    steps: int = 1


@dataclass(frozen=True, slots=True)
class GraphQuery:
    """Nodes that pass all of `where`, then what the walks reach from them, one after the other, and of that what passes `then`.

    A walk takes 1 up to `steps` arcs, with a `relation` only those of this name. `with_start` adds what passed `where` to what the
    walks reached. `show` is for whoever writes the result down.
    """

    where: tuple[Condition, ...] = ()
    walk: tuple[Walk, ...] = ()
    with_start: bool = False
    then: tuple[Condition, ...] = ()
    count_by: str = "none"
    order: str = "reading"
    show: str = "lines"
    limit: int = MOST_SHOWN


def check_query(query: GraphQuery, *, relations: Collection[str]) -> None:
    """Raise QueryError unless the query can be run on a graph whose relations have these names."""
    _require_number("conditions", len(query.where) + len(query.then), 0, MOST_CONDITIONS)
    _require_number("walks", len(query.walk), 0, 3)
    _require_number("limit", query.limit, 1, MOST_SHOWN)
    _require_known("count_by", query.count_by, COUNTED)
    _require_known("order", query.order, ORDERS)
    _require_known("show", query.show, SHOWN)
    for walk in query.walk:
        _require_known("edge", walk.edge, EDGES)
        _require_number(f"steps of {walk.edge}", walk.steps, 1, 3)
        if walk.relation:
            _require_known(f"relation of {walk.edge}", walk.relation, () if walk.edge in BESIDE else sorted(relations))
    for condition in (*query.where, *query.then):
        _require_known("field", condition.field, tuple(OPERATORS))
        _require_known(f"operator of {condition.field}", condition.op, OPERATORS[condition.field])
        _require_number(f"characters of {condition.field}", len(condition.value), 1, MOST_CHARACTERS)
        read_value(condition)


def read_value(condition: Condition) -> list[Any]:
    """Return the places in CHOICES that the value names, joined by "|", or its number, or its stems; raise QueryError."""
    field, value = condition.field, condition.value
    if field in CHOICES:
        names = [name.strip().casefold() for name in value.split("|")]
        for name in names:
            _require_known(field, name, CHOICES[field])
        return [CHOICES[field].index(name) for name in names]
    if field in NUMBERS:
        if not re.fullmatch(r"\s*[0-9]{1,9}\s*", value):
            raise QueryError(f"{field} is a whole number, not {value[:40]!r}; write it in digits, nine at most")
        return [int(value)]
    stems = sorted(stems_in(value))
    _require_number(f"words of {field} {value[:40]!r}", len(stems), 1, MOST_WORDS)
    return stems


def _require_known(what: str, name: str, known: Sequence[str]) -> None:
    if name not in known:
        raise QueryError(f"there is no {what} {name[:40]!r}; there is {', '.join(known) or 'none'}")


def _require_number(what: str, number: int, least: int, most: int) -> None:
    if not least <= number <= most:
        raise QueryError(f"{what}: {number}, but must be {least} to {most}")
