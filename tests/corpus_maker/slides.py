"""quarterly_slides.pdf: a deck that was printed and scanned; every page is one picture and there is no text layer."""

from __future__ import annotations

import io
from collections.abc import Callable

import numpy as np
from PIL import Image, ImageDraw, ImageFilter
from reportlab import rl_config
from reportlab.lib.utils import ImageReader
from reportlab.pdfgen.canvas import Canvas

from corpus_maker import charts, company
from corpus_maker.charts import INK, font

SIZE = (1440, 810)
ORDERS = {"July": 6.9, "August": 4.1, "September": 17.5}
QUARTER = 2  # the third


def _slide(number: int, title: str) -> tuple[Image.Image, ImageDraw.ImageDraw]:
    """An empty slide with its title, footer and number."""
    picture = Image.new("RGB", SIZE, "#fdfdfb")
    draw = ImageDraw.Draw(picture)
    draw.rectangle((0, 0, SIZE[0], 14), "#0b4f6c")
    draw.text((80, 60), title, "#0b4f6c", font(46, bold=True))
    draw.text((80, 762), "Merrow Tidal Systems  |  Third quarter 2024 review", "#6a7b8c", font(20))
    draw.text((1360, 762), str(number), "#6a7b8c", font(20), anchor="ra")
    return picture, draw


def _bullets(number: int, title: str, points: list[str]) -> Image.Image:
    """A slide of bullets; a line break inside a point is a newline."""
    picture, draw = _slide(number, title)
    y = 190
    for point in points:
        draw.ellipse((90, y + 13, 104, y + 27), "#1b98a0")
        draw.multiline_text((130, y), point, INK, font(32), spacing=14)
        y += 100 if "\n" in point else 72
    return picture


def _title(number: int) -> Image.Image:
    picture = Image.new("RGB", SIZE, "#0b4f6c")
    draw = ImageDraw.Draw(picture)
    draw.text((120, 270), "Third quarter 2024 review", "white", font(64, bold=True))
    draw.text((120, 380), "Merrow Tidal Systems plc", "white", font(38))
    draw.text((120, 450), "Management meeting, Port Ellary, 17 October 2024", "#cfe3ea", font(30))
    draw.text((120, 700), "Presented by Maren Oldcastle, Director of Operations", "#cfe3ea", font(26))
    draw.text((1360, 762), str(number), "#cfe3ea", font(20), anchor="ra")
    return picture


def _agenda(number: int) -> Image.Image:
    return _bullets(
        number,
        "Agenda",
        [
            "Highlights of the quarter",
            "Orders",
            "Energy against target",
            "What went wrong",
            "Priorities for the fourth quarter",
            "Decisions we need today",
        ],
    )


def _highlights(number: int) -> Image.Image:
    total = sum(quarters[QUARTER] for quarters in company.ENERGY_GWH.values())
    target = sum(company.THIRD_QUARTER_TARGET_GWH.values())
    return _bullets(
        number,
        "Highlights",
        [
            f"{total:.1f} GWh delivered, target {target:.1f} GWh",
            "Orders worth 28.5 million pounds, best quarter of the year so far",
            "Five of eight turbines at Sula Race have the new coating",
            "No lost-time injury for 131 days",
            "Drive train of the MT-4 reached full load on the test bench",
            "Sick leave down to 3.2 per cent",
        ],
    )


def _orders(number: int) -> Image.Image:
    picture, _ = _slide(number, "Orders received")
    chart = charts.bar_chart(
        "Order intake by month", "millions of pounds", list(ORDERS), {"orders": list(ORDERS.values())}, upper=20, size=(1200, 580)
    )
    picture.paste(chart, (120, 150))
    return picture


def _targets(number: int) -> Image.Image:
    picture, draw = _slide(number, "Energy against target")
    rows = [("Site", "Target GWh", "Actual GWh", "Difference")]
    for site, target in company.THIRD_QUARTER_TARGET_GWH.items():
        actual = company.ENERGY_GWH[site][QUARTER]
        rows.append((site, f"{target:.1f}", f"{actual:.1f}", f"{actual - target:+.1f}"))
    sums = [sum(float(row[column]) for row in rows[1:]) for column in (1, 2)]
    rows.append(("All sites", f"{sums[0]:.1f}", f"{sums[1]:.1f}", f"{sums[1] - sums[0]:+.1f}"))
    for place, row in enumerate(rows):
        top = 180 + place * 82
        draw.rectangle((80, top, 1360, top + 82), "#e3eef2" if place == 0 else "#fdfdfb", "#7b8794", 2)
        for column, cell in enumerate(row):
            x = 110 if column == 0 else 520 + column * 260
            draw.text((x, top + 41), cell, INK, font(30, bold=place in (0, len(rows) - 1)), anchor="lm" if column == 0 else "rm")
    for x in (480, 820, 1080):
        draw.line((x, 180, x, 180 + 82 * len(rows)), "#7b8794", 2)
    return picture


def _troubles(number: int) -> Image.Image:
    return _bullets(
        number,
        "What went wrong",
        [
            "Braye Channel: weed in the intake of the cooling pumps,\nsix stops in August",
            "Sula Race: one lift lost to fog, one to a broken shackle",
            "Steel plate delivered 19 days late by the mill",
            "Spare seals for the MT-2 gearbox: 4 of 40 failed inspection",
        ],
    )


def _priorities(number: int) -> Image.Image:
    return _bullets(
        number,
        "Priorities for the fourth quarter",
        [
            "Coat the last three turbines at Sula Race before 15 November",
            "Fit finer screens at Braye Channel, budget 85,000 pounds",
            "Sign the charter for the crane vessel",
            "Ship two MT-2 turbines to Tarn Island Council",
        ],
    )


def _decisions(number: int) -> Image.Image:
    return _bullets(
        number,
        "Decisions we need today",
        [
            "Second spare gearbox: 640,000 pounds, delivery in 14 weeks",
            "Overtime at the Braye yard until Christmas",
            "Lowrick Deep as the first site of the MT-4",
            "Next review: 16 January 2025, led by Ansel Provost",
        ],
    )


SLIDES: tuple[Callable[[int], Image.Image], ...] = (
    _title,
    _agenda,
    _highlights,
    _orders,
    _targets,
    _troubles,
    _priorities,
    _decisions,
)


def _scanned(picture: Image.Image, noise: np.random.Generator) -> bytes:
    """The slide as a scanner leaves it: a little turned, soft, grainy; JPEG."""
    turned = picture.rotate(float(noise.uniform(-0.9, 0.9)), Image.Resampling.BICUBIC, fillcolor="#e9e7e1").filter(
        ImageFilter.GaussianBlur(0.7)
    )
    grain = noise.integers(-5, 6, (SIZE[1], SIZE[0], 1))
    pixels = np.clip(np.asarray(turned, dtype=np.int16) + grain, 0, 255).astype(np.uint8)
    out = io.BytesIO()
    Image.fromarray(pixels).save(out, "JPEG", quality=52)
    return out.getvalue()


def make() -> bytes:
    """The PDF: eight pages in landscape."""
    rl_config.useA85 = 0
    noise = np.random.default_rng(2024)
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=(960, 540), invariant=1)
    canvas.setTitle("Scan 0417")
    for place, slide in enumerate(SLIDES):
        scan = _scanned(slide(place + 1), noise)
        canvas.drawImage(ImageReader(io.BytesIO(scan)), 0, 0, 960, 540)
        canvas.showPage()
    canvas.save()
    return out.getvalue()
