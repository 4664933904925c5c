"""maintenance_manual.docx: headings, numbered steps, tables and a picture."""

from __future__ import annotations

import io
from collections.abc import Sequence

import docx
from docx.document import Document
from docx.shared import Cm

from corpus_maker import charts
from corpus_maker.office import with_fixed_dates

BOLTS = [
    ("Joint", "Bolt", "Torque Nm", "Tool"),
    ("Blade root to hub", "M36", "1,850", "hydraulic wrench"),
    ("Hub to main shaft", "M42", "2,940", "hydraulic wrench"),
    ("Gearbox to bedplate", "M30", "1,120", "hydraulic wrench"),
    ("High-speed shaft coupling", "M16", "195", "torque wrench"),
    ("Nacelle cover", "M12", "62", "torque wrench"),
    ("Anode holder", "M10", "38", "torque wrench"),
]
INTERVALS = [
    ("Part", "What is done", "Every"),
    ("Gearbox oil", "take a sample", "6 months"),
    ("Gearbox oil", "change, 212 litres of Tarnol 320", "36 months"),
    ("Shaft seals", "inspect under the lamp", "each lift"),
    ("Shaft seals", "replace", "48 months"),
    ("Pitch bearing", "grease, 4.5 kg", "12 months"),
    ("Anodes", "replace when less than 40 per cent is left", "each lift"),
    ("Blades", "wash, photograph, mend the coating", "each lift"),
]
WATER_IN_OIL = {"January": 120.0, "February": 180.0, "March": 150.0, "April": 390.0, "May": 860.0}  # parts per million


def _table(document: Document, caption: str, rows: Sequence[tuple[str, ...]]) -> None:
    document.add_paragraph(caption, style="Caption")
    table = document.add_table(rows=0, cols=len(rows[0]), style="Table Grid")
    for row in rows:
        for cell, text in zip(table.add_row().cells, row, strict=True):
            cell.text = text
    document.add_paragraph()


def _list(document: Document, style: str, *points: str) -> None:
    for point in points:
        document.add_paragraph(point, style=style)


def _before_the_lift(document: Document) -> None:
    document.add_heading("1 Before the lift", 1)
    document.add_paragraph(
        "This manual is for crews who service the MT-2 turbine on the quay. It does not replace the lift plan. Read Section "
        "4 first if you are called because of an alarm."
    )
    document.add_heading("1.1 Safety", 2)
    _list(
        document,
        "List Bullet",
        "Nobody stands under the nacelle, not even for a moment.",
        "The rotor is locked with both pins; one pin is not a lock.",
        "The generator is earthed before the cover is opened, and the key stays in the pocket of the one who works.",
        "Gearbox oil is hot for four hours after the turbine has stopped.",
    )
    document.add_heading("1.2 Tools and parts", 2)
    document.add_paragraph(
        "Bring the seal kit SK-14, two drums of oil, the lamp, and the torque tools named in Table 1. The hydraulic wrench "
        "is calibrated every six months; the date is on its handle."
    )
    _table(document, "Table 1: Bolts and their torque", BOLTS)


def _service(document: Document) -> None:
    document.add_heading("2 Service on the quay", 1)
    document.add_heading("2.1 Changing the shaft seals", 2)
    document.add_paragraph(
        "The seal of the high-speed shaft is the part that fails most often. A cut lip cannot be seen without the lamp."
    )
    _list(
        document,
        "List Number",
        "Drain the oil into a clean drum and keep a sample of half a litre.",
        "Undo the coupling of the high-speed shaft and slide it back by 60 mm.",
        "Pull the old seal with the puller; never use a screwdriver, which scores the shaft.",
        "Put the plastic sleeve of kit SK-14 over the spline. Without the sleeve the spline cuts the lip.",
        "Press the new seal in until it is flush, and inspect the lip under the lamp over the full circle.",
        "Fill with oil, turn the shaft by hand ten times, and wait thirty minutes for leaks.",
    )
    document.add_heading("2.2 Washing and coating the blades", 2)
    document.add_paragraph(
        "Wash with sea water at no more than 150 bar. Mend scratches longer than 5 cm with Slipfin; it needs nine hours "
        "above 8 degrees Celsius to cure. Photograph each blade in nine sections."
    )
    document.add_heading("3 Intervals", 1)
    document.add_paragraph("Table 2 lists what is due and when. What is due within three months of a lift is done at that lift.")
    _table(document, "Table 2: Intervals of maintenance", INTERVALS)


def _alarms(document: Document) -> None:
    document.add_heading("4 Alarms", 1)
    document.add_heading("4.1 Water in the oil", 2)
    document.add_paragraph(
        "Sea water in the gearbox destroys the bearings within weeks. Up to 200 parts per million are normal. Above 300 take "
        "a second sample within a week; above 500 stop the turbine and plan a lift. "
        "Figure 1 shows the course of a real leak, from a turbine that was stopped in time."
    )
    chart = charts.line_chart(
        "Water in the gearbox oil",
        "parts per million, turbine FN-03",
        list(WATER_IN_OIL),
        {"water": list(WATER_IN_OIL.values())},
        lower=0,
        upper=1000,
        size=(1000, 520),
    )
    document.add_picture(io.BytesIO(charts.png(chart)), width=Cm(14))
    document.add_paragraph("Figure 1: Water in the oil of turbine FN-03 before its seal was replaced", style="Caption")
    document.add_heading("4.2 Vibration", 2)
    document.add_paragraph(
        "The alarm trips at 7.1 mm/s. If the frequency is that of the rotor, suspect growth on a blade. If it is that of the "
        "high-speed shaft, suspect the coupling or a bearing, and take an oil sample before anything else."
    )
    document.add_heading("5 After the lift", 1)
    document.add_paragraph(
        "The foreman signs the sheet and sends it to the service base on the same day. The turbine may be lowered when the "
        "oil has been free of leaks for thirty minutes and both pins are back in their box."
    )


def make() -> bytes:
    """The DOCX file."""
    document = docx.Document()
    document.core_properties.author = document.core_properties.last_modified_by = "Merrow Tidal Systems plc"
    document.core_properties.title = "Maintenance manual MT-2"
    document.add_heading("Maintenance manual MT-2", 0)
    document.add_paragraph("Merrow Tidal Systems plc, issue 7, January 2025")
    for part in (_before_the_lift, _service, _alarms):
        part(document)
    out = io.BytesIO()
    document.save(out)
    return with_fixed_dates(out.getvalue())
