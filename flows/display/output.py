"""How results are shown: tables and lines for people, JSON for programs, errors that name thing, value and remedy."""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NoReturn

from pydantic_core import to_jsonable_python
from rich.console import Console
from rich.table import Table
from rich.text import Text

from storage.text import escape_unprintable

BEGINNING = re.compile(r"^ *(?:\[\d+\] |- )?")
"""The indentation and item mark of a paragraph, under which its further lines are aligned."""

INTERRUPT_EXIT = 130
STOPPED = "stopped; what is finished stays, and the same command goes on with the rest"
SHOW_CURSOR = "\x1b[?25h"


def leave_at_once(words: str = "") -> NoReturn:
    """End the process with these words, as Ctrl-C does.

    A progress bar may have hidden the cursor, and stands before sys.stderr: what is written there it would draw itself below.
    """
    stderr = sys.__stderr__ or sys.stderr
    stderr.write(f"{SHOW_CURSOR if stderr.isatty() else ''}\n{words}\n" if words else SHOW_CURSOR * stderr.isatty())
    stderr.flush()
    os._exit(INTERRUPT_EXIT)


"""The last words of a run after Ctrl-C."""


@dataclass(frozen=True)
class Output:
    as_json: bool

    @cached_property
    def console(self) -> Console:
        return Console(highlight=False, soft_wrap=True, emoji=False)

    @cached_property
    def side(self) -> Console:
        """Standard error, for progress and remarks."""
        return Console(stderr=True, highlight=False, emoji=False)

    def data(self, value: object) -> None:
        """Write JSON; views and records become objects of their fields."""
        sys.stdout.write(json.dumps(value, ensure_ascii=False, default=to_jsonable_python) + "\n")

    def draw(self, view: object, template: str) -> None:
        """Write a view: for programs its JSON, for people what the template makes of `view`."""
        if self.as_json:
            self.data(view)
        else:
            self.show(template, view=view)

    def line(self, text: str = "", style: str = "") -> None:
        """Write a line for people; document names in it are never markup."""
        self.console.print(printable(text), markup=False, style=style or None)

    def paragraph(self, text: str, style: str = "", first: str = "") -> None:
        """Write words for people, `first` before them; a terminal gets them wrapped, and aligned behind `first`."""
        from tasks.views.render import BOLD

        for row, line in enumerate(escape_unprintable(text, keep=f"\n{BOLD}").split("\n")):
            words = Text.assemble(*((part, "bold" if place % 2 else "") for place, part in enumerate(line.split(BOLD))))
            for place, part in enumerate(self._broken(words, len(first)) if self.console.is_terminal else [words]):
                self.console.print(Text.assemble(" " * len(first) if row or place else first, part, style=style))

    def _broken(self, words: Text, margin: int) -> Iterator[Text]:
        for part in words.wrap(self.console, max(self.console.width - margin, 1), overflow="fold"):
            part.rstrip()
            yield part

    def show(self, template: str, *tables: tuple[Any, ...], **context: Any) -> None:  # noqa: ANN401 - Jinja's
        """Write what a text template makes of the context: each of its lines is `STYLE| WORDS`, `table| NUMBER`, or empty."""
        from tasks.views.render import LINE_BREAK, TEXT, draw

        for line in draw(TEXT, template, **context).splitlines():
            style, _, words = line.partition("|")
            words = words.removeprefix(" ")
            if style == "table":
                self.table(*tables[int(words)])
                continue
            rest = BEGINNING.sub("", words)
            self.paragraph(rest.replace(LINE_BREAK, "\n"), style.strip(), words[: len(words) - len(rest)])

    def table(self, columns: Sequence[str], rows: Sequence[Sequence[Any]], right: Sequence[str] = ()) -> None:
        """Write a table; the columns named in `right` hold numbers."""
        table = Table(box=None, pad_edge=False, header_style="bold")
        for column in columns:
            table.add_column(_plain(column), justify="right" if column in right else "left", overflow="fold")
        for row in rows:
            table.add_row(*(_plain(cell) for cell in row))
        self.console.print(table, soft_wrap=False)

    def error(self, error: Exception) -> None:
        """Write an error: JSON on standard output for programs, words on standard error for people."""
        # Imported here: a command that succeeds has no need of it.
        from tasks.views.errors import view_error

        view = view_error(error)
        if self.as_json:
            self.data({"error": view.model_dump()})
            return
        self.side.print(f"flowreader: {printable(view.what)}", markup=False, style="red", soft_wrap=True)
        if view.remedy:
            self.side.print(printable(view.remedy), markup=False, soft_wrap=True)


def printable(text: str) -> str:
    """Return the text with control characters escaped: a document's title may hold escape sequences."""
    return escape_unprintable(text, keep="\n")


def _plain(cell: object) -> str:
    return printable(str(cell)).replace("[", "\\[")
