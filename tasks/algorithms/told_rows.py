"""A row of a table as a reader would say it: "Total revenue, 2024: 184.6" instead of every cell with its header."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from tasks.algorithms.term_counts import count_terms

_UNIT = re.compile(
    r"[$\u00a3\u20ac\u00a5%]|\b(?:thousands?|millions?|billions?|mn|bn|per\s+cent|GWh|MWh?|USD|EUR|GBP)\b", re.IGNORECASE
)
_VALUE = re.compile(r"\D{0,3}\d[\d\s.,]*\D{0,4}")

Cell = tuple[str, str]
"""The header of a column, empty where it has none, and what the row has there."""


def read_row(text: str, cells: Sequence[str]) -> tuple[tuple[str, ...], tuple[Cell, ...]]:
    """Return what stands before a row's cells (caption, label of its group) and the cells with their headers.

    Args:
        text: the row as ingest writes it ("caption | group | header: cell | ...").
        cells: what the row's cells hold; those that say nothing are not in the text.
    """
    known = set(filter(None, cells))
    before: list[str] = []
    found: list[Cell] = []
    for part in text.split(" | "):
        cell = max((cell for cell in known if part == cell or part.endswith(f": {cell}")), key=len, default=None)
        if cell is not None:
            found.append((part[: len(part) - len(cell)].removesuffix(": "), cell))
        elif not found:
            before.append(part)
        else:
            # A cell that holds the sign between cells is parted; its pieces stay together.
            found[-1] = (found[-1][0], f"{found[-1][1]} | {part}")
    return tuple(before), tuple(found)


def tell_row(text: str, cells: Sequence[str], *, caption: str, weights: Mapping[str, float]) -> str:
    """Return a row in words: its group and label, then the columns that the question speaks of, or all where it speaks of none.

    A row that cannot be read so is returned as it is.

    Args:
        text: the row as ingest writes it.
        cells: what its cells hold.
        caption: of the table; it is told with the place, not with the row.
        weights: what each stem of the question weighs.
    """
    before, found = read_row(text, cells)
    if len(found) < 2:
        return text
    (name, label), *values = found
    groups = [part for part in before if part != caption]
    shared = len({header for header, _ in found}) == 1
    asked = values if shared else _asked_columns(values, weights)
    told = [cell if shared or not header else f"{header}: {cell}" for header, cell in asked]
    unit = f" ({name})" if name and not shared and _UNIT.search(name) else ""
    opening = label if unit or not name or shared or _VALUE.fullmatch(name) else f"{name}: {label}"
    return ", ".join([*groups, opening, *told]) + unit


def _asked_columns(values: Sequence[Cell], weights: Mapping[str, float]) -> Sequence[Cell]:
    """Return the columns whose headers hold most of the question; all where none holds more than another."""
    held = (count_terms([header for header, _ in values], list(weights))[0] > 0) @ list(weights.values())
    most = held.max(initial=0.0)
    return [value for value, weight in zip(values, held.tolist(), strict=True) if weight == most] if most > 0 else values
