"""The seven documents of tests/corpus, and what each is there for.

They are of a company that does not exist, Merrow Tidal Systems plc, and of a study that was never made; their licence is the
project's, Apache-2.0.

- annual_report.pdf: 16 pages, born digital, labelled i to iii, then 1 to 13: bookmarks, contents, running headers, footnotes, a
  table and a paragraph over a page break, charts as pictures, references to figures, tables, sections and pages
- quarterly_slides.pdf: 8 slides, scanned, without a text layer, soft, grainy, a little turned: OCR
- paper.pdf: 6 pages in two columns: reading order, vector and raster figures, equations, a reference list
- maintenance_manual.docx, budget.xlsx, strategy.pptx: headings, numbered steps, tables, merged cells, pictures
- product_page.html: a script and remote addresses, which must neither run nor be fetched
- ../corpus_questions.json: questions with answers and the pages that prove them (from 1); some have no answer here
"""

import itertools
import json
import zipfile
from pathlib import Path

import pypdfium2

CORPUS = Path(__file__).parent / "corpus"
QUESTIONS = CORPUS.with_name("corpus_questions.json")
DOCUMENTS = sorted(path for path in CORPUS.iterdir() if path.suffix not in (".md", ".json"))


def _page_texts(name: str) -> list[str]:
    document = pypdfium2.PdfDocument(CORPUS / name)
    texts = [" ".join(page.get_textpage().get_text_range().split()) for page in document]
    document.close()
    return texts


def _number_of_pages(path: Path) -> int:
    if path.suffix == ".pdf":
        return len(_page_texts(path.name))
    folder = {".xlsx": "xl/worksheets/sheet", ".pptx": "ppt/slides/slide"}.get(path.suffix)
    if folder is None:
        return 1
    with zipfile.ZipFile(path) as package:
        return sum(name.startswith(folder) for name in package.namelist())


def test_there_are_seven_documents_in_less_than_three_megabytes():
    assert len(DOCUMENTS) == 7
    assert sum(path.stat().st_size for path in CORPUS.iterdir()) < 3_000_000


def test_the_revenue_of_2024_stands_in_a_sentence_and_in_a_table_row():
    texts = _page_texts("annual_report.pdf")
    assert any("Total revenue in 2024 was £184.6 million" in text for text in texts)
    assert any("Total revenue 184.6 152.3" in text for text in texts)


def test_the_table_of_turbines_runs_over_a_page_break_with_its_header_repeated():
    header = "Turbine Site Model Rated MW Availability % Energy GWh"
    texts = _page_texts("annual_report.pdf")
    pages = [place for place, text in enumerate(texts) if header in text]
    assert len(pages) == 2
    assert pages[1] == pages[0] + 1
    assert "CS-01 Corran Sound" in texts[pages[0]]
    assert "BC-06 Braye Channel" in texts[pages[1]]


def test_a_paragraph_of_the_report_runs_over_a_page_break():
    texts = _page_texts("annual_report.pdf")
    assert any("From this the board drew" in before and "three conclusions" in after for before, after in itertools.pairwise(texts))


def test_the_report_labels_its_front_pages_in_roman_numerals():
    document = pypdfium2.PdfDocument(CORPUS / "annual_report.pdf")
    labels = [document.get_page_label(place) for place in range(len(document))]
    document.close()
    assert labels[:5] == ["i", "ii", "iii", "1", "2"]
    assert labels[-1] == str(len(labels) - 3)


def test_the_value_asked_of_a_chart_stands_in_no_text_of_the_report():
    assert not any("14.6" in text for text in _page_texts("annual_report.pdf"))


def test_the_scan_has_no_text_layer():
    assert _page_texts("quarterly_slides.pdf") == [""] * 8


def test_every_question_names_documents_and_pages_that_exist():
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    pages = {path.name: _number_of_pages(path) for path in DOCUMENTS}
    assert len(questions) >= 15
    for question in questions:
        assert question["evidence"] or question["answer"] == "Not answerable"
        for place in question["evidence"]:
            assert 1 <= place["page"] <= pages[place["document"]]


def test_some_questions_need_two_pages_and_some_have_no_answer():
    questions = json.loads(QUESTIONS.read_text(encoding="utf-8"))
    assert sum(len(question["evidence"]) > 1 for question in questions) >= 4
    assert any(not question["evidence"] for question in questions)
