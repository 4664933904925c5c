"""The few words of an element that a card of the graph has room for."""

import itertools
import re
import unicodedata

from storage.records.documents import Modality, Node
from storage.text import one_line
from tasks.asking.request import JOINERS

CELL_END = re.compile(r"(?<!\\)\|")
WORDS_READ = 2000
"""Characters of an element of which a few words are shown."""


def few_words(node: Node | None) -> str:
    """Return what the node says, in one line: a figure's or table's caption, else its text; of a table the cells."""
    if node is None:
        return ""
    if node.modality is not Modality.TEXT and node.caption:
        words = node.caption
    else:
        content = cells_in_words(node.content[:WORDS_READ]) if node.modality is Modality.TABLE else node.content
        words = content or node.caption or node.summary
    return one_line(words[:WORDS_READ], keep=JOINERS)


def cells_in_words(table: str) -> str:
    """Return the cells of a Markdown table with commas between; of equal ones in a row the first, of rules nothing."""
    cells = (cell.strip() for line in table.splitlines() for cell in CELL_END.split(line))
    distinct = itertools.groupby(cell for cell in cells if cell.strip("-: "))
    return ", ".join(cell.replace("\\|", "|") for cell, _ in distinct)


def cut(text: str, room: int) -> str:
    """Return the text cut to so many letters, an ellipsis in the last; wide letters take the room of two."""
    return text if fitting(text, room) == len(text) else f"{text[: fitting(text, room - 1)].rstrip()}…"


def fitting(text: str, room: int) -> int:
    width = 0
    for place, sign in enumerate(text):
        width += 2 if unicodedata.east_asian_width(sign) in "WF" else 1
        if width > room:
            return place
    return len(text)


def wrap(text: str, room: int, lines: int) -> list[str]:
    """Return the text on so many lines of the room at most, broken between words where that is possible."""
    wrapped: list[str] = []
    rest = text
    while len(wrapped) < lines - 1 and (fits := fitting(rest, room)) < len(rest):
        space = fits if rest[fits] == " " else rest.rfind(" ", 0, fits)
        end = space if space > 0 else fits
        wrapped.append(rest[:end].rstrip())
        rest = rest[end:].lstrip()
    return [*wrapped, cut(rest, room)] if rest else wrapped
