"""The cited pages, each with the boxes of its citations drawn where they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from storage.answer_records import Citation
from tasks.report.evidence import Evidence, Mark, Sheet
from tasks.report.exhibits import show_exhibit
from tasks.report.markup import Markup, join, tag
from tasks.report.pictures import Picture
from tasks.report.report_settings import ReportSettings
from tasks.report.wording import cut, numbers_line, place_line

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
