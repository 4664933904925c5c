"""How results are shown: tables and lines for people, JSON for programs, errors that name thing, value and remedy."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

from storage.errors import ExpectedError
from storage.text import escaped

QUOTED = re.compile(r"""(?<!\w)(?:'(?:[^'\\]|\\.)+'|"(?=[^"]*')(?:[^"\\]|\\.)+")(?!\w)""")
"""A value as `repr` writes it: what stands in it is no part of the sentence."""
PATH = re.compile(r"(?<![\w/])/[^\s:;,]+")

INTERRUPT_EXIT = 130
STOPPED = "stopped; what is finished stays, and the same command goes on with the rest"
"""What Ctrl-C of a run ends with, whatever the run was doing."""


class CommandError(ExpectedError):
    """A command could not be done: what is wrong, the value at fault, what to do instead."""

    def __init__(self, what: str, value: str = "", remedy: str = "") -> None:
        super().__init__("; ".join(filter(None, (what, remedy))))
        self.what, self.value, self.remedy = what, value, remedy

    @property
    def words(self) -> dict[str, str]:
        return {"what": self.what, "value": self.value, "remedy": self.remedy}

    @classmethod
    def from_error(cls, error: Exception) -> CommandError:
        """Split the house's one-line error `what; remedy`; the value at fault is what `what` has in quotes, or its path.

        A value may hold what ends a sentence: only a semicolon outside of quotes does.
        """
        if isinstance(error, CommandError):
            return error
        message = " ".join((error.strerror if isinstance(error, OSError) and error.strerror else str(error)).split())
        end = QUOTED.sub(lambda value: "_" * len(value[0]), message).find("; ")
        what, remedy = (message, "") if end < 0 else (message[:end], message[end + 2 :])
        if isinstance(error, OSError) and error.filename:
            return cls(what, str(error.filename), remedy)
        return cls(what, value_in(what), remedy)


class RefusedError(CommandError):
    """What the query service refuses: the status and further headers of its reply, and why, as refused questions are counted."""

    def __init__(
        self,
        status: int,
        what: str,
        value: str = "",
        remedy: str = "",
        *,
        why: str = "request",
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(what, value, remedy)
        self.status, self.why, self.headers = status, why, headers


def value_in(what: str) -> str:
    """Return the first value that the sentence has in quotes, else its first path; nothing where it names none."""
    if quoted := QUOTED.search(what):
        return re.sub(r"\\(['\\])", r"\1", quoted[0][1:-1])
    path = PATH.search(what)
    return path[0] if path else ""


@dataclass(frozen=True)
class Output:
    as_json: bool

    @cached_property
    def console(self) -> Console:
        return Console(highlight=False, soft_wrap=True)

    @cached_property
    def side(self) -> Console:
        """Standard error, for progress and remarks."""
        return Console(stderr=True, highlight=False)

    def data(self, value: object) -> None:
        sys.stdout.write(json.dumps(value, ensure_ascii=False) + "\n")

    def line(self, text: str = "", style: str = "") -> None:
        """Write a line for people; document names in it are never markup."""
        self.console.print(printable(text), markup=False, style=style or None)

    def paragraph(self, text: str, style: str = "", first: str = "") -> None:
        """Write words for people, `first` before them; on a terminal broken between words, each line below where the words begin.

        A pipe gets each line of the text whole: what reads it breaks lines itself.
        """
        for line in printable(text).split("\n"):
            broken = Text(line).wrap(self.console, max(self.console.width - len(first), 1), overflow="fold")
            parts = [part.plain.rstrip() for part in broken] if self.console.is_terminal else [line]
            for place, part in enumerate(parts):
                self.line((" " * len(first) if place else first) + part, style)

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()) -> None:
        """Write a table; the columns named in `right` hold numbers."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(_plain(column), justify="right" if column in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(_plain(cell) for cell in row))
        self.console.print(table, soft_wrap=False)

    def error(self, error: CommandError) -> None:
        """Write an error: JSON on standard output for programs, words on standard error for people."""
        if self.as_json:
            self.data({"error": error.words})
            return
        self.side.print(f"flowreader: {printable(error.what)}", markup=False, style="red", soft_wrap=True)
        if error.remedy:
            self.side.print(printable(error.remedy), markup=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text without what a terminal would obey: a document's title may hold escape sequences."""
    return escaped(text, keep="\n")


def _plain(cell: object) -> str:
    return printable(str(cell)).replace("[", "\\[")
