"""One row of a question file, with cells as benchmarks have them: absent, empty, NaN, or the text of a Python list."""

from __future__ import annotations

import ast
import math
import warnings
from collections.abc import Mapping
from dataclasses import dataclass


class BenchmarkError(ValueError):
    """A benchmark that cannot be read; the message names the file, the line, the column and the remedy."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row by its place in words ("samples.json, record 3"), its number from 1, and its cells by column."""

    place: str
    number: int
    cells: Mapping[str, object]

    def wrong(self, column: str, what: str) -> BenchmarkError:
        """Return the error that says what is wrong with a cell."""
        return BenchmarkError(f"{self.place}: column {column!r} {what}")

    def need(self, *columns: str) -> None:
        """Raise BenchmarkError for the first column that the row does not have; an empty cell is one that it has."""
        for column in columns:
            if column not in self.cells:
                raise self.wrong(column, f"is missing; there are {', '.join(map(repr, self.cells)) or 'none'}")

    def value(self, column: str) -> object | None:
        """Return what the column holds, text without the space around it; None where it holds nothing or is missing."""
        value = self.cells.get(column)
        if isinstance(value, str):
            value = value.strip()
            return None if value in {"", "nan", "NaN"} else value
        return None if isinstance(value, float) and math.isnan(value) else value

    def text(self, column: str) -> str:
        """Return a cell that must be there and say something; numbers (of years, of questions) are text too."""
        self.need(column)
        if not (said := self.optional_text(column)):
            raise self.wrong(column, "is empty; fill it or take the row out")
        return said

    def optional_text(self, column: str) -> str:
        """Return a cell as text, "" where it holds nothing."""
        value = self.value(column)
        if isinstance(value, list | dict | bool):
            raise self.wrong(column, f"holds {shortened(value)}, not a text")
        return "" if value is None else str(value)

    def items(self, column: str) -> tuple[object, ...]:
        """Return the items of a list or of the text of one; a single value is a list of one, nothing is an empty one."""
        value = self.value(column)
        if isinstance(value, str) and value.startswith(("[", "(")):
            if (items := python_list(value)) is None:
                raise self.wrong(column, f"holds {shortened(value)}, which is no list; close its quotes and brackets")
            return items
        if isinstance(value, list):
            return tuple(value)
        return () if value is None else (value,)

    def names(self, column: str) -> tuple[str, ...]:
        """Return the texts of a list, each once, in their order."""
        items = self.items(column)
        for item in items:
            if not isinstance(item, str) or not item.strip():
                raise self.wrong(column, f"holds {shortened(item)}, which is no name; write names in quotes")
        return tuple(dict.fromkeys(str(item) for item in items))

    def pages(self, column: str, *, first: int) -> tuple[int, ...]:
        """Return the pages of a list, each once, counted from 1 where the column counts from `first`.

        A page that no document has is kept, published annotations have some: whoever evaluates says so.
        """
        return tuple(dict.fromkeys(self._page(column, item) - first + 1 for item in self.items(column)))

    def _page(self, column: str, item: object) -> int:
        try:
            number = float(item) if isinstance(item, int | float | str) and not isinstance(item, bool) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if not number.is_integer():
            raise self.wrong(column, f"holds the page {shortened(item)}, which is no number; write pages as [3, 4]")
        return int(number)


def python_list(text: str) -> tuple[object, ...] | None:
    """Return the items of a text such as "['a', 2]", None where it is no list; nothing in it is ever run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a backslash in somebody's answer is not a fault of ours
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list | tuple) else None


def shortened(value: object) -> str:
    """Return a value in quotes, at most 60 signs of it."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
