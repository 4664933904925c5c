"""What annual_report.pdf says in its Section 7, the accounts, and in Section 8."""

from __future__ import annotations

from collections.abc import Mapping

from reportlab.lib.styles import ParagraphStyle
from reportlab.platypus import Flowable, PageBreak, Paragraph

from corpus_maker.pdf_parts import Footnote, ruled_table, table_with_caption

Styles = dict[str, ParagraphStyle]
YEARS = ["£ million", "2024", "2023"]

INCOME = [
    YEARS,
    ["Revenue", "184.6", "152.3"],
    ["Cost of sales", "(112.9)", "(96.2)"],
    ["Gross profit", "71.7", "56.1"],
    ["Research and development", "(18.4)", "(15.7)"],
    ["Administrative expenses", "(21.6)", "(19.3)"],
    ["Operating profit", "31.7", "21.1"],
    ["Finance costs", "(4.9)", "(4.2)"],
    ["Profit before tax", "26.8", "16.9"],
    ["Tax", "(6.1)", "(3.8)"],
    ["Profit for the year", "20.7", "13.1"],
]
BALANCE = [
    YEARS,
    ["Property, plant and equipment", "146.2", "128.7"],
    ["Intangible assets", "22.5", "19.8"],
    ["Inventories", "34.1", "30.6"],
    ["Trade and other receivables", "41.8", "35.2"],
    ["Cash", "37.9", "28.4"],
    ["Total assets", "282.5", "242.7"],
    ["Borrowings", "68.0", "61.5"],
    ["Trade and other payables", "36.4", "31.9"],
    ["Lease liabilities", "12.6", "11.4"],
    ["Warranty provision", "9.7", "7.6"],
    ["Total liabilities", "126.7", "112.4"],
    ["Equity", "155.8", "130.3"],
]
CASH = [
    YEARS,
    ["Cash from operations", "38.2", "27.6"],
    ["Purchase of property, plant and equipment", "(31.8)", "(21.5)"],
    ["Development costs capitalised", "(4.3)", "(3.4)"],
    ["New borrowings", "6.5", "7.0"],
    ["Shares issued", "8.4", "0.0"],
    ["Dividends paid", "(3.6)", "(1.8)"],
    ["Payments of leases", "(3.9)", "(3.4)"],
    ["Change in cash", "9.5", "4.5"],
    ["Cash at the end of the year", "37.9", "28.4"],
]
WARRANTY = [
    YEARS,
    ["At 1 January", "7.6", "6.2"],
    ["Added for turbines delivered", "4.4", "3.1"],
    ["Used: gearbox of CS-09", "(1.3)", "0.0"],
    ["Used: other repairs", "(0.6)", "(1.4)"],
    ["Released", "(0.4)", "(0.3)"],
    ["At 31 December", "9.7", "7.6"],
]
LOANS = [
    ["Lender", "£ million", "Rate", "Due"],
    ["Ellary Savings Bank, term loan", "32.0", "5.1 %", "June 2028"],
    ["Coastal Development Fund", "24.0", "3.6 %", "March 2032"],
    ["Green bond", "12.0", "4.9 %", "October 2029"],
    ["Total borrowings", "68.0", "", ""],
]
GLOSSARY = [
    ["Term", "Meaning"],
    ["Availability", "share of the year in which a turbine was able to run, whether or not the tide let it"],
    ["GWh", "gigawatt hour, a million kilowatt hours"],
    ["Lift", "raising a turbine from its base to a vessel or quay for service"],
    ["Neap tide", "the weak tide after a half moon, in which lifts are made"],
    ["Spring tide", "the strong tide after a new or a full moon"],
]


def _prose(styles: Styles, *paragraphs: str) -> list[Flowable]:
    return [Paragraph(text, styles["body"]) for text in paragraphs]


def story(pages: Mapping[str, str], styles: Styles) -> list[Flowable]:
    """The flowables of Sections 7 and 8; pages maps a section's number to the page number printed where it begins."""
    return [*_statements(styles), *_notes(pages, styles), *_end(styles)]


