"""The tables that the papers print: each a file beside this one, with its rows as arms and the figures that stand in it.

The name of a table among a file's columns, rows or notes stands for all that it has there.
"""

import tomllib
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator

from storage.errors import RequestError
from tasks.evaluation.scoring import ALL
from tasks.settings.readers import PRESETS, MeasuredReader, Preset

FOLDER = Path(__file__).parent


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Column(_Part):
    """What a column measures here: a metric, of a part of the questions, or one mean divided by another (`over`)."""

    name: str
    metric: str
    of: str = ALL
    over: str = ""


class Row(_Part):
    """A system: a reader with what it sets over the table's preset, or why it is not here."""

    name: str
    reader: MeasuredReader | None = None
    set: dict[str, Any] = {}
    absent: str = ""

    @model_validator(mode="after")
    def _is_here_or_says_why_not(self) -> Self:
        if bool(self.reader) == bool(self.absent):
            raise ValueError(f"row {self.name!r} needs a reader, or the reason why it has none")
        return self


class PublishedTable(_Part):
    """`printed` has the figures of each row: those of all columns on the first of the datasets, then on the next; "-" for none.

    `judged` says who judged the paper's answers, `printed_for` which model gave them, `notes` what the figures do not show.
    """

    name: str
    paper: str
    title: str
    what: Literal["retrieval", "answers"]
    preset: Preset
    printed_for: str = ""
    judged: str = ""
    datasets: tuple[str, ...]
    columns: tuple[Column, ...] = Field(min_length=1)
    rows: tuple[Row, ...] = Field(min_length=1)
    printed: Mapping[str, tuple[float | str, ...]]
    notes: tuple[str, ...] = ()

    @model_validator(mode="after")
    def _prints_rows_that_it_has(self) -> Self:
        names = {row.name for row in self.rows}
        if len(names) < len(self.rows) or len({column.name for column in self.columns}) < len(self.columns):
            raise ValueError(f"{self.title}: two rows or columns have one name")
        figures = len(self.datasets) * len(self.columns)
        for row, numbers in self.printed.items():
            if row not in names or len(numbers) != figures:
                raise ValueError(f"{self.title}: {row!r} is no row, or has not {figures} figures")
        return self

    @property
    def own_rows(self) -> Mapping[str, tuple[MeasuredReader, Mapping[str, Any]]]:
        """The rows that can be run: readers, with what they set over the preset."""
        return {row.name: (row.reader, row.set) for row in self.rows if row.reader}

    def printed_on(self, dataset: str) -> Mapping[str, Mapping[str, float | str]]:
        """Return the figures on a dataset, by row and column; none where the paper has not measured on it."""
        if dataset not in self.datasets:
            return {}
        names = [column.name for column in self.columns]
        first = self.datasets.index(dataset) * len(names)
        return {row: dict(zip(names, numbers[first:], strict=False)) for row, numbers in self.printed.items()}

    def unprinted(self, dataset: str) -> tuple[str, ...]:
        """Say that nothing is printed on a dataset, and where something is; nothing where it is on this one."""
        here = dataset in self.datasets
        return () if here else (f"the paper prints no figures on {dataset!r}; it has them on: {', '.join(self.datasets)}",)

    def remarks(self, dataset: str) -> tuple[str, ...]:
        """Return what the figures beside each other do not show: who answered and judged there, and which rows are not here."""
        return (
            *self.unprinted(dataset),
            *([f"the printed answers are of {self.printed_for}"] if self.printed_for else []),
            *([f"the printed answers were judged by {self.judged}"] if self.judged else []),
            *(f"{row.name} is not here: {row.absent}" for row in self.rows if row.absent),
            *self.notes,
        )


@cache
def table_names() -> tuple[str, ...]:
    """Return the names, those of a paper together."""
    names = (path.stem for path in FOLDER.glob("*.toml"))
    return tuple(sorted(names, key=lambda name: (PRESETS.index(name.partition("-")[0]), len(name), name)))


@cache
def find_table(name: str) -> PublishedTable:
    """Return the table of this name; raise RequestError, with all names, where there is none."""
    if name not in table_names():
        raise RequestError(f"there is no table {name!r}", name, f"there are: {', '.join(table_names())}")
    lists = {part: _items(name, part) for part in ("columns", "rows", "notes")}
    return PublishedTable.model_validate(_file(name) | lists | {"name": name})


@cache
def _file(name: str) -> dict[str, Any]:
    return tomllib.loads((FOLDER / f"{name}.toml").read_text("utf-8"))


def _items(name: str, part: str) -> list[Any]:
    items = _file(name).get(part, [])
    return [one for item in items for one in (_items(item, part) if item in table_names() else [item])]


def table_of(what: str) -> PublishedTable | None:
    """Return the table that an evaluation was of, None for any other."""
    return find_table(what) if what in table_names() else None
