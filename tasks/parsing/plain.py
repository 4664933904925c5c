"""Plain text and Markdown: paragraphs are what empty lines part; Markdown's headings are titles."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from storage.records.documents import Block, NodeKind, PageParser, ParsedPage
from tasks.parsing.jobs import NO_PLACE, Job, Reading

HEADING = re.compile(r"(#{1,6})\s+(.+?)\s*#*\s*$")
LIST_LINE = re.compile(r"\s*(?:[-*+•]|\d{1,3}[.)])\s+\S")
TABLE_LINE = re.compile(r"\s*\|.*\|\s*$")
CELL_ENDS = re.compile(r"(?<!\\)\|")
UNDER_HEADER = re.compile(r":?-+:?")
FENCE = re.compile(r"\s*(?:```|~~~)")


def read_plain(job: Job) -> Reading:
    groups = re.split(r"\n\s*\n", decode_text(job.source.read_bytes()))
    return one_page(_block(group, markdown=False) for group in groups if group.strip())


def read_markdown(job: Job) -> Reading:
    return one_page(_block(group, markdown=True) for group in _markdown_groups(decode_text(job.source.read_bytes())))


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


def _markdown_groups(text: str) -> list[str]:
    """Cut at empty lines and around headings and tables, but not inside a code fence."""
    groups: list[list[str]] = [[]]
    fenced = False
    for line in text.split("\n"):
        opens = bool(FENCE.match(line))
        begins = bool(groups[-1]) and bool(TABLE_LINE.match(line)) != bool(TABLE_LINE.match(groups[-1][-1]))
        if not fenced and (opens or begins or not line.strip() or HEADING.match(line)):
            groups.append([])
        if line.strip() or fenced:
            groups[-1].append(line)
        if not fenced and HEADING.match(line):
            groups.append([])
        if opens and fenced:
            groups.append([])
        fenced = fenced != opens
    return ["\n".join(group) for group in groups if group]


def _block(group: str, *, markdown: bool) -> Block:
    lines = group.strip("\n").split("\n")
    heading = HEADING.match(lines[0]) if markdown else None
    if heading:
        return Block(kind=NodeKind.TITLE, text=heading[2], box=NO_PLACE, level=len(heading[1]))
    if markdown and FENCE.match(lines[0]):
        body = lines[1:-1] if len(lines) > 1 and FENCE.match(lines[-1]) else lines[1:]
        return Block(kind=NodeKind.CODE, text="\n".join(body), box=NO_PLACE)
    if markdown and len(lines) > 1 and all(TABLE_LINE.match(line) for line in lines):
        return Block(kind=NodeKind.TABLE, text="\n".join(lines), box=NO_PLACE, html=_table(lines))
    if all(LIST_LINE.match(line) for line in lines):
        return Block(kind=NodeKind.LIST, text="\n".join(lines), box=NO_PLACE)
    return Block(kind=NodeKind.PARAGRAPH, text=" ".join(line.strip() for line in lines), box=NO_PLACE)


def _table(lines: Sequence[str]) -> str:
    """Return a table of Markdown as HTML; the row above the line of dashes is its header."""
    rows = [[cell.replace("\\|", "|").strip() for cell in CELL_ENDS.split(line.strip()[1:-1])] for line in lines]
    headers = all(map(UNDER_HEADER.fullmatch, rows[1]))
    if headers:
        del rows[1]
    marked = [("th" if headers and number == 0 else "td", row) for number, row in enumerate(rows)]
    cells = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in marked)
    return f"<table>{''.join(f'<tr>{row}</tr>' for row in cells)}</table>"
