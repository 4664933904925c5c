"""budget.xlsx: three sheets; sums are values, not formulas, since nobody has opened the file in a program that reckons."""

from __future__ import annotations

import io

from openpyxl import Workbook
from openpyxl.styles import Alignment, Font, PatternFill
from openpyxl.worksheet.worksheet import Worksheet

from corpus_maker.office import with_fixed_dates

# Thousands of pounds: the four quarters of 2025.
SHEETS: dict[str, dict[str, tuple[int, int, int, int]]] = {
    "Operations": {
        "Crew wages": (820, 835, 850, 840),
        "Vessel charter": (610, 980, 940, 570),
        "Fuel": (145, 190, 185, 150),
        "Gearbox spares": (320, 160, 160, 80),
        "Shaft seals": (24, 24, 18, 18),
        "Gearbox oil": (31, 42, 42, 31),
        "Blade coating": (90, 410, 430, 60),
        "Quay rent": (66, 66, 66, 66),
        "Insurance": (275, 275, 275, 275),
        "Cable survey": (0, 120, 280, 0),
        "Training": (38, 22, 22, 46),
    },
    "Research": {
        "MT-4 first turbine": (1450, 1620, 980, 240),
        "MT-4 drive train tests": (380, 260, 120, 60),
        "Lowrick Deep site works": (210, 640, 890, 150),
        "Type certificate fees": (0, 95, 95, 190),
        "Fouling forecast, with Hallmouth": (55, 55, 55, 55),
        "Coating trials": (70, 110, 90, 40),
        "Patents": (28, 28, 32, 32),
        "Design office wages": (690, 700, 710, 710),
        "Test bench upkeep": (85, 60, 60, 85),
        "Computers and licences": (130, 45, 45, 45),
    },
    "Administration": {
        "Wages": (980, 985, 990, 1010),
        "Audit and law": (210, 90, 60, 80),
        "Buildings": (155, 140, 135, 160),
        "Travel": (48, 62, 55, 58),
        "Apprentices": (112, 112, 128, 128),
        "Information technology": (175, 160, 160, 190),
        "Drills against break-ins": (0, 35, 0, 35),
        "Annual meeting": (5, 42, 0, 0),
        "Community fund": (25, 25, 25, 25),
        "Recruiting": (40, 55, 30, 35),
    },
}


def _fill(sheet: Worksheet, rows: dict[str, tuple[int, int, int, int]]) -> None:
    """A merged heading over the quarters, one row an item, and the totals."""
    sheet.append([f"Budget 2025: {sheet.title}, thousands of pounds"])
    sheet.append(["Item", "Quarter", None, None, None, "Year"])
    sheet.append([None, "Q1", "Q2", "Q3", "Q4", None])
    for cells in ("A1:F1", "B2:E2", "A2:A3", "F2:F3"):
        sheet.merge_cells(cells)
    for item, quarters in rows.items():
        sheet.append([item, *quarters, sum(quarters)])
    totals = [sum(quarters[place] for quarters in rows.values()) for place in range(4)]
    sheet.append(["Total", *totals, sum(totals)])
    sheet.column_dimensions["A"].width = 36
    for row in (1, 2, 3, sheet.max_row):
        for cell in sheet[row]:
            cell.font = Font(bold=True)
            cell.alignment = Alignment(horizontal="center" if row in (2, 3) else None)
            cell.fill = PatternFill("solid", fgColor="E3EEF2")
    for cells in sheet.iter_rows(min_row=4, min_col=2, max_col=6):
        for cell in cells:
            cell.number_format = "#,##0"


def make() -> bytes:
    """The XLSX file."""
    book = Workbook()
    book.remove(book.worksheets[0])
    book.properties.creator = "Merrow Tidal Systems plc"
    for title, rows in SHEETS.items():
        _fill(book.create_sheet(title), rows)
    out = io.BytesIO()
    book.save(out)
    return with_fixed_dates(out.getvalue())
