"""The figures of paper.pdf: two drawn as vectors, whose words are text of the page, and two as pictures."""

from __future__ import annotations

from reportlab.graphics.shapes import Drawing, Line, Polygon, Rect, String
from reportlab.lib import colors
from reportlab.platypus import Flowable, Paragraph

from corpus_maker import charts
from corpus_maker.pdf_parts import NAVY, SHADE, picture

HORIZONS = ("1", "2", "4", "8", "12", "16")  # weeks
ERRORS = {
    "persistence": (1.9, 3.0, 4.6, 7.1, 9.4, 11.2),
    "power only": (1.6, 2.1, 2.9, 4.2, 5.6, 6.9),
    "FOULCAST": (1.2, 1.5, 1.9, 2.6, 3.4, 4.3),
}
COVERAGE = {"0": 3.0, "3": 14.0, "6": 31.0, "9": 46.0, "12": 58.0, "15": 64.0, "18": 67.0}
WEIGHTS = {"no vibration": 4.2, "no temperature": 3.1, "no tide phase": 3.6, "all inputs": 2.6}


class Equation(Flowable):
    """A formula in the middle of the column with its number at the right edge."""

    def __init__(self, formula: Paragraph, number: int) -> None:
        super().__init__()
        self._formula, self._number = formula, number

    def wrap(self, width: float, _: float) -> tuple[float, float]:
        """The column's width and a line with room around it."""
        self.width = width
        return width, 26

    def draw(self) -> None:
        """Draw formula and number on one line."""
        self._formula.wrap(self.width - 40, 26)
        self._formula.drawOn(self.canv, 10, 8)
        self.canv.setFont("Times-Roman", 10)
        self.canv.drawRightString(self.width, 11, f"({self._number})")


def method(width: float) -> Drawing:
    """Figure 1: three inputs, the state, the forecast, the decision."""
    drawing = Drawing(width, 128)
    inputs, box = ("Power", "Vibration", "Sea temperature"), width * 0.29
    for place, name in enumerate(inputs):
        y = 96 - place * 44
        _box(drawing, 0, y, box, name)
        _arrow(drawing, box, y + 14, width * 0.37, 66)
    for x, name in ((0.37, "Fouling state"), (0.72, "Forecast")):
        _box(drawing, width * x, 52, width * 0.28, name)
    _arrow(drawing, width * 0.65, 66, width * 0.72, 66)
    _box(drawing, width * 0.72, 4, width * 0.28, "Lift or wait")
    _arrow(drawing, width * 0.86, 52, width * 0.86, 32)
    return drawing


def _box(drawing: Drawing, x: float, y: float, width: float, text: str) -> None:
    drawing.add(Rect(x, y, width, 28, fillColor=SHADE, strokeColor=NAVY, strokeWidth=0.8))
    drawing.add(String(x + width / 2, y + 11, text, fontName="Helvetica", fontSize=8, textAnchor="middle"))


def _arrow(drawing: Drawing, x0: float, y0: float, x1: float, y1: float) -> None:
    drawing.add(Line(x0, y0, x1, y1, strokeColor=NAVY, strokeWidth=0.9))
    downwards = [x1, y1, x1 - 3, y1 + 5, x1 + 3, y1 + 5]
    head = downwards if x0 == x1 else [x1, y1, x1 - 6, y1 - 3, x1 - 6, y1 + 3]
    drawing.add(Polygon(head, fillColor=NAVY, strokeColor=NAVY))


def coverage(width: float) -> Flowable:
    """Figure 2, a picture: growth on a blade, month by month."""
    chart = charts.line_chart(
        "Mean coverage of a blade",
        "per cent, by months since cleaning",
        list(COVERAGE),
        {"coverage": list(COVERAGE.values())},
        lower=0,
        upper=80,
        size=(840, 540),
    )
    return picture(chart, width)


def errors(width: float) -> Flowable:
    """Figure 3, a picture: error against horizon for three methods."""
    return picture(
        charts.line_chart("Error of the forecast", "points, by weeks ahead", HORIZONS, ERRORS, lower=0, upper=12, size=(840, 560)),
        width,
    )


def ablation(width: float) -> Drawing:
    """Figure 4: bars as vectors, with the error when one input is left out."""
    drawing = Drawing(width, 104)
    for place, (name, value) in enumerate(WEIGHTS.items()):
        y = 82 - place * 26
        drawing.add(String(78, y + 5, name, fontName="Helvetica", fontSize=8, textAnchor="end"))
        drawing.add(
            Rect(
                84,
                y,
                value / 4.5 * (width - 120),
                16,
                fillColor=NAVY if name == "all inputs" else colors.HexColor("#8fb3c1"),
                strokeColor=None,
            )
        )
        drawing.add(String(90 + value / 4.5 * (width - 120), y + 5, f"{value:.1f}", fontName="Helvetica", fontSize=8))
    return drawing
