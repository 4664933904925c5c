"""annual_report.pdf: how it is laid out. What it says stands in annual_report_text.py."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, NextPageTemplate, PageBreak, PageTemplate, Paragraph
from reportlab.platypus.tableofcontents import TableOfContents

from corpus_maker import annual_report_text, company
from corpus_maker.pdf_parts import NAVY, draw_footnotes, text_styles

FRONT_PAGES = 3  # cover, contents and letter are numbered i to iii
ROMAN = ("i", "ii", "iii")
STYLES = text_styles(11.5)


def printed_label(page: int) -> str:
    """The number printed on a physical page, counted from 1."""
    return ROMAN[page - 1] if page <= FRONT_PAGES else str(page - FRONT_PAGES)


class Report(BaseDocTemplate):
    """Runs headers, footers, bookmarks and page labels; gathers on which page each section begins."""

    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, pagesize=A4, invariant=1, title="Annual Report 2024", author=company.NAME, lang="en-GB")
        frame = Frame(25 * mm, 34 * mm, A4[0] - 50 * mm, A4[1] - 62 * mm, 0, 0, 0, 0)
        self.addPageTemplates(
            [PageTemplate("cover", [frame], onPage=self._cover), PageTemplate("text", [frame], onPageEnd=self._edges)]
        )
        self.section_pages: dict[str, str] = {}

    def _cover(self, canvas: Any, _: Any) -> None:
        canvas.addPageLabel(0, style="ROMAN_LOWER", start=1)
        canvas.addPageLabel(FRONT_PAGES, style="ARABIC", start=1)
        canvas.setFillColor(NAVY)
        canvas.rect(0, A4[1] * 0.42, A4[0], A4[1] * 0.58, stroke=0, fill=1)
        canvas.setFillColorRGB(1, 1, 1)
        for size, height, text in (
            (15, 0.86, company.NAME),
            (44, 0.68, "Annual Report"),
            (44, 0.62, "2024"),
            (14, 0.50, "Power that keeps its appointments"),
        ):
            canvas.setFont("Helvetica-Bold" if size > 20 else "Helvetica", size)
            canvas.drawString(25 * mm, A4[1] * height, text)

    def _edges(self, canvas: Any, doc: Any) -> None:
        canvas.saveState()
        draw_footnotes(canvas, STYLES["note"], 25 * mm, 32 * mm, A4[0] - 50 * mm)
        canvas.setFont("Helvetica", 8)
        canvas.setFillColorRGB(0.35, 0.4, 0.45)
        canvas.drawString(25 * mm, A4[1] - 16 * mm, company.NAME)
        canvas.drawRightString(A4[0] - 25 * mm, A4[1] - 16 * mm, "Annual Report 2024")
        canvas.line(25 * mm, A4[1] - 18 * mm, A4[0] - 25 * mm, A4[1] - 18 * mm)
        canvas.drawCentredString(A4[0] / 2, 12 * mm, printed_label(doc.page))
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # the name is reportlab's
        """Enter headings in the bookmarks and in the table of contents."""
        level = {"h1": 0, "h2": 1, "h3": 2}.get(flowable.style.name) if isinstance(flowable, Paragraph) else None
        if level is None:
            return
        text = flowable.getPlainText()
        key = text.split(" ")[0]
        self.canv.bookmarkPage(key)
        self.canv.addOutlineEntry(text, key, level, closed=level > 0)
        self.section_pages[key] = printed_label(self.page)
        if level < 2:
            self.notify("TOCEntry", (level, text, self.page - FRONT_PAGES, key))


def _contents() -> TableOfContents:
    """The page of contents, with dots up to the page numbers."""
    body = STYLES["body"]
    return TableOfContents(
        dotsMinLevel=0,
        levelStyles=[
            body.clone("toc1", fontName="Helvetica-Bold", fontSize=10, leading=12, spaceBefore=3, spaceAfter=1),
            body.clone("toc2", leftIndent=14, spaceAfter=0, fontSize=10, leading=12),
        ],
    )


def _build(section_pages: Mapping[str, str]) -> tuple[bytes, dict[str, str]]:
    """The report whose references to pages use section_pages, and the pages its sections really begin on."""
    out = io.BytesIO()
    report = Report(out)
    front: list[Flowable] = [
        NextPageTemplate("text"),
        PageBreak(),
        Paragraph("Contents", STYLES["h1"].clone("plain")),
        _contents(),
        PageBreak(),
    ]
    report.multiBuild([*front, *annual_report_text.story(section_pages, STYLES)])
    return out.getvalue(), report.section_pages


def make() -> bytes:
    """The PDF; built twice, since "see page 7" needs to know where things fell."""
    section_pages = _build({})[1]
    return _build(section_pages)[0]
