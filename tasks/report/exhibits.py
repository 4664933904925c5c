"""A cited element shown itself, where there is no page to show it on: its text, its table, its figure."""

from __future__ import annotations

import re
from collections.abc import Sequence

from storage.records import Modality, Node
from tasks.algorithms.table_rows import Table, read_html
from tasks.report.evidence import Exhibit
from tasks.report.markup import Markup, join, tag
from tasks.report.report_settings import ReportSettings
from tasks.report.wording import GONE, cut

MOST_QUOTE_WORDS = 400
MOST_COLUMNS = 24
CELL_LETTERS = 240
SHORT_CELL = 3


def show_exhibit(exhibit: Exhibit, settings: ReportSettings) -> Markup:
    """Return the element with its citations' numbers; the quoted words, or rows, are marked."""
    badge = join(
        (
            tag("a", str(number), class_="number", href=f"#citation-{number}", aria_label=f"Citation {number}")
            for number in exhibit.numbers
        ),
        " ",
    )
    first = exhibit.numbers[0]
    head = tag("p", badge, tag("span", _title(exhibit.node), class_="kind"), class_="exhibit-head")
    return tag(
        "div",
        head,
        *_body(exhibit, settings),
        class_="exhibit",
        id=f"box-{first}",
        data_citations=" ".join(map(str, exhibit.numbers)),
    )


def _title(node: Node | None) -> str:
    if node is None:
        return "Element"
    return node.label or {Modality.TABLE: "Table", Modality.FIGURE: "Figure"}.get(node.modality, node.kind.value.capitalize())


def _body(exhibit: Exhibit, settings: ReportSettings) -> list[Markup]:
    node = exhibit.node
    if node is None:
        return [*(tag("blockquote", quote, dir="auto") for quote in exhibit.quotes if quote), tag("p", GONE, class_="remark")]
    caption = [tag("p", node.caption, class_="caption", dir="auto")] if node.caption else []
    if exhibit.crop is not None:
        said = f"Figure: {cut(node.caption or node.picture_text or node.content or 'without words', 300)}"
        image = tag("img", src=exhibit.crop.address, alt=said, width=exhibit.crop.width, height=exhibit.crop.height)
        return [tag("div", image, class_="crop"), *caption, *_words_in_picture(node, exhibit, settings)]
    table = read_html(node.html) if node.html else Table((), 0)
    if table.rows:
        return [*caption, show_table(table, exhibit.quotes, settings.table_rows)]
    return [*caption, _text(node.content or node.picture_text, exhibit.quotes, settings.element_characters)]


def _words_in_picture(node: Node, exhibit: Exhibit, settings: ReportSettings) -> list[Markup]:
    words = node.picture_text or node.content
    return [_text(words, exhibit.quotes, settings.element_characters)] if words and words != node.caption else []


def _text(text: str, quotes: Sequence[str], room: int) -> Markup:
    """Return the text around the first quote, the quoted words of each marked; those that overlap an earlier one are not."""
    spans: list[tuple[int, int]] = []
    for quote in quotes:
        if (span := find_quote(text, quote)) and all(span[1] <= start or end <= span[0] for start, end in spans):
            spans.append(span)
    first = spans[0][0] if spans else 0
    begin = max(0, min(first - room // 3, len(text) - room))
    end = min(len(text), begin + room)
    parts: list[str] = ["… "] if begin else []
    at = begin
    for start, stop in sorted(spans):
        if begin <= start < end:
            at, before = min(stop, end), at
            parts += [text[before:start], tag("mark", text[start:at])]
    return tag("div", *parts, text[at:end], " …" if end < len(text) else "", class_="words", dir="auto")


def find_quote(text: str, quote: str) -> tuple[int, int] | None:
    """Return where the quoted words stand in the text, however they are spaced; None where they do not, or are too many."""
    words = quote.split()
    if not 0 < len(words) <= MOST_QUOTE_WORDS:
        return None
    found = re.search(r"\s+".join(map(re.escape, words)), text)
    return found.span() if found else None


def show_table(table: Table, quotes: Sequence[str], most_rows: int) -> Markup:
    """Return the table, rows that a quote repeats marked; of a long one the header and the rows around the first of them."""
    body = range(table.header_rows, len(table.rows))
    cited = [row for row in body if any(_repeats(quote, table.rows[row]) for quote in quotes)]
    first = cited[0] if cited else table.header_rows
    begin = max(table.header_rows, min(first - most_rows // 3, len(table.rows) - most_rows))
    shown = range(begin, min(len(table.rows), begin + most_rows))
    head = tag("thead", *(_row(table.rows[row], "th") for row in range(table.header_rows))) if table.header_rows else ""
    rows = (_row(table.rows[row], "td", class_="cited" if row in cited else None) for row in shown)
    left_out = len(body) - len(shown)
    note = [tag("p", f"{left_out:,} more rows are not shown.", class_="remark")] if left_out else []
    grid = tag("table", head, tag("tbody", *rows))
    return tag("div", tag("div", grid, class_="scroll", tabindex=0, role="region", aria_label="Table"), *note)


def _row(cells: Sequence[str], kind: str, class_: str | None = None) -> Markup:
    shown = [tag(kind, cut(cell, CELL_LETTERS), dir="auto", scope="col" if kind == "th" else None) for cell in cells[:MOST_COLUMNS]]
    more = [tag(kind, f"and {len(cells) - MOST_COLUMNS} more")] if len(cells) > MOST_COLUMNS else []
    return tag("tr", *shown, *more, class_=class_)


def _repeats(quote: str, cells: Sequence[str]) -> bool:
    """Say whether the quote holds every cell of the row; a row of nothing but a digit or two says too little to tell."""
    folded = " ".join(quote.casefold().split())
    said = [" ".join(cell.casefold().split()) for cell in cells if cell.strip()]
    return any(len(cell) >= SHORT_CELL for cell in said) and all(_says(folded, cell) for cell in said)


def _says(quote: str, cell: str) -> bool:
    """Say whether the quote holds the cell as words, or a number, of its own: 50 is not in 500, nor 1 in 1.3."""
    return cell in quote and re.search(rf"(?<![\w.,]){re.escape(cell)}(?!\w|[.,]\d)", quote) is not None
