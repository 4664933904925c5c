"""Plain text and Markdown: empty lines separate paragraphs; Markdown's headings, tables and code are recognised."""

import re
from collections.abc import Iterable, Iterator, Sequence
from html import escape
from itertools import takewhile
from typing import TYPE_CHECKING

from storage.records.documents import Block, NodeKind, PageParser, ParsedPage
from tasks.parsing.jobs import NO_PLACE, Job, Reading

if TYPE_CHECKING:
    from markdown_it.token import Token

LIST_LINE = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S")
NEW_LINE = re.compile(r"<br\s*/?>", re.I)
TABLE_PARTS = ("tr", "th", "td")


def read_plain(job: Job) -> Reading:
    return one_page(blocks_of(decode_text(job.source.read_bytes())))


def read_markdown(job: Job) -> Reading:
    return one_page(markdown_blocks(decode_text(job.source.read_bytes())))


def one_page(blocks: Iterable[Block]) -> Reading:
    """Return the blocks as one page without geometry (0 by 0 points)."""
    page = ParsedPage(number=1, width_points=0.0, height_points=0.0, parser=PageParser.PLAIN, blocks=tuple(blocks))
    return Reading(title="", pages=(page,))


def decode_text(data: bytes) -> str:
    """Return the text: by its byte order mark, else as UTF-8, else as Windows-1252, with plain line ends."""
    if data[:2] in (b"\xff\xfe", b"\xfe\xff"):
        text = data.decode("utf-16", "replace")
    else:
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")
    return text.replace("\r\n", "\n").replace("\r", "\n").replace("\x00", "")


def blocks_of(text: str) -> Iterator[Block]:
    """Yield the paragraphs and lists of plain text."""
    for group in re.split(r"\n\s*\n", text):
        lines = group.strip("\n").split("\n")
        if not group.strip():
            continue
        if all(LIST_LINE.match(line) for line in lines):
            yield Block(kind=NodeKind.LIST, text="\n".join(lines), box=NO_PLACE)
        else:
            yield Block(kind=NodeKind.PARAGRAPH, text=" ".join(line.strip() for line in lines), box=NO_PLACE)


def markdown_blocks(text: str) -> Iterator[Block]:
    """Yield the headings, tables and code of Markdown, and what stands between them as plain text."""
    from markdown_it import MarkdownIt

    lines = text.split("\n")
    # A line under a text makes no heading of it, for front matter ends with one; and words of references would be left out.
    tokens = MarkdownIt("commonmark").enable("table").disable(["lheading", "reference"]).parse(text)
    for place, token in enumerate(tokens):
        if token.level or token.map is None:
            continue
        source = "\n".join(lines[slice(*token.map)]).strip("\n")
        match token.type:
            case "heading_open":
                yield Block(kind=NodeKind.TITLE, text=tokens[place + 1].content, box=NO_PLACE, level=int(token.tag[1:]))
            case "fence":
                yield Block(kind=NodeKind.CODE, text=token.content.rstrip("\n"), box=NO_PLACE)
            case "table_open":
                parts = list(takewhile(lambda part: part.type != "table_close", tokens[place:]))
                yield Block(kind=NodeKind.TABLE, text=source, box=NO_PLACE, html=_table(parts))
            case _:
                yield from blocks_of(source)


def _table(tokens: Sequence["Token"]) -> str:
    """Return a table as HTML, with the words of its cells as they are."""
    parts = []
    for token in tokens:
        if token.type == "inline":
            words = (" " if NEW_LINE.fullmatch(part.content) else part.content for part in token.children or ())
            parts.append(escape("".join(words)))
        elif token.tag in TABLE_PARTS:
            parts.append(f"<{'/' if token.nesting < 0 else ''}{token.tag}>")
    return f"<table>{''.join(parts)}</table>"
