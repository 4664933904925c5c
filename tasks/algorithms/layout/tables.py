"""Tables: from HTML or aligned text to a grid of cells, its header, Markdown, and one searchable line a row."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from itertools import pairwise, takewhile

_MAXIMUM_COLUMNS = 512  # a span beyond it is a mistake or an attack, not a table
_MAXIMUM_HEADER_ROWS = 4
_NUMBER = re.compile(r"(?=\D*\d)[\s$€£¥%()+\-\u2013\u2014\u2212.,'*†‡\d]+(?:[kmb]n?|x|bps|pp)?", re.I)
_YEAR = re.compile(r"(?:19|20)\d\d\*?")
_EMPTY = re.compile(r"[\s$€£¥%\-\u2013\u2014\u2212.*]*")
_COLUMN_GAP = re.compile(r"\t+|\s{2,}")


@dataclass(frozen=True, slots=True)
class Table:
    """A table's cells, every row as long as the widest, spans filled in; the first `header_rows` of them name the columns.

    `title` is what stands over all columns, above the header; it is in none of the rows.
    """

    rows: tuple[tuple[str, ...], ...]
    header_rows: int
    title: str = ""

    @property
    def columns(self) -> int:
        return len(self.rows[0]) if self.rows else 0

    @property
    def header(self) -> tuple[str, ...]:
        """One name a column: its header cells from the top, each once; empty where there is no header."""
        if not self.header_rows:
            return ()
        return tuple(" / ".join(dict.fromkeys(filter(None, cells))) for cells in zip(*self.rows[: self.header_rows], strict=True))


def read_html(html: str) -> Table:
    """Return the cells of the first table in a piece of HTML, however broken; what stands outside of cells is left out.

    Cells that span rows or columns are repeated in each place. Rows and cells that are not closed end where the next begins.
    """
    reader = _TableReader()
    reader.feed(html)
    reader.close()
    return _arrange(_fill_spans(reader.rows))


def read_aligned_text(text: str) -> Table:
    """Return the cells of a table that is only known as lines of text, columns set apart by tabs or two spaces.

    A line with fewer cells than the longest is filled from the right: values stand there, and labels on the left.
    """
    lines = [[cell.strip() for cell in _COLUMN_GAP.split(line.strip())] for line in text.splitlines() if line.strip()]
    width = max((len(line) for line in lines), default=0)
    rows = tuple(_pad(line, width) for line in lines)
    return Table(rows, _count_header_rows(rows, [False] * len(rows)))


def continue_table(table: Table, first: Table) -> Table:
    """Return a continued table with the header and title of the one that it continues, where it has none of its own."""
    if table.header_rows or not first.header_rows or table.columns != first.columns:
        return table
    return Table(first.rows[: first.header_rows] + table.rows, first.header_rows, first.title)


def write_markdown(table: Table) -> str:
    """Return the table as Markdown; its header in one row, empty where it has none."""
    if not table.rows:
        return ""
    header = table.header or ("",) * table.columns
    lines = [header, ("---",) * table.columns, *table.rows[table.header_rows :]]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def describe_rows(table: Table, *, caption: str) -> list[str]:
    """Return one line of text a row: caption, the label of the group of rows it stands under, then "header: value"."""
    texts: list[str] = []
    group = ""
    for number, row in enumerate(table.rows):
        if number < table.header_rows:
            texts.append(_join(caption, *(cell for cell in row if not isinstance(cell, _Repeat))))
            continue
        if label := _read_group_label(row):
            group = label
            texts.append(_join(caption, label))
            continue
        texts.append(_join(caption, group, *_describe_cells(row, table.header)))
    return texts


def _join(*parts: str) -> str:
    return " | ".join(part for part in parts if part)


def _describe_cells(row: Sequence[str], header: Sequence[str]) -> Iterator[str]:
    """Yield each cell that holds something with its column's name; one over columns of the same name comes once."""
    before = ""
    for cell, name in zip(row, header or ("",) * len(row), strict=True):
        if not _EMPTY.fullmatch(cell) and not (isinstance(cell, _Repeat) and name == before):
            yield f"{name}: {cell}" if name and name != cell else cell
        before = name


def _read_group_label(row: Sequence[str]) -> str:
    """Return the words of a row that only names the rows below it ("Assets:"), else ""."""
    filled = [cell for cell in row if not _EMPTY.fullmatch(cell) and not isinstance(cell, _Repeat)]
    label = filled.pop() if len(filled) == 1 else ""
    leads = not filled and label and not _EMPTY.fullmatch(row[0]) and len(row) > 1
    return label.rstrip(": ") if leads and not _NUMBER.fullmatch(label) else ""


def _pad(line: Sequence[str], width: int) -> tuple[str, ...]:
    if not line or len(line) == width:
        return tuple(line)
    gap = ("",) * (width - len(line))
    is_label = not _NUMBER.fullmatch(line[0])
    return (line[0], *gap, *line[1:]) if is_label else (*gap, *line)


