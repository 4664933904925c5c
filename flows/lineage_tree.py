"""Lines below lines: the same tree of lineage on a terminal and as Markdown, where all of it stands as text."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field

from flows.showing import Output
from tasks.markdown import as_text

SHOWN = 10
"""Answers, documents and runs in a list, at most: --json has all."""


class Tree(ABC):
    """Takes the lines of a walk, each at its level."""

    @abstractmethod
    def line(self, level: int, text: str, style: str = "") -> None:
        """Write a line."""

    @abstractmethod
    def heading(self, text: str) -> None:
        """Write a heading."""

    def some(self, level: int, lines: Sequence[str], shown: int = SHOWN) -> None:
        """Write the first of the lines, and how many more there are."""
        for text in lines[:shown]:
            self.line(level, text)
        if len(lines) > shown:
            self.line(level, f"and {len(lines) - shown:,} more; --json has all", style="dim")

    def go_on(self, corpus: str, *commands: str) -> None:
        """Write what to do next."""
        self.heading("go on")
        for command in commands:
            self.line(1, f"flowreader {command} --corpus {corpus}")


@dataclass(frozen=True)
class TerminalTree(Tree):
    """Each level stands two columns further right, and what breaks stays there."""

    output: Output

    def line(self, level: int, text: str, style: str = "") -> None:
        """Write a line, broken where the terminal ends."""
        self.output.paragraph(text, style=style, first="  " * level)

    def heading(self, text: str) -> None:
        """Write a line in bold."""
        self.line(0, text, style="bold")


@dataclass(frozen=True)
class MarkdownTree(Tree):
    """Headings, and lists below lists."""

    lines: list[str] = field(default_factory=list)

    def line(self, level: int, text: str, style: str = "") -> None:
        """Write an item of a list, or a paragraph."""
        self.lines.append(f"{'  ' * (level - 1)}- {as_text(text)}" if level else f"\n{as_text(text)}\n")

    def heading(self, text: str) -> None:
        """Write a line in bold."""
        self.lines.append(f"\n## {as_text(text)}\n")

    @property
    def markdown(self) -> str:
        """The whole page."""
        return "\n".join(self.lines).strip() + "\n"
