"""How results are shown: tables and lines for people, JSON for programs, errors that name thing, value and remedy."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.console import Console
from rich.table import Table

VALUE = re.compile(r"'(?P<quoted>[^']+)'|(?P<path>(?<![\w/])/[^\s:;,]+)")


class CommandError(Exception):
    """A command could not be done: what is wrong, the value at fault, what to do instead."""

    def __init__(self, what: str, value: str = "", remedy: str = "") -> None:
        """Take the three parts; value and remedy may be empty where `what` says it all."""
        super().__init__(what)
        self.what, self.value, self.remedy = what, value, remedy

    @classmethod
    def from_error(cls, error: Exception) -> CommandError:
        """Split the house's one-line error `what; remedy`; the value at fault is what `what` has in quotes, or its path."""
        said = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        what, _, remedy = " ".join(said.split()).partition("; ")
        if isinstance(error, OSError) and error.filename:
            return cls(what, str(error.filename), remedy)
        named = VALUE.search(what)
        return cls(what, (named["quoted"] or named["path"]) if named else "", remedy)


@dataclass(frozen=True)
class Output:
    """Where a command's words go."""

    as_json: bool

    @cached_property
    def console(self) -> Console:
        """The terminal or pipe that people read."""
        return Console(highlight=False, soft_wrap=True)

    @cached_property
    def side(self) -> Console:
        """Standard error, for progress and remarks beside the result."""
        return Console(stderr=True, highlight=False)

    def data(self, value: object) -> None:
        """Write JSON, one document on one line."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Write a line for people; document names in it are never markup."""
        self.console.print(printable(text), markup=False, style=style or None)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()) -> None:
        """Write a table; the columns named in `right` hold numbers."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(column, justify="right" if column in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(_plain(cell) for cell in row))
        self.console.print(table, soft_wrap=False)

    def error(self, error: CommandError) -> None:
        """Write an error: JSON on standard output for programs, words on standard error for people."""
        if self.as_json:
            self.data({"error": {"what": error.what, "value": error.value, "remedy": error.remedy}})
            return
        self.side.print(f"flowreader: {printable(error.what)}", markup=False, style="red", soft_wrap=True)
        if error.remedy:
            self.side.print(printable(error.remedy), markup=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text without what a terminal would obey: a document's title may hold escape sequences."""
    return "".join(sign if sign.isprintable() or sign == "\n" else sign.encode("unicode_escape").decode() for sign in text)


def _plain(cell: object) -> str:
    return printable(str(cell)).replace("[", "\\[")
