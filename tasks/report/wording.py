"""How the report says things: places, numbers, a few words of an element, a line cut to its room."""

import itertools
import math
import re
import unicodedata
from collections.abc import Iterable

from markupsafe import Markup

from storage.records.answers import NamedDocument
from storage.records.documents import Modality, Node
from tasks.report.evidence import ReportEvidence

CELL_END = re.compile(r"(?<!\\)\|")
ROUND_FROM = 999.5
SHORTEST_RUN = 2
WORDS_READ = 2000
"""Characters of an element of which a few words are shown."""
HIDDEN_SIGNS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufffe\uffff]")
"""Signs that a terminal or a browser obeys, or that no file can hold: controls, changes of direction, halves of pairs."""
GONE = "This element is not in the corpus any more: its document was read again with other settings."
REMOVED = "The document was removed."
REPLACED = "The document was replaced, or read again, since this was answered; its earlier words are not in the corpus any more."
ABSENT = "The document is not in the corpus any more."


def why_gone(evidence: ReportEvidence, document: NamedDocument, *, quoted: bool) -> str:
    """Say why the corpus does not hold a document any more; words are kept of one that was replaced, of a removed one none."""
    if document.id in evidence.removed:
        return REMOVED
    return REPLACED if quoted else ABSENT


def short_place(evidence: ReportEvidence, node: Node | None, *, with_document: bool) -> str:
    """Return the place of a node in the fewest words: "report, p. 5"."""
    if node is None:
        return "gone"
    where = evidence.place(node.document_id, node.page).split(" (")[0].replace("page ", "p. ")
    stem = cut(evidence.name(node.document_id).rsplit(".", 1)[0], 16)
    return ", ".join(part for part in ((stem, where) if with_document or not where else (where,)) if part)


def few_words(node: Node | None) -> str:
    """Return what the node says, in one line: a figure's or table's caption, else its text; of a table the cells."""
    if node is None:
        return ""
    if node.modality is not Modality.TEXT and node.caption:
        words = node.caption
    else:
        content = cells_in_words(node.content[:WORDS_READ]) if node.modality is Modality.TABLE else node.content
        words = content or node.caption or node.summary
    return " ".join(HIDDEN_SIGNS.sub(" ", words[:WORDS_READ]).split())


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


def numbers_line(numbers: Iterable[int]) -> str:
    """Return "1, 3, 5 to 9": in order, runs of three and more by their ends."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    short = (f"{run[0]} to {run[-1]}" if len(run) > SHORTEST_RUN else ", ".join(map(str, run)) for run in runs)
    return ", ".join(short)


def figure(value: float) -> str:
    """Return a number with three digits that matter, never in powers of ten."""
    return f"{value:,.0f}" if abs(value) >= ROUND_FROM else f"{value:.3g}" if abs(value) >= 0.001 or not value else f"{value:.4f}"


def percent(share: float) -> float:
    """Return how much of a bar is filled: what is beyond 0..1 is cut, and what is no number fills nothing."""
    return 0.0 if math.isnan(share) else 100 * min(max(share, 0.0), 1.0)


def shown(value: object) -> object:
    """Return a text with its hidden signs written out, a number with four decimals at most; finished markup as it is."""
    if isinstance(value, str) and not isinstance(value, Markup):
        return HIDDEN_SIGNS.sub(_written_out, value.replace("\r\n", "\n"))
    return f"{value:.4f}".rstrip("0").rstrip(".") if isinstance(value, float) else value


def _written_out(found: re.Match[str]) -> str:
    return found[0].encode("unicode_escape", "surrogatepass").decode()