def _count_header_rows(rows: Sequence[Sequence[str]], marked: Sequence[bool]) -> int:
    """Count the rows at the top that name columns: marked so, or with words (or years) where later rows have numbers."""
    leading = 0
    while leading < len(marked) and marked[leading]:
        leading += 1
    if leading:
        return leading if leading < len(rows) else 1
    numeric = next((number for number, row in enumerate(rows) if _is_data(row)), None)
    if len(rows) < 2:
        return 0
    if numeric is None:
        return _has_full_first_row(rows)
    header = min(numeric, _MAXIMUM_HEADER_ROWS)
    # A group label just above the numbers belongs to them, not to the header.
    while header > 1 and _read_group_label(rows[header - 1]):
        header -= 1
    return 0 if header == 1 and _read_group_label(rows[0]) else header


def _is_data(row: Sequence[str]) -> bool:
    values = [cell for cell in row[1:] if not _EMPTY.fullmatch(cell)]
    return any(_NUMBER.fullmatch(cell) and not _YEAR.fullmatch(cell) for cell in values)


def _has_full_first_row(rows: Sequence[Sequence[str]]) -> int:
    """Judge a table of words only: its first row is a header when every column has a short name of its own."""
    first = rows[0]
    distinct = len(set(first)) == len(first) > 1
    return int(distinct and all(cell and len(cell) <= 40 for cell in first) and len(rows) > 2)


class _Repeat(str):
    """What stands in a column because a cell on its left spans it."""

    __slots__ = ()


@dataclass(frozen=True, slots=True)
class _Cell:
    text: str
    columns: int
    rows: int
    is_header: bool


class _TableReader(HTMLParser):
    """Collects the cells of the first table; tables inside its cells become words of the cell."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.rows: list[list[_Cell]] = []
        self._parts: list[str] = []
        self._cell: _Cell | None = None
        self._depth = 0
        self._done = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "table":
            self._depth += 1
        if self._done:
            return
        if self._depth > 1 or tag in {"br", "p", "div", "li"}:
            self._parts.append(" ")
        elif tag == "tr":
            self._end_cell()
            self.rows.append([])
        elif tag in {"td", "th"}:
            self._begin_cell(dict(attrs), is_header=tag == "th")

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._depth = max(0, self._depth - 1)
            if self._depth == 0:
                self._end_cell()
                self._done = bool(self.rows)
        elif self._depth <= 1 and tag in {"td", "th", "tr"}:
            self._end_cell()

    def handle_data(self, data: str) -> None:
        if self._cell is not None:
            self._parts.append(data)

    def close(self) -> None:
        super().close()
        self._end_cell()

    def _begin_cell(self, attributes: dict[str, str | None], *, is_header: bool) -> None:
        self._end_cell()
        if not self.rows:
            self.rows.append([])
        columns, rows = _read_span(attributes.get("colspan")), _read_span(attributes.get("rowspan"))
        self._cell = _Cell("", columns, rows, is_header)

    def _end_cell(self) -> None:
        if self._cell is not None:
            self.rows[-1].append(replace(self._cell, text=" ".join("".join(self._parts).split())))
        self._parts = []
        self._cell = None


def _read_span(value: str | None) -> int:
    digits = (value or "").strip()
    return min(int(digits[:6]), _MAXIMUM_COLUMNS) or 1 if digits.isascii() and digits.isdigit() else 1


def _fill_spans(rows: Sequence[Sequence[_Cell]]) -> list[list[_Cell]]:
    """Repeat spanning cells in each place that they cover; spans below the last row are cut."""
    filled: list[list[_Cell]] = []
    hanging: dict[int, _Cell] = {}
    for row in rows:
        line: list[_Cell] = []
        for cell in row:
            _take_hanging(line, hanging)
            line += [cell, *[replace(cell, text=_Repeat(cell.text))] * (cell.columns - 1)]
        _take_hanging(line, hanging)
        line = line[:_MAXIMUM_COLUMNS]
        filled.append(line)
        hanging = {column: replace(cell, rows=cell.rows - 1) for column, cell in enumerate(line) if cell.rows > 1}
    return filled


def _take_hanging(line: list[_Cell], hanging: Mapping[int, _Cell]) -> None:
    """Add the cells from above that hang into the next places of a line."""
    while len(line) in hanging:
        line.append(hanging[len(line)])


def _arrange(rows: Sequence[Sequence[_Cell]]) -> Table:
    kept = [row for row in rows if any(cell.text for cell in row)]
    width = max((len(row) for row in kept), default=0)
    texts = tuple(tuple(cell.text for cell in row) + ("",) * (width - len(row)) for row in kept)
    marked = [all(cell.is_header for cell in row if cell.text) for row in kept]
    titles = [row[0] for row, _ in takewhile(lambda pair: _is_title(*pair), pairwise(texts))]
    header_rows = _count_header_rows(texts[len(titles) :], marked[len(titles) :])
    # Over rows without a header it names a group of them.
    return Table(texts[len(titles) :], header_rows, " ".join(dict.fromkeys(titles))) if header_rows else Table(texts, 0)


def _is_title(row: Sequence[str], below: Sequence[str]) -> bool:
    """Say whether one cell is over all columns: it spans them, or has the row for itself and the next begins below it."""
    is_over = len(row) > 1 and all(isinstance(cell, _Repeat) for cell in row[1:])
    return is_over or (len(row) > 2 and not any(row[1:]) and bool(below[0]))
