"""paper.pdf: how the two-column paper is laid out. What it says stands in paper_text.py."""

from __future__ import annotations

import io
from typing import Any

from reportlab.lib.pagesizes import A4
from reportlab.lib.units import mm
from reportlab.platypus import BaseDocTemplate, Flowable, Frame, NextPageTemplate, PageTemplate, Paragraph

from corpus_maker import paper_text
from corpus_maker.pdf_parts import draw_footnotes, text_styles

STYLES = text_styles(11.5)
MARGIN, GAP, TITLE_HEIGHT = 18 * mm, 11 * mm, 118
COLUMN = (A4[0] - 2 * MARGIN - GAP) / 2
FOOT, HEAD = 26 * mm, 20 * mm


class Paper(BaseDocTemplate):
    """Two columns; on the first page they begin below the title. Sections become bookmarks."""

    def __init__(self, out: io.BytesIO) -> None:
        super().__init__(out, pagesize=A4, invariant=1, title=paper_text.TITLE, author="L. Ostrander, J. Bellweather, K. Imai")
        height = A4[1] - FOOT - HEAD
        columns = [MARGIN, MARGIN + COLUMN + GAP]
        title = Frame(MARGIN, A4[1] - HEAD - TITLE_HEIGHT, A4[0] - 2 * MARGIN, TITLE_HEIGHT, 0, 0, 0, 0)
        first = [Frame(x, FOOT, COLUMN, height - TITLE_HEIGHT, 0, 0, 0, 0) for x in columns]
        later = [Frame(x, FOOT, COLUMN, height, 0, 0, 0, 0) for x in columns]
        self.addPageTemplates(
            [PageTemplate("first", [title, *first], onPageEnd=self._edges), PageTemplate("later", later, onPageEnd=self._edges)]
        )

    def _edges(self, canvas: Any, doc: Any) -> None:
        canvas.saveState()
        draw_footnotes(canvas, STYLES["note"], MARGIN, FOOT - 3 * mm, COLUMN)
        canvas.setFont("Times-Roman", 8.5)
        if doc.page > 1:
            canvas.drawString(MARGIN, A4[1] - 13 * mm, "Ostrander, Bellweather and Imai")
            canvas.drawRightString(A4[0] - MARGIN, A4[1] - 13 * mm, "Forecasting biofouling of tidal turbine blades")
        canvas.drawCentredString(A4[0] / 2, 10 * mm, str(doc.page))
        canvas.restoreState()

    def afterFlowable(self, flowable: Flowable) -> None:  # the name is reportlab's
        """Enter sections in the bookmarks."""
        level = {"h1": 0, "h2": 1}.get(flowable.style.name) if isinstance(flowable, Paragraph) else None
        if level is not None:
            text = flowable.getPlainText()
            self.canv.bookmarkPage(text)
            self.canv.addOutlineEntry(text, text, level)


def make() -> bytes:
    """The PDF of the paper."""
    out = io.BytesIO()
    head, body = paper_text.story(STYLES, COLUMN)
    Paper(out).build([NextPageTemplate("later"), *head, *body])
    return out.getvalue()
