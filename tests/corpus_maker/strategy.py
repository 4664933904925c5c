"""strategy.pptx: six slides with titles, bullets, a table and a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence

from pptx import Presentation
from pptx.presentation import Presentation as Deck
from pptx.slide import Slide
from pptx.util import Cm, Pt

from corpus_maker import charts
from corpus_maker.office import with_fixed_dates

COST = {"2020": 262.0, "2022": 218.0, "2024": 187.0, "2026": 152.0, "2028": 118.0}  # pounds per MWh, the last two planned
MARKETS = [
    ("Market", "Sites", "MW possible", "First order"),
    ("Home waters", "9", "640", "2025"),
    ("Aldre coast", "14", "1,150", "2026"),
    ("Tarn islands", "5", "85", "2025"),
    ("Quessant", "7", "410", "2027"),
    ("River mouths", "22", "130", "licence only"),
]


def _bullets(deck: Deck, title: str, *points: str) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[1])
    _title(slide, title)
    frame = slide.placeholders[1].text_frame
    for place, point in enumerate(points):
        paragraph = frame.paragraphs[0] if place == 0 else frame.add_paragraph()
        paragraph.text = point


def _title(slide: Slide, text: str) -> None:
    if slide.shapes.title is None:
        raise ValueError(f"the layout of slide {text!r} has no title; choose one that has")
    slide.shapes.title.text = text


def _table(deck: Deck, title: str, rows: Sequence[tuple[str, ...]]) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    _title(slide, title)
    table = slide.shapes.add_table(len(rows), len(rows[0]), Cm(2), Cm(5), Cm(21), Cm(9)).table
    for row, cells in enumerate(rows):
        for column, text in enumerate(cells):
            table.cell(row, column).text = text


def _picture(deck: Deck, title: str, caption: str) -> None:
    slide = deck.slides.add_slide(deck.slide_layouts[5])
    _title(slide, title)
    chart = charts.line_chart(
        "Cost of energy",
        "pounds per MWh, 2026 and 2028 planned",
        list(COST),
        {"cost": list(COST.values())},
        lower=0,
        upper=300,
        size=(1000, 520),
    )
    slide.shapes.add_picture(io.BytesIO(charts.png(chart)), Cm(2.5), Cm(4.2), width=Cm(20))
    box = slide.shapes.add_textbox(Cm(2.5), Cm(15), Cm(20), Cm(1.5)).text_frame
    box.text = caption
    box.paragraphs[0].font.size = Pt(14)


def make() -> bytes:
    """The PPTX file."""
    deck = Presentation()
    deck.core_properties.author = deck.core_properties.last_modified_by = "Merrow Tidal Systems plc"
    deck.core_properties.title = "Strategy 2025 to 2030"
    cover = deck.slides.add_slide(deck.slide_layouts[0])
    _title(cover, "Strategy 2025 to 2030")
    cover.placeholders[1].text = "Merrow Tidal Systems plc\nBoard seminar, Braye, 21 November 2024"
    _bullets(
        deck,
        "Three aims",
        "Tidal energy below 120 pounds per MWh by 2028",
        "Every turbine available for 96 per cent of the year",
        "One third of revenue from service by 2027",
    )
    _picture(deck, "The road to 120 pounds", "Figure 1: Cost of energy from our own arrays, done and planned")
    _table(deck, "Where the next turbines go", MARKETS)
    _bullets(
        deck,
        "What the MT-4 changes",
        "No gearbox: 58 per cent of lost hours since 2016 came from it",
        "3.2 MW from a rotor of 27 metres",
        "First turbine at Lowrick Deep in August 2025",
        "Series of twelve a year from the hall at Braye, from 2027",
    )
    _bullets(
        deck,
        "What could stop us",
        "No type certificate before December 2026",
        "Support contract ends in 2033 without a successor",
        "Too few welders: 24 posts open at Braye",
        "A rival with a floating turbine",
    )
    out = io.BytesIO()
    deck.save(out)
    return with_fixed_dates(out.getvalue())
