"""Tables that are known only by where their words stand: rows of values in columns that white space parts."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from statistics import median

from storage.records.documents import Box
from tasks.algorithms.layout.boxes import unite
from tasks.algorithms.layout.cells import (
    CELL_GAP,
    HEAD_CELL_GAP,
    Cell,
    Line,
    Span,
    Words,
    cut_lines,
    has_data,
    is_datum,
    is_row,
    is_value,
    measure_gap,
    merge_spans,
)

_LINE_GAP = 0.5  # of a line's height: lines of one cell stand closer
_HEAD_GAP = 1.6  # the same of heads and the first row
_ROW_GAP = 3.0  # of a line's height: rows of one table stand closer
_MOST_COLUMNS = 64
_FEWEST_ROWS = 3  # with numbers
_FEWEST_FILLED = 0.4  # of the cells right of the labels, and as many of these are numbers
_ALIGNED = 0.7  # of the columns, and of the numbers in them
_OFF_LINE = 0.006  # of the page's width: places closer than that are below each other
_MOST_HEAD_LINES = 6
_OFF_MIDDLE = 0.3  # of the way from column to column: so far from its middle is a head over several
_MOST_HEAD_NUMBERS = 4  # in a line, apart from years
_MOST_LABEL_LINES = 6  # one after another, without a value
_LABEL_WORDS = 16  # more is a sentence
_PAGE = re.compile(r"[0-9]{1,5}")
_LETTERS = re.compile(r"[^\W\d_]{2}")


@dataclass(frozen=True, slots=True)
class Grid:
    """A table that was found: its box, its words as places in the list that was given, and its cells by row, the header first."""

    box: Box
    words: frozenset[int]
    rows: tuple[tuple[str, ...], ...]
    header_rows: int

    @property
    def text(self) -> str:
        return "\n".join(" | ".join(row).rstrip() for row in self.rows)

    @property
    def html(self) -> str:
        tags = ["th"] * self.header_rows + ["td"] * (len(self.rows) - self.header_rows)
        rows = ("".join(f"<{tag}>{escape(cell)}</{tag}>" for cell in row) for tag, row in zip(tags, self.rows, strict=True))
        return f"<table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"


def find_grids(words: Words, *, aspect: float) -> list[Grid]:
    """Return the tables that words on a page make; `aspect` is its width over its height."""
    lines = cut_lines(words, aspect=aspect, gap=CELL_GAP)
    heads = cut_lines(words, aspect=aspect, gap=HEAD_CELL_GAP)
    grids: list[Grid] = []
    start = floor = 0
    while start < len(lines):
        end = _grow(lines, start) if is_row(lines[start]) else start
        if end > start + 1 and (grid := _read(lines[floor:end], heads[floor:end], start - floor)):
            grids.append(grid)
            floor = end
        start = max(end, start + 1)
    return grids


def _grow(lines: Sequence[Line], start: int) -> int:
    """Return the end of the rows that begin with this line and keep to common columns; the row itself where it has but one."""
    spans = merge_spans(lines[start])
    if len(spans) < 2:
        return start
    end = start + 1
    for place in range(start + 1, len(lines)):
        line = lines[place]
        gap = measure_gap(lines[place - 1], line)
        if gap > _ROW_GAP or place - end >= _MOST_LABEL_LINES or _is_head(line, spans, gap):
            break
        if _is_label(line, spans):
            continue
        merged = merge_spans(line if has_data(line) else (), spans)
        if len(merge_spans(line, spans)) < len(spans) or (len(line) == 1 and (gap > _LINE_GAP or len(merged) > len(spans))):
            break
        spans = merged
        if is_row(line) or (line[0].box[0] >= spans[0][1] and gap <= _LINE_GAP):
            end = place + 1
    return end


def _is_label(line: Line, spans: Sequence[Span]) -> bool:
    """Say whether a line names rows: words in the first column alone, or a few that reach beyond it."""
    return len(line) == 1 and line[0].box[0] < spans[0][1] and (line[0].box[2] < spans[1][0] or len(line[0].words) <= _LABEL_WORDS)


def _is_head(line: Line, spans: Sequence[Span], gap: float) -> bool:
    """Say whether a line, so far below the last, names columns anew: words without a number or a label over several of them."""
    is_over = len(line) > 1 and line[0].box[0] >= spans[0][1]
    return is_over and gap > _LINE_GAP and not any(is_datum(cell.text) for cell in line)


def _read(lines: Sequence[Line], cut: Sequence[Line], start: int) -> Grid | None:
    """Return the lines from the start on as a table with the heads that stand above them; None where they are none.

    `cut` has the same lines in narrower cells, as heads stand close to each other.
    """
    end = len(lines)
    spans = merge_spans(cell for line in lines[start:end] if has_data(line) for cell in line)
    if not 2 <= len(spans) <= _MOST_COLUMNS:
        return None
    top = _find_heads(lines, start, spans)
    first = next((place for place in range(start, end) if has_data(lines[place])), end)
    if any(sum(is_datum(word) for cell in line for word in cell.text.split()) > _MOST_HEAD_NUMBERS for line in lines[top:first]):
        return None
    below = max((place + 1 for place in range(top, first) if cut[place][-1].box[2] > spans[1][0]), default=top)
    body = _rows(lines[below:end], spans)
    if not _is_table(body) or not _is_aligned(lines[first:end], spans):
        return None
    header = _header(cut[top:below], spans)
    cells = [cell for line in lines[top:end] for cell in line]
    return Grid(
        box=unite(cell.box for cell in cells),
        words=frozenset(word for cell in cells for word in cell.words),
        rows=(header, *body) if any(header) else tuple(body),
        header_rows=int(any(header)),
    )


def _find_heads(lines: Sequence[Line], start: int, spans: Sequence[Span]) -> int:
    top = place = start
    while place > max(0, start - _MOST_HEAD_LINES) and measure_gap(lines[place - 1], lines[place]) <= _HEAD_GAP:
        place -= 1
        line = lines[place]
        if max(len(cell.words) for cell in line) > _LABEL_WORDS:
            break
        if _is_over(line, spans):
            top = place
    return top


def _is_over(line: Line, spans: Sequence[Span]) -> bool:
    """Say whether words stand over the columns of values and no cell from the first column reaches over them."""
    return line[-1].box[2] > spans[1][0] and all(cell.box[0] >= spans[0][1] or cell.box[2] <= spans[1][0] for cell in line)


def _header(heads: Sequence[Line], spans: Sequence[Span]) -> tuple[str, ...]:
    """Return a name for each column: the words over it, from the top."""
    names: list[list[str]] = [[] for _ in spans]
    for place, line in enumerate(heads):
        for cell, columns in zip(line, _under(line, spans, lowest=place == len(heads) - 1), strict=True):
            for column in columns:
                names[column].append(cell.text)
    return tuple(" ".join(name) for name in names)


def _reached(cell: Cell, spans: Sequence[Span]) -> range:
    """Return the columns that a head is above, or the one that its middle is nearest to."""
    over = [place for place, span in enumerate(spans) if cell.box[0] < span[1] and cell.box[2] > span[0]]
    if not over:
        middle = (cell.box[0] + cell.box[2]) / 2
        over = [min(range(len(spans)), key=lambda place: max(spans[place][0] - middle, middle - spans[place][1]))]
    return range(over[0], over[-1] + 1)


def _under(line: Line, spans: Sequence[Span], *, lowest: bool) -> list[range]:
    """Return the columns that each head stands over: those that it reaches, or the run in whose middle it stands.

    The latter where there are heads below, and all heads of the line stand in the middle of the columns that are nearest to them.
    """
    reach = [_reached(cell, spans) for cell in line]
    over = [place for place, columns in enumerate(reach) if columns[0]]
    if lowest or not over:
        return reach
    middles = [sum(span) / 2 for span in spans]
    own: dict[int, list[int]] = {place: [] for place in over}
    for column in range(1, len(spans)):
        own[min(over, key=lambda place: abs(line[place].box[0] + line[place].box[2] - 2 * middles[column]))].append(column)
    pitch = (middles[-1] - middles[1]) / max(1, len(spans) - 2)
    for place, columns in own.items():
        middle = (spans[columns[0]][0] + spans[columns[-1]][1]) / 2 if columns else math.inf
        if abs(middle - (line[place].box[0] + line[place].box[2]) / 2) > _OFF_MIDDLE * pitch:
            return reach
    return [range(own[place][0], own[place][-1] + 1) if place in own else columns for place, columns in enumerate(reach)]


def _rows(lines: Sequence[Line], spans: Sequence[Span]) -> list[tuple[str, ...]]:
    """Return the cells of each line by column; what goes on from the line above is joined to it."""
    rows: list[list[str]] = []
    for line in lines:
        row = ["" for _ in spans]
        for cell in line:
            column = _column(cell, spans)
            row[column] = f"{row[column]} {cell.text}".strip()
        if rows and (_goes_on(rows[-1], row) or _is_cut(rows[-1], row)):
            rows[-1] = [f"{above} {below}".strip() for above, below in zip(rows[-1], row, strict=True)]
        else:
            rows.append(row)
    return [tuple(row) for row in rows]


def _is_cut(above: Sequence[str], below: Sequence[str]) -> bool:
    """Say whether the label above, without values, is the beginning of the one below."""
    return not any(above[1:]) and bool(below[0]) and (below[0][0].islower() or above[0].endswith(("/", ",", "&", "-", "\u2013")))


def _goes_on(above: Sequence[str], below: Sequence[str]) -> bool:
    """Say whether a line without label and numbers ends the cells above it."""
    pairs = [(one, other) for one, other in zip(above, below, strict=True) if other]
    is_plain = not below[0] and not any(is_value(other) for _, other in pairs)
    return is_plain and any(one and (not is_value(one) or other[0] in "(&") for one, other in pairs)


def _is_table(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether enough rows have numbers, most columns are filled, and it is no list of contents."""
    data = [row for row in rows if any(row[1:])]
    filled = [cell for row in data for cell in row[1:] if cell]
    numbers = sum(map(is_value, filled))
    if sum(any(map(is_datum, row[1:])) for row in data) < _FEWEST_ROWS:
        return False
    if numbers < _FEWEST_FILLED * len(filled) or len(filled) < _FEWEST_FILLED * len(data) * (len(rows[0]) - 1):
        return False
    return sum(bool(_LETTERS.search(row[0])) for row in data) * 2 >= len(data) and not _is_contents(data)


