"""The one place that builds LanceDB's filter strings: from hexadecimal ids, integers and members of an enum, nothing else.

LanceDB reads a filter as SQL, so a string from outside in one of them is code. Everything that asks for rows takes a `Filter`.
"""

import re
from collections.abc import Iterable
from enum import StrEnum
from typing import NewType

from storage.records.documents import Modality

Filter = NewType("Filter", str)
"""A filter that this module built."""
NAMED = Filter("relation <> ''")
"""Keeps the arcs that a model named by what their ends have to do with each other."""

HEXADECIMAL_ID = re.compile(r"[0-9a-f]{64}")


class Column(StrEnum):
    """The columns that a filter may name."""

    ID = "id"
    DOCUMENT = "document_id"
    SOURCE_DOCUMENT = "source_document"
    TARGET_DOCUMENT = "target_document"
    NODE = "node_id"
    MODALITY = "modality"
    PAGE = "page"
    NUMBER = "number"


Value = str | int | Modality


def literal(value: Value) -> str:
    """Return the value as SQL; raise ValueError for all but 64 hexadecimal digits, an integer or a modality."""
    if isinstance(value, Modality):
        return f"'{value.value}'"
    if type(value) is int:
        return str(value)
    if type(value) is str and HEXADECIMAL_ID.fullmatch(value):
        return f"'{value}'"
    raise ValueError(f"{value!r} may not stand in a filter; take an id of 64 hexadecimal digits, an integer or a modality")


def one_of(column: Column, values: Iterable[Value]) -> Filter:
    """Keep rows whose column is one of the values; none of them keeps no row. Equal sets give equal strings."""
    literals = sorted({literal(value) for value in values})
    name = Column(column).value
    return Filter(f"{name} IN ({', '.join(literals)})") if literals else Filter("false")


def between(column: Column, first: int, last: int) -> Filter:
    """Keep rows whose column lies in first..last, both ends included."""
    return Filter(f"{Column(column).value} BETWEEN {literal(int(first))} AND {literal(int(last))}")


def either(*filters: Filter) -> Filter:
    return Filter(" OR ".join(f"({part})" for part in filters))


def every(*filters: Filter) -> Filter:
    return Filter(" AND ".join(f"({part})" for part in filters))
