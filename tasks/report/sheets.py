"""The pages that are cited, with a box where each citation stands; a cited element itself, where there is no page to show it on."""

import re
from collections.abc import Iterator, Mapping, Sequence

from storage.answer_records import Citation
from storage.records import Modality, Node
from tasks.algorithms.table_rows import Table, read_html
from tasks.report.evidence import Evidence, Exhibit, Mark, Sheet
from tasks.report.markup import Markup, join, tag
from tasks.report.pictures import Picture
from tasks.report.report_settings import ReportSettings
from tasks.report.wording import GONE, cut, numbers_line, place_line

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


NEAR = 0.045
"""Badges nearer than this share of the page would hide each other."""
SMALLEST = 0.004
"""Shares of the page; a thinner box would be a line that nobody sees."""
CORNERS = ("start", "end", "low-start", "low-end")


def show_sheets(evidence: Evidence, citations: Sequence[Citation], settings: ReportSettings) -> Markup:
    """Return all cited pages, in the order of the citations."""
    return join(_sheet(sheet, evidence, citations, settings) for sheet in evidence.sheets)


def box_rules(sheets: Sequence[Sheet]) -> str:
    """Return the style sheet's rules that put each box in its place; the page's policy allows no style beside the text."""
    return "\n".join(rule for sheet in sheets for mark in sheet.marks for rule in _rules(mark))


def _rules(mark: Mark) -> Iterator[str]:
    x0, y0, x1, y1 = (min(max(edge, 0.0), 1.0) for edge in mark.box)
    width, height = max(x1 - x0, SMALLEST), max(y1 - y0, SMALLEST)
    place = f"left:{100 * x0:.3f}%;top:{100 * y0:.3f}%;width:{100 * width:.3f}%;height:{100 * height:.3f}%"
    yield f"#box-{mark.numbers[0]}{{{place}}}"


def _sheet(sheet: Sheet, evidence: Evidence, citations: Sequence[Citation], settings: ReportSettings) -> Markup:
    numbers = sorted(number for number in citation_targets([sheet]))
    where = place_line(evidence, sheet.document.id, sheet.document.name, sheet.page)
    caption = tag("figcaption", tag("span", where), tag("span", f"cited as {numbers_line(numbers)}", class_="cited-as"))
    leaf = [_leaf(sheet, sheet.picture, evidence, citations)] if sheet.picture else []
    remark = [tag("p", f"The page is not shown: {sheet.remark}.", class_="remark")] if sheet.remark else []
    return tag("figure", caption, *leaf, *remark, *(show_exhibit(exhibit, settings) for exhibit in sheet.exhibits), class_="sheet")


def _leaf(sheet: Sheet, picture: Picture, evidence: Evidence, citations: Sequence[Citation]) -> Markup:
    where = evidence.place(sheet.document.id, sheet.page) or "page"
    alt = f"{where} of {sheet.document.name}, with {len(sheet.marks)} cited place{'s' if len(sheet.marks) != 1 else ''} marked"
    image = tag("img", src=picture.address, alt=alt, width=picture.width, height=picture.height)
    corners = place_badges([mark.box for mark in sheet.marks])
    boxes = (_box(mark, corner, citations) for mark, corner in zip(sheet.marks, corners, strict=True))
    return tag("div", image, *boxes, class_="leaf")


def _box(mark: Mark, corner: str, citations: Sequence[Citation]) -> Markup:
    first = mark.numbers[0]
    quote = cut(" ".join(citations[first - 1].quote.split()), 160)
    said = f"Citation {numbers_line(mark.numbers)}: {quote}"
    numbers = tag("span", numbers_line(mark.numbers), class_=f"badge {corner}")
    listed = " ".join(map(str, mark.numbers))
    return tag(
        "a", numbers, class_="box", id=f"box-{first}", href=f"#citation-{first}", title=said, aria_label=said, data_citations=listed
    )


def place_badges(boxes: Sequence[tuple[float, float, float, float]]) -> list[str]:
    """Return for each box the first corner whose badge hides none of an earlier box, the first of all where every corner does."""
    taken: list[tuple[float, float]] = []
    corners = []
    for x0, y0, x1, y1 in boxes:
        points = dict(zip(CORNERS, ((x0, y0), (x1, y0), (x0, y1), (x1, y1)), strict=True))
        free = [name for name, (x, y) in points.items() if all(max(abs(x - a), abs(y - b)) > NEAR for a, b in taken)]
        corner = free[0] if free else CORNERS[0]
        taken.append(points[corner])
        corners.append(corner)
    return corners


def citation_targets(sheets: Sequence[Sheet]) -> Mapping[int, str]:
    """Return for each citation the id of the box, or of the element, that shows it."""
    shown = [place.numbers for sheet in sheets for place in sheet.marks]
    shown += [place.numbers for sheet in sheets for place in sheet.exhibits]
    return {number: f"box-{numbers[0]}" for numbers in shown for number in numbers}
