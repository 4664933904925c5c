"""What the two born-digital PDFs share: styles, ruled tables, captions, pictures and footnotes."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import Any

from PIL import Image as Pillow
from reportlab import rl_config
from reportlab.lib import colors
from reportlab.lib.enums import TA_CENTER, TA_JUSTIFY, TA_RIGHT
from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, Image, KeepTogether, Paragraph, Spacer, Table, TableStyle

from corpus_maker.charts import png

rl_config.useA85 = 0  # binary streams: a quarter smaller

NAVY, SHADE = colors.HexColor("#0b4f6c"), colors.HexColor("#e3eef2")


def text_styles(size: float) -> dict[str, ParagraphStyle]:
    """The styles of a document whose body has a size in points."""
    body = ParagraphStyle(
        "body",
        fontName="Times-Roman",
        fontSize=size,
        leading=size * 1.32,
        alignment=TA_JUSTIFY,
        spaceAfter=size * 0.62,
        allowWidows=0,
    )
    head = ParagraphStyle("head", fontName="Helvetica-Bold", textColor=NAVY, keepWithNext=1)
    return {
        "body": body,
        "h1": ParagraphStyle("h1", head, fontSize=size * 1.7, leading=size * 2.1, spaceBefore=size * 1.1, spaceAfter=size * 0.8),
        "h2": ParagraphStyle("h2", head, fontSize=size * 1.24, leading=size * 1.6, spaceBefore=size * 0.8, spaceAfter=size * 0.5),
        "h3": ParagraphStyle("h3", head, fontSize=size * 1.06, leading=size * 1.4, spaceBefore=size * 0.6, spaceAfter=size * 0.4),
        "caption": ParagraphStyle(
            "caption", body, fontName="Times-Italic", fontSize=size * 0.9, leading=size * 1.15, alignment=TA_CENTER
        ),
        "bullet": ParagraphStyle("bullet", body, leftIndent=14, bulletIndent=3, spaceAfter=size * 0.25),
        "note": ParagraphStyle("note", body, fontSize=size * 0.76, leading=size * 0.95, spaceAfter=0),
        "cell": ParagraphStyle("cell", body, fontSize=size * 0.86, leading=size * 1.1, alignment=0, spaceAfter=0),
        "number": ParagraphStyle("number", body, fontSize=size * 0.86, leading=size * 1.1, alignment=TA_RIGHT, spaceAfter=0),
    }


class Footnote(Flowable):
    """Takes no room where it stands; the template draws it at the foot of the page it fell on."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.text = text

    def wrap(self, *_: float) -> tuple[float, float]:
        """No room."""
        return 0, 0

    def draw(self) -> None:
        """Leave the text with the canvas for the foot of this page."""
        self.canv.footnotes = [*getattr(self.canv, "footnotes", []), self.text]


def draw_footnotes(canvas: Any, style: ParagraphStyle, left: float, top: float, width: float) -> None:
    """Draw, under a short rule, the footnotes that the page has gathered."""
    notes, canvas.footnotes = getattr(canvas, "footnotes", []), []
    if notes:
        canvas.setLineWidth(0.5)
        canvas.line(left, top, left + width / 4, top)
    for note in notes:
        paragraph = Paragraph(note, style)
        height = paragraph.wrap(width, 100)[1]
        top -= height + 3
        paragraph.drawOn(canvas, left, top)


def ruled_table(
    rows: Sequence[Sequence[str]],
    widths: Sequence[float],
    styles: dict[str, ParagraphStyle],
    *,
    bold: Sequence[int] = (),
    words: int = 1,
) -> Table:
    """A table with all its rules and its header row on every page; words counts the columns set left, bold names rows of sums."""
    cells = [
        [
            Paragraph(f"<b>{cell}</b>" if place == 0 or place in bold else cell, styles["cell" if column < words else "number"])
            for column, cell in enumerate(row)
        ]
        for place, row in enumerate(rows)
    ]
    strong = [place % len(rows) for place in bold]
    table = Table(cells, colWidths=list(widths), repeatRows=1)
    table.setStyle(
        TableStyle(
            [
                ("GRID", (0, 0), (-1, -1), 0.5, colors.HexColor("#7b8794")),
                ("BACKGROUND", (0, 0), (-1, 0), SHADE),
                ("VALIGN", (0, 0), (-1, -1), "MIDDLE"),
                ("TOPPADDING", (0, 0), (-1, -1), 2.5),
                ("BOTTOMPADDING", (0, 0), (-1, -1), 3),
                *[("BACKGROUND", (0, place), (-1, place), colors.HexColor("#f5f7f9")) for place in strong],
            ]
        )
    )
    return table


def table_with_caption(caption: str, table: Table, styles: dict[str, ParagraphStyle], *, split: bool = False) -> list[Flowable]:
    """The caption above its table; they stay together unless the table may run over a page break."""
    head = Paragraph(caption, ParagraphStyle("above", styles["caption"], keepWithNext=not split, spaceBefore=4, spaceAfter=4))
    return [head, table, Spacer(1, 10)] if split else [KeepTogether([head, table, Spacer(1, 10)])]


def picture(image: Pillow.Image, width: float) -> Image:
    """A picture as a flowable, its width in points."""
    return Image(io.BytesIO(png(image)), width=width, height=width * image.height / image.width)


def figure(drawing: Flowable, caption: str, styles: dict[str, ParagraphStyle]) -> KeepTogether:
    """A figure with its caption below."""
    return KeepTogether([Spacer(1, 4), drawing, Spacer(1, 3), Paragraph(caption, styles["caption"])])
