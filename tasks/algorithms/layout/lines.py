"""The lines of a page as they are printed, kept with its record, and the box of those on which a quote stands."""

import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import accumulate, takewhile

from storage.records.documents import Box
from tasks.algorithms.layout.boxes import TextLine, holds_middle, shared_height, simplify, unite
from tasks.algorithms.layout.cells import group_lines

_KEPT = re.compile(r"(\d{1,5}) (\d{1,5}) (\d{1,5}) (\d{1,5}) (.+)")
_SCALE = 10_000  # places are kept as whole numbers of this share
_MOST_LETTERS = 30_000  # kept of a page; of 1,405 pages of 38 documents the fullest has 13,971
_WORD_GAP = 1.5  # of the line's height: words of one line stand closer than columns and cells
_SHORT = 4  # letters: in fewer a cell may stand inside another word or number


def join_words(words: Iterable[tuple[Box, str]], *, aspect: float) -> list[TextLine]:
    """Return the lines of a page, in the order of its words; `aspect` is its width by its height."""
    lines: list[TextLine] = []
    for box, word in words:
        if lines and _goes_on(lines[-1].box, box, aspect):
            lines[-1] = TextLine(f"{lines[-1].text} {word}", unite((lines[-1].box, box)))
        else:
            lines.append(TextLine(word, box))
    return lines


def _goes_on(line: Box, word: Box, aspect: float) -> bool:
    height = max(line[3] - line[1], word[3] - word[1])
    return shared_height(line, word) > 0.5 and -height < (word[0] - line[2]) * aspect < _WORD_GAP * height


def write_lines(lines: Iterable[TextLine]) -> str:
    """Return the lines as they are kept: one a line, left, top, right and bottom before its words; what is too much is left out."""
    rows, room = list[str](), _MOST_LETTERS
    for line in lines:
        rows.append(" ".join([*(str(round(_SCALE * side)) for side in line.box), *line.text.split()]))
        room -= len(rows[-1])
        if room < 0:
            break
    # what lies beyond 16 bits comes from pdfium as two halves
    return "\n".join(rows).encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def read_lines(kept: str) -> list[TextLine]:
    """Return the lines that are kept; what is none is passed over: a parser that was taken over could have written anything."""
    found = (_KEPT.fullmatch(row) for row in kept.splitlines())
    parts = [(row[5], [int(place) / _SCALE for place in row.groups()[:4]]) for row in found if row]
    return [TextLine(text, (x, y, right, low)) for text, (x, y, right, low) in parts if x <= right and y <= low]


def box_of_quote(quote: str, *, block: Box, lines: Iterable[TextLine]) -> Box:
    """Return the box, inside the block's, around the lines on which a quote from the block stands; the block's where it does not.

    Only letters and digits are compared. Of several places in the block it is the first.
    """
    inside = [_Line(letters_of(line.text), line.text, line.box) for line in lines if holds_middle(block, line.box)]
    found = _find_run(letters_of(quote), inside) or _find_row(quote, inside)
    if not found:
        return block
    left, top, right, bottom = unite(line.box for line in found)
    return max(left, block[0]), max(top, block[1]), min(right, block[2]), min(bottom, block[3])


def letters_of(text: str) -> str:
    """Return the letters and digits of a text, without accents and in one case."""
    return simplify(unicodedata.normalize("NFKD", text)).replace(" ", "")


@dataclass(frozen=True, slots=True)
class _Line:
    letters: str
    text: str
    box: Box


def _find_run(wanted: str, lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines on which the letters stand one after the other."""
    at = "".join(line.letters for line in lines).find(wanted) if wanted else -1
    starts = accumulate((len(line.letters) for line in lines), initial=0)
    placed = zip(lines, starts, strict=False)
    return [line for line, start in placed if start < at + len(wanted) and at < start + len(line.letters)] if at >= 0 else []


@dataclass(frozen=True, slots=True)
class _Band:
    """Lines that stand side by side, from the left, with their letters as a whole and word by word."""

    lines: Sequence[_Line]
    letters: str
    words: frozenset[str]

    def holds(self, cell: str) -> bool:
        """Say whether a cell stands here whole; a short one must be a word of its own."""
        return cell in self.words if len(cell) < _SHORT else cell in self.letters

    def shows(self, cell: str) -> bool:
        """Say whether a cell stands here, or one of its lines."""
        return self.holds(cell) or any(len(line.letters) >= _SHORT and line.letters in cell for line in self.lines)


def _find_row(quote: str, lines: Sequence[_Line]) -> list[_Line]:
    """Return the lines that hold the cells of a table's row, whose quote is "caption | head: cell | head: cell".

    It is what stands side by side and holds most of the cells; where others hold the same number, the last cells, for the first
    are of the caption. What stands above or below and holds nothing but more of the same cells belongs to it.
    """
    cells = [cell for part in quote.split(" | ") if (cell := letters_of(part.rpartition(": ")[2]))]
    bands = _side_by_side(lines) if len(cells) > 1 else []
    marks = [[band.shows(cell) for cell in reversed(cells)] for band in bands]
    if not any(map(any, marks)):
        return []
    best = max(range(len(bands)), key=lambda place: (sum(marks[place]), marks[place], -place))
    open_cells = [cell for cell in cells if not bands[best].holds(cell)]
    row = list(bands[best].lines)
    for further in (bands[best + 1 :], bands[:best][::-1]):
        for band in takewhile(lambda band: all(any(line.letters in cell for cell in open_cells) for line in band.lines), further):
            row += band.lines
    return row


def _side_by_side(lines: Sequence[_Line]) -> list[_Band]:
    """Return the lines that have letters, those of one height together, from the top."""
    printed = [line for line in lines if line.letters]
    bands = group_lines([(line.box, line.text) for line in printed])
    return [_band(sorted((printed[place] for place in band), key=lambda line: line.box[0])) for band in bands]


def _band(lines: Sequence[_Line]) -> _Band:
    words = frozenset(letters_of(word) for line in lines for word in line.text.split())
    return _Band(lines, "".join(line.letters for line in lines), words)
