"""Question files as rows: CSV with commas or bars, a JSON array, or a JSON object on each line."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path

from tasks.benchmarks.rows import BenchmarkError, Row

SUFFIXES = frozenset({".csv", ".json", ".jsonl"})
HEAD_BYTES = 1 << 20
"""Enough for the first record; a results file of a gigabyte must not be read to learn that it asks nothing."""


def columns_of(file: Path) -> frozenset[str]:
    """Return the columns of a file's first row; raise BenchmarkError where there is none to be read."""
    try:
        with file.open("rb") as stream:
            text = stream.read(HEAD_BYTES).decode("utf-8-sig", "ignore")
        if file.suffix.lower() == ".csv":
            return frozenset(next(csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text)), []))
        first: dict[str, object] = json.JSONDecoder().raw_decode(text[text.index("{") :])[0]
    except (OSError, ValueError, csv.Error, RecursionError) as error:
        raise BenchmarkError(f"{str(file)!r} does not begin with a row of questions: {_said(error)}") from error
    return frozenset(first)


def read_rows(file: Path) -> tuple[Row, ...]:
    """Return all rows of a file; raise BenchmarkError for one that is broken, and where there is none."""
    try:
        text = file.read_bytes().decode("utf-8-sig")
    except OSError as error:
        raise BenchmarkError(f"{str(file)!r} cannot be read: {_said(error)}; check its rights") from error
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{str(file)!r} is not UTF-8 at byte {error.start:,}; save it as UTF-8") from error
    if file.suffix.lower() == ".csv":
        rows = tuple(_table_rows(file, text))
    else:
        rows = tuple(_array_rows(file, text) if text.lstrip().startswith("[") else _line_rows(file, text))
    if not rows:
        raise BenchmarkError(f"{str(file)!r} holds no questions; it needs one at least")
    return rows


def _delimiter(text: str) -> str:
    return "|" if "|" in text.partition("\n")[0] else ","


def _table_rows(file: Path, text: str) -> Iterator[Row]:
    # Not Polars: it reads these files rightly, but its errors do not tell the line, and a row with a cell too few passes it.
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=_delimiter(text), strict=True)
    line, number, header = 1, 0, None
    try:
        for cells in reader:
            place, line = f"{file}, line {line}", reader.line_num + 1
            if header is None:
                header = cells
            elif len(cells) not in {0, len(header)}:
                raise BenchmarkError(f"{place} has {len(cells)} cells, the header {len(header)}; quote cells that hold a separator")
            elif cells:
                number += 1
                yield Row(place, number, dict(zip(header, cells, strict=True)))
    except csv.Error as error:
        raise BenchmarkError(f"{file}, line {line}: {_said(error)}; look for a quote that is not closed or not doubled") from error


def _array_rows(file: Path, text: str) -> Iterator[Row]:
    for number, value in enumerate(_parsed(f"{file}", text), 1):
        yield _object_row(f"{file}, record {number}", number, value)


def _line_rows(file: Path, text: str) -> Iterator[Row]:
    # Not splitlines: U+2028 and its like may stand inside a text.
    lines = ((line, said) for line, said in enumerate(text.split("\n"), 1) if said.strip())
    for number, (line, said) in enumerate(lines, 1):
        place = f"{file}, line {line}"
        yield _object_row(place, number, _parsed(place, said))


def _parsed(place: str, text: str) -> list[object]:
    try:
        parsed: list[object] = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{place} is no JSON: {_said(error)}; mend it or take it out") from error
    return parsed


def _object_row(place: str, number: int, value: object) -> Row:
    if not isinstance(value, dict):
        raise BenchmarkError(f'{place} is no JSON object; write a question as {{"question": ...}}')
    return Row(place, number, value)


def _said(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