def _is_aligned(lines: Sequence[Line], spans: Sequence[Span]) -> bool:
    """Say whether the numbers of most columns end, begin or have their middle below each other; at the ends of bars they do not."""
    columns: list[list[tuple[float, ...]]] = [[] for _ in spans]
    for cell in (cell for line in lines for cell in line[1:] if is_datum(cell.text)):
        left, right = cell.box[0], cell.box[2]
        signs = (len(cell.text) - len(cell.text.rstrip(" %)*"))) / len(cell.text)
        columns[_column(cell, spans)].append((left, (left + right) / 2, right, right - (right - left) * signs))
    shares = [max(map(_share_below, zip(*places, strict=True))) for places in columns if len(places) > 1]
    return sum(share >= _ALIGNED for share in shares) >= _ALIGNED * len(shares)


def _share_below(places: Sequence[float]) -> float:
    usual = median(places)
    return sum(abs(place - usual) <= _OFF_LINE for place in places) / len(places)


def _column(cell: Cell, spans: Sequence[Span]) -> int:
    return max(place for place, span in enumerate(spans) if place == 0 or span[0] <= cell.box[0])


def _is_contents(rows: Sequence[Sequence[str]]) -> bool:
    """Say whether the only column of numbers is the last and counts up as pages do."""
    columns = [[cell for cell in column if cell] for column in list(zip(*rows, strict=True))[1:]]
    numbers = [column for column in columns if 2 * sum(map(is_value, column)) > len(column)]
    pages = [int(text) for text in numbers[-1] if _PAGE.fullmatch(text)] if numbers else []
    return len(numbers) == 1 and numbers[0] is columns[-1] and len(pages) >= 0.8 * len(numbers[0]) and pages == sorted(pages)
