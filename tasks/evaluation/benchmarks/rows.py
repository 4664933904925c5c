"""Question files as rows: CSV with commas or bars, a JSON array, or a JSON object on each line.

Cells are as benchmarks have them: absent, empty, NaN, or the text of a Python list.
"""

import ast
import csv
import io
import json
import math
import re
import warnings
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from storage.errors import ExpectedError

SUFFIXES = frozenset({".csv", ".json", ".jsonl"})
HEAD_BYTES = 1 << 20
"""Enough for the first record; a results file of a gigabyte must not be read to learn that it asks nothing."""


WRAPPED = re.compile(r'\A\s*\{[^][{}]*"data"\s*:\s*(?=\[\s*\{)')
"""What stands before the records of the Robust Reading Competition: the name and the version of the dataset."""


class BenchmarkError(ExpectedError, ValueError):
    """A benchmark that cannot be read; the message names the file, the line, the column and the remedy."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row by its place in words ("samples.json, record 3"), its number from 1, and its cells by column."""

    place: str
    number: int
    cells: Mapping[str, object]

    def wrong(self, column: str, what: str) -> BenchmarkError:
        return BenchmarkError(f"{self.place}: column {column!r} {what}", column)

    def require_columns(self, *columns: str) -> None:
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
        """Return a cell that must be there and not be empty; numbers (of years, of questions) are text too."""
        self.require_columns(column)
        if not (text := self.optional_text(column)):
            raise self.wrong(column, "is empty; fill it or remove the row")
        return text

    def optional_text(self, column: str) -> str:
        """Return a cell as text, "" where it holds nothing."""
        value = self.value(column)
        if isinstance(value, list | dict | bool):
            raise self.wrong(column, f"holds {show_value(value)}, not a text")
        return "" if value is None else str(value)

    def items(self, column: str) -> tuple[object, ...]:
        """Return the items of a list or of the text of one; a single value is a list of one, nothing is an empty one."""
        value = self.value(column)
        if isinstance(value, str) and value.startswith(("[", "(")):
            if (items := python_list(value)) is None:
                raise self.wrong(column, f"holds {show_value(value)}, which is not a list; close its quotes and brackets")
            return items
        if isinstance(value, list):
            return tuple(value)
        return () if value is None else (value,)

    def names(self, column: str) -> tuple[str, ...]:
        items = self.items(column)
        for item in items:
            if not isinstance(item, str) or not item.strip():
                raise self.wrong(column, f"holds {show_value(item)}, which is not a name; write names in quotes")
        return tuple(dict.fromkeys(str(item) for item in items))

    def pages(self, column: str, *, first: int) -> tuple[int, ...]:
        """Return the pages of a list, each once, counted from 1 where the column counts from `first`.

        A page that the document does not have is kept, published annotations have some: a note of the evaluation names it.
        """
        return tuple(dict.fromkeys(self._page(column, item) - first + 1 for item in self.items(column)))

    def _page(self, column: str, item: object) -> int:
        try:
            number = float(item) if isinstance(item, int | float | str) and not isinstance(item, bool) else math.nan
        except (ValueError, OverflowError):
            number = math.nan
        if not number.is_integer():
            raise self.wrong(column, f"holds the page {show_value(item)}, which is not a number; write pages as [3, 4]")
        return int(number)


def python_list(text: str) -> tuple[object, ...] | None:
    """Return the items of a text such as "['a', 2]", None where it is no list; nothing in it is ever run."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about backslashes in answers
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return None
    return tuple(value) if isinstance(value, list | tuple) else None


def show_value(value: object) -> str:
    """Return a value in quotes, at most 60 signs of it."""
    shown = repr(value)
    return shown if len(shown) <= 60 else f"{shown[:57]}..."


def columns_of(file: Path) -> frozenset[str]:
    """Return the columns of a file's first row; raise BenchmarkError where there is none to be read."""
    try:
        with file.open("rb") as stream:
            text = stream.read(HEAD_BYTES).decode("utf-8-sig", "ignore")
        if file.suffix.lower() == ".csv":
            return frozenset(next(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), []))
        text = WRAPPED.sub("", text, count=1)
        first: dict[str, object] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        raise BenchmarkError(f"{str(file)!r} does not begin with a row of questions: {_reason(error)}", str(file)) from error
    return frozenset(first)


def read_rows(file: Path) -> tuple[Row, ...]:
    """Return all rows of a file; raise BenchmarkError for one that is broken, and where there is none."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BenchmarkError(f"{str(file)!r} cannot be read: {_reason(error)}", str(file), "check its permissions") from error
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{str(file)!r} is not UTF-8 at byte {error.start:,}", str(file), "save it as UTF-8") from error
    if file.suffix.lower() == ".csv":
        rows = tuple(_table_rows(file, text))
    else:
        array = text.lstrip().startswith("[") or WRAPPED.match(text)
        rows = tuple(_array_rows(file, text) if array else _line_rows(file, text))
    if not rows:
        raise BenchmarkError(f"{str(file)!r} holds no questions", str(file), "it needs at least one")
    return rows


def _delimiter(text: str) -> str:
    return "|" if "|" in text.partition("\n")[0] else ","


def _table_rows(file: Path, text: str) -> Iterator[Row]:
    # Not Polars: its errors do not name the line, and it accepts a row with a cell too few.
    reader = csv.DictReader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    try:
        for number, cells in enumerate(reader, 1):
            place = f"{file}, line {reader.line_num}"
            if None in cells or None in cells.values():
                raise BenchmarkError(f"{place} has more or fewer cells than the header", place, "quote cells that hold a separator")
            yield Row(place, number, cells)
    except csv.Error as error:
        what = f"{file}, after line {reader.line_num}: {_reason(error)}"
        raise BenchmarkError(what, file, "look for a quote that is not closed or not doubled") from error


def _array_rows(file: Path, text: str) -> Iterator[Row]:
    parsed = _parse(f"{file}", text)
    for number, value in enumerate(parsed["data"] if isinstance(parsed, dict) else parsed, 1):
        yield _object_row(f"{file}, record {number}", number, value)


def _line_rows(file: Path, text: str) -> Iterator[Row]:
    # Not splitlines: U+2028 and its like may stand inside a text.
    lines = ((line, written) for line, written in enumerate(text.split("\n"), 1) if written.strip())
    for number, (line, written) in enumerate(lines, 1):
        place = f"{file}, line {line}"
        yield _object_row(place, number, _parse(place, written))


def _parse(place: str, text: str) -> Any:  # noqa: ANN401 - any JSON
    try:
        parsed = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{place} is not JSON: {_reason(error)}", place, "fix it or remove it") from error
    return parsed


def _object_row(place: str, number: int, value: object) -> Row:
    if not isinstance(value, dict):
        raise BenchmarkError(f"{place} is not a JSON object", place, 'write a question as {"question": ...}')
    return Row(place, number, value)


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