def _statements(s: Styles) -> list[Flowable]:
    return [
        PageBreak(),
        Paragraph("7 Financial statements", s["h1"]),
        Paragraph("7.1 Income statement", s["h2"]),
        *_prose(
            s,
            "Operating profit rose by half, to £31.7 million. The gross margin improved from 36.8 to 38.8 per cent, because "
            "the MT-3 is now built in series. We "
            "spent £18.4 million on research and development, most of it on the MT-4. Table 7 is the income statement.",
        ),
        *table_with_caption(
            "Table 7: Income statement for the year to 31 December", ruled_table(INCOME, [230, 90, 90], s, bold=[3, 6, 8, 10]), s
        ),
        Paragraph("7.2 Balance sheet", s["h2"]),
        *_prose(
            s,
            "Total assets grew to £282.5 million. The largest addition was the assembly hall at the Braye yard, which cost "
            "£14.9 million and was opened in "
            "July. Table 8 is the balance sheet.",
        ),
        *table_with_caption("Table 8: Balance sheet at 31 December", ruled_table(BALANCE, [230, 90, 90], s, bold=[6, 11, 12]), s),
        Paragraph("7.3 Cash flow", s["h2"]),
        *_prose(
            s,
            "Operations brought in £38.2 million of cash, which paid for all that we invested. In June we issued 2.1 million "
            "new shares at four pounds each. "
            "Table 9 shows where the cash came from and where it went.",
        ),
        *table_with_caption("Table 9: Cash flow for the year to 31 December", ruled_table(CASH, [230, 90, 90], s, bold=[8, 9]), s),
    ]


def _notes(pages: Mapping[str, str], s: Styles) -> list[Flowable]:
    return [
        Paragraph("7.4 Basis of the accounts", s["h2"]),
        Paragraph("7.4.1 Recognising revenue", s["h3"]),
        *_prose(
            s,
            "A turbine is counted as sold when it has run for 240 hours at the customer's site without a "
            "fault.<super>3</super> Service is counted month by month. "
            "Energy is counted when it passes the meter on land.",
        ),
        Footnote("3. Until 2021 the trial took 120 hours. The longer trial moved £2.2 million of revenue from 2021 into 2022."),
        Paragraph("7.4.2 Depreciation", s["h3"]),
        *_prose(
            s,
            "Turbines are written off over twenty years, vessels over fifteen, buildings over forty. Development costs are "
            "capitalised from the day on which a "
            "concept is frozen, and written off over eight years from the first sale.",
        ),
        Paragraph("7.5 Warranty provision", s["h2"]),
        *_prose(
            s,
            "We guarantee each turbine for five years. The provision covers what we expect to spend on that promise. The "
            "replacement of the gearbox of CS-09, "
            f"described in Section 3.2 on page {pages.get('3.2', '0')}, cost £1.3 million, since the maker of the seal paid "
            "for the rest. Table 10 shows how the provision changed.",
        ),
        *table_with_caption("Table 10: Warranty provision", ruled_table(WARRANTY, [230, 90, 90], s, bold=[6]), s),
        Paragraph("7.6 Borrowings", s["h2"]),
        *_prose(
            s,
            "All our loans are in pounds and at fixed rates, as Table 11 shows. The term loan asks that debt be less than "
            "two and a half times operating profit before "
            "depreciation; at the end of the year it was 1.6 times.",
        ),
        *table_with_caption("Table 11: Borrowings at 31 December 2024", ruled_table(LOANS, [200, 70, 70, 90], s, bold=[4]), s),
    ]


def _end(s: Styles) -> list[Flowable]:
    return [
        Paragraph("8 Glossary and addresses", s["h1"]),
        *_prose(
            s, "Some words have a narrower meaning in our trade than elsewhere. Table 12 explains those that this report uses."
        ),
        *table_with_caption("Table 12: Terms used in this report", ruled_table(GLOSSARY, [90, 340], s, words=2), s),
        *_prose(
            s,
            "Registered office: Merrow Tidal Systems plc, The Net Loft, 4 Pilot Quay, Port Ellary. The annual meeting will "
            "be held there on Thursday 15 May 2025, at slack water, "
            "which is at 14.20. Shareholders who cannot come may send their votes by post until 12 May.",
        ),
    ]
