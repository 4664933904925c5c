"""Charts as pictures: their words and values are pixels, as in many real reports.

The letters are those of reportlab's own Vera, so that a machine without fonts makes the same picture.
"""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from pathlib import Path

import reportlab
from PIL import Image, ImageDraw, ImageFont

_FONTS = Path(reportlab.__file__).parent / "fonts"
COLOURS = ("#0b4f6c", "#1b98a0", "#f2a541", "#b5446e", "#6a7b8c")
INK, GRID, PAPER = "#1f2933", "#d5dbe1", "#ffffff"


def font(size: int, *, bold: bool = False) -> ImageFont.FreeTypeFont:
    """Vera at a size in pixels."""
    return ImageFont.truetype(str(_FONTS / ("VeraBd.ttf" if bold else "Vera.ttf")), size, layout_engine=ImageFont.Layout.BASIC)


def png(picture: Image.Image, colours: int = 48) -> bytes:
    """The picture as PNG, its colours reduced to keep it small."""
    out = io.BytesIO()
    picture.quantize(colours, method=Image.Quantize.MEDIANCUT, dither=Image.Dither.NONE).save(out, "PNG", optimize=True)
    return out.getvalue()


class Plot:
    """A titled plot area with a value axis from 0 (or lower) to upper, drawn on a fresh picture."""

    def __init__(self, title: str, unit: str, size: tuple[int, int], lower: float, upper: float) -> None:
        self.picture = Image.new("RGB", size, PAPER)
        self.draw = ImageDraw.Draw(self.picture)
        self.left, self.top, self.right, self.bottom = 110, 120, size[0] - 40, size[1] - 80
        self._lower, self._upper = lower, upper
        self.draw.text((40, 22), title, INK, font(30, bold=True))
        self.draw.text((40, 66), unit, "#52606d", font(22))
        for step in range(6):
            value = lower + (upper - lower) * step / 5
            self.draw.line((self.left, self.y(value), self.right, self.y(value)), GRID, 2)
            self.draw.text((self.left - 14, self.y(value)), f"{value:g}", INK, font(20), anchor="rm")

    def y(self, value: float) -> float:
        """The height in pixels at which a value stands."""
        return self.bottom - (value - self._lower) / (self._upper - self._lower) * (self.bottom - self.top)

    def legend(self, names: Sequence[str]) -> None:
        """Names of the series, in their colours, right of the unit."""
        x = float(self.right)
        for place in range(len(names) - 1, -1, -1):
            x -= self.draw.textlength(names[place], font(20))
            self.draw.text((x, 80), names[place], INK, font(20), anchor="lm")
            self.draw.rectangle((x - 28, 71, x - 10, 89), COLOURS[place])
            x -= 50

    def categories(self, names: Sequence[str]) -> list[float]:
        """Write the names under the axis; their middles in pixels."""
        width = (self.right - self.left) / len(names)
        middles = [self.left + width * (place + 0.5) for place in range(len(names))]
        for middle, name in zip(middles, names, strict=True):
            self.draw.text((middle, self.bottom + 28), name, INK, font(22), anchor="mm")
        self.draw.line((self.left, self.bottom, self.right, self.bottom), INK, 3)
        return middles


def bar_chart(
    title: str,
    unit: str,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    upper: float,
    size: tuple[int, int] = (1200, 640),
) -> Image.Image:
    """Grouped bars with their values above them; each series has one value a name."""
    plot = Plot(title, unit, size, 0, upper)
    if len(series) > 1:
        plot.legend(list(series))
    width = (plot.right - plot.left) / len(names) * 0.78 / len(series)
    for middle, place in zip(plot.categories(names), range(len(names)), strict=True):
        for number, values in enumerate(series.values()):
            left = middle + (number - len(series) / 2) * width
            plot.draw.rectangle((left + 3, plot.y(values[place]), left + width - 3, plot.bottom), COLOURS[number])
            plot.draw.text((left + width / 2, plot.y(values[place]) - 16), f"{values[place]:g}", INK, font(19), anchor="mm")
    return plot.picture


def line_chart(
    title: str,
    unit: str,
    names: Sequence[str],
    series: Mapping[str, Sequence[float]],
    *,
    lower: float,
    upper: float,
    size: tuple[int, int] = (1200, 600),
) -> Image.Image:
    """Lines with a mark and a value at each point."""
    plot = Plot(title, unit, size, lower, upper)
    if len(series) > 1:
        plot.legend(list(series))
    middles = plot.categories(names)
    for number, values in enumerate(series.values()):
        points = [(x, plot.y(value)) for x, value in zip(middles, values, strict=True)]
        plot.draw.line(points, COLOURS[number], 5, joint="curve")
        for (x, y), value in zip(points, values, strict=True):
            plot.draw.ellipse((x - 8, y - 8, x + 8, y + 8), COLOURS[number])
            plot.draw.text((x, y - 26), f"{value:g}", INK, font(20), anchor="mm")
    return plot.picture


def side_bars(title: str, unit: str, values: Mapping[str, float], *, size: tuple[int, int] = (1200, 520)) -> Image.Image:
    """Horizontal bars, the name on the left, the value at the end."""
    picture = Image.new("RGB", size, PAPER)
    draw = ImageDraw.Draw(picture)
    draw.text((40, 22), title, INK, font(30, bold=True))
    draw.text((40, 66), unit, "#52606d", font(22))
    height = (size[1] - 140) / len(values)
    for place, (name, value) in enumerate(values.items()):
        top = 115 + place * height
        end = 330 + (size[0] - 440) * value / max(values.values())
        draw.text((312, top + height / 2), name, INK, font(22), anchor="rm")
        draw.rectangle((330, top + 10, end, top + height - 10), COLOURS[place % len(COLOURS)])
        draw.text((end + 14, top + height / 2), f"{value:g}", INK, font(22, bold=True), anchor="lm")
    return picture


def site_map(depths: Mapping[str, tuple[int, int, int]], *, size: tuple[int, int] = (1200, 640)) -> Image.Image:
    """A sketch of the coast; depths maps a site to its place in the picture and its water depth in metres."""
    picture = Image.new("RGB", size, "#dcecf2")
    draw = ImageDraw.Draw(picture)
    draw.polygon(
        [(0, 0), (330, 0), (390, 90), (300, 190), (360, 300), (250, 400), (290, 520), (180, 640), (0, 640)], "#c9d6b5", "#8a9a70"
    )
    draw.polygon(
        [(1200, 0), (1010, 0), (940, 120), (1030, 210), (1000, 330), (1090, 430), (1060, 640), (1200, 640)], "#c9d6b5", "#8a9a70"
    )
    draw.polygon([(560, 210), (660, 180), (730, 260), (690, 350), (590, 360), (530, 290)], "#c9d6b5", "#8a9a70")
    draw.text((600, 36), "Sites and water depth", INK, font(30, bold=True), anchor="mm")
    draw.text((630, 275), "Isle of Tarn", INK, font(24), anchor="mm")
    draw.text((110, 300), "Port Ellary", INK, font(24), anchor="mm")
    for name, (x, y, metres) in depths.items():
        draw.ellipse((x - 12, y - 12, x + 12, y + 12), "#b5446e")
        draw.text((x, y + 30), name, INK, font(24, bold=True), anchor="mm")
        draw.text((x, y + 60), f"{metres} m deep", INK, font(22), anchor="mm")
    draw.line((860, 600, 1000, 600), INK, 5)
    draw.text((930, 578), "10 km", INK, font(22), anchor="mm")
    return picture
