"""corpus_questions.json: what can be asked of the corpus, the right answer, and the pages that prove it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass

import pypdfium2

REPORT, SLIDES, PAPER = "annual_report.pdf", "quarterly_slides.pdf", "paper.pdf"
MANUAL, BUDGET, STRATEGY, PAGE = "maintenance_manual.docx", "budget.xlsx", "strategy.pptx", "product_page.html"


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its answer; evidence names documents with a page, or with words that stand on one page only of a PDF."""

    text: str
    answer: str
    modalities: tuple[str, ...]
    evidence: tuple[tuple[str, str | int], ...]


QUESTIONS = (
    Question(
        "What was the total revenue of Merrow Tidal Systems in 2024?",
        "£184.6 million",
        ("text", "table"),
        ((REPORT, "Total revenue in 2024 was"),),
    ),
    Question(
        "Which share of its revenue of 2024 did Merrow spend on research and development, to the nearest per cent?",
        "10 per cent (18.4 of 184.6 million pounds)",
        ("text", "table"),
        ((REPORT, "Total revenue in 2024 was"), (REPORT, "Table 7: Income statement")),
    ),
    Question("What was the availability of turbine CS-09 in 2024?", "71.4 per cent", ("table",), ((REPORT, "CS-09 Corran Sound"),)),
    Question("How much energy did turbine BC-04 deliver in 2024?", "3.39 GWh", ("table",), ((REPORT, "BC-04 Braye Channel"),)),
    Question(
        "How much energy did Sula Race deliver in the fourth quarter of 2024?",
        "14.6 GWh",
        ("figure",),
        ((REPORT, "Figure 3: Energy delivered"),),
    ),
    Question(
        "The site that delivered the least energy in the first quarter of 2024: how deep is the water there?",
        "27 m (Braye Channel)",
        ("figure",),
        ((REPORT, "Figure 3: Energy delivered"), (REPORT, "Figure 1: The four sites")),
    ),
    Question(
        "How many people worked at the Braye yard at the end of 2024?", "212", ("figure",), ((REPORT, "Figure 5: Employees"),)
    ),
    Question(
        "Why did the gearbox of CS-09 fail, and what did replacing it cost the company?",
        "A seal of the high-speed shaft had been cut on assembly; it cost £1.3 million",
        ("text", "table"),
        ((REPORT, "On 9 February its vibration alarm tripped"), (REPORT, "Table 10: Warranty provision")),
    ),
    Question(
        "For how many hours did a sold turbine have to run without a fault before 2022?",
        "120 hours",
        ("text",),
        ((REPORT, "Until 2021 the trial took"),),
    ),
    Question("By how much did Braye Channel miss its target in the third quarter of 2024?", "0.4 GWh", ("table",), ((SLIDES, 5),)),
    Question(
        "Which month of the third quarter of 2024 brought the most orders, and how much?",
        "September, 17.5 million pounds",
        ("figure",),
        ((SLIDES, 4),),
    ),
    Question(
        "What is the error of FOULCAST at eight weeks, and that of power only?",
        "2.6 and 4.2 points of coverage",
        ("table",),
        ((PAPER, "Table 2: Mean absolute error"),),
    ),
    Question(
        "By how much does the mean coverage of a blade grow between the sixth and the twelfth month after cleaning?",
        "27 points, from 31 to 58 per cent",
        ("figure",),
        ((PAPER, "Figure 2: Mean coverage"),),
    ),
    Question(
        "What is the settlement of larvae per week at Fenwick Narrows, and in which equation is it used?",
        "0.0057 per week, in Eq. (1)",
        ("text", "table"),
        ((PAPER, "Table 4: Parameters"), (PAPER, "Growth follows a logistic law")),
    ),
    Question(
        "With which torque are the bolts between blade root and hub of the MT-2 tightened?", "1,850 Nm", ("table",), ((MANUAL, 1),)
    ),
    Question(
        "Which step of the maintenance manual prevents the damage that stopped CS-09?",
        "Putting the plastic sleeve of kit SK-14 over the spline before the new seal is pressed in",
        ("text",),
        ((MANUAL, 1), (REPORT, "On 9 February its vibration alarm tripped")),
    ),
    Question("How much is budgeted for the charter of vessels in 2025?", "3.1 million pounds", ("table",), ((BUDGET, 1),)),
    Question("How many megawatts are possible at the Aldre coast?", "1,150 MW", ("table",), ((STRATEGY, 4),)),
    Question("What did a megawatt hour from Merrow's own arrays cost in 2020?", "262 pounds", ("figure",), ((STRATEGY, 3),)),
    Question("What does an MT-3 weigh without its base?", "163 tonnes", ("table", "text"), ((PAGE, 1),)),
    Question("What fee did Merrow pay to its auditor for 2024?", "Not answerable", (), ()),
    Question("At what price did a Merrow share close on the last day of 2024?", "Not answerable", (), ()),
)


def _page_with(pdf: bytes, words: str) -> int:
    """The only page, counted from 1, on which the words stand; ValueError when there is none or more than one."""
    document = pypdfium2.PdfDocument(pdf)
    pages = [
        place + 1 for place in range(len(document)) if words in " ".join(document[place].get_textpage().get_text_range().split())
    ]
    document.close()
    if len(pages) != 1:
        raise ValueError(f"the words {words!r} stand on pages {pages}; choose words that stand on one page")
    return pages[0]


def make(documents: Mapping[str, bytes]) -> bytes:
    """The questions as JSON; documents maps a file's name to its bytes."""
    rows = [
        {
            "question": question.text,
            "answer": question.answer,
            "modalities": list(question.modalities),
            "evidence": [
                {"document": name, "page": place if isinstance(place, int) else _page_with(documents[name], place)}
                for name, place in question.evidence
            ],
        }
        for question in QUESTIONS
    ]
    return (json.dumps(rows, indent=1, ensure_ascii=False) + "\n").encode()
