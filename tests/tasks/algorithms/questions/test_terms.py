"""The terms of a question, and the statements that it needs."""

import tomllib
from importlib.resources import files

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.questions.statements import STATEMENT_STEMS, Statement, named_statements, statement_page
from tasks.algorithms.questions.terms import keyword_terms, question_terms
from tasks.algorithms.text.counting import CodedTexts, Vocabulary, bm25_scores, code_texts, count_stems


@pytest.mark.parametrize(
    ("question", "stems", "anchors"),
    [
        ("How many turbines did the company install in 2024?", "turbin compani instal 2024", "2024"),
        ("What is the fee on page 14 and in Figure 5?", "fee", ""),
        ("WHO PAID IT IN 2024?", "paid 2024", "2024"),
        ("How much d is in Vitamin D?", "vitamin d", "vitamin d"),
        ("page 3", "", ""),
        ("What is the fee in annual_report.pdf?", "fee", ""),
        ("What is it about?", "what is it about", ""),
        ("?!", "", ""),
        ("कंपनी का राजस्व कितना है?", "कंप का राजस्व कित है", ""),
        ("収入高?", "収入 入高", ""),
    ],
)
def test_content_words_are_terms_names_and_years_anchors_and_places_neither(question, stems, anchors):
    terms = question_terms(question)
    assert terms.stems == tuple(stems.split()) and terms.anchors == tuple(anchors.split())


def test_names_numbers_and_compounds_are_anchors_by_their_parts():
    terms = question_terms("What did Bank of England say of COVID-19 in 2019-2020 to 3 of 1,234 people, and the 6th?")
    assert terms.anchors == ("bank", "england", "covid", "2019", "2020", "1234")
    assert "of" not in terms.stems and {"covid-19", "3", "6th"} <= set(terms.stems)


@given(st.text(max_size=200))
def test_stems_are_distinct_and_anchors_are_among_them(question):
    terms = question_terms(question)
    assert len(set(terms.stems)) == len(terms.stems) == len(terms.words)
    assert set(terms.anchors) <= set(terms.stems)


def test_keywords_stand_in_place_of_the_questions_words_and_none_change_nothing():
    terms = question_terms("Show the cost of the Merrow cable in 2024")
    named = keyword_terms(terms, ["Merrow cable", "cost"])
    assert named.words == ("Merrow", "cable", "cost") and set(named.anchors) == set(terms.anchors) - {"2024"}
    assert keyword_terms(terms, []) == terms


def test_a_long_run_is_written_by_its_parts_and_not_once_for_each():
    terms = question_terms("".join(chr(0x4E00 + number) for number in range(10_000)))
    assert len(terms.stems) > 5_000 and max(map(len, terms.words)) < 10


BALANCE, INCOME, CASH = Statement

PAGES = [
    "Our year: we grew revenue and net income, and paid our shareholders more than before.",
    "Consolidated Balance Sheets. Total current assets 5, total assets 9, total current liabilities 3, shareholders' equity 4.",
    "Consolidated Statements of Income. Revenues 90, cost of sales 50, gross profit 40, operating income 20, income before taxes "
    "18, net income 12, net income per share: basic 1.2, diluted 1.1.",
    "Consolidated Statements of Cash Flows. Operating activities 15, investing activities -4, financing activities -6, net "
    "increase in cash 5, cash at end of year 8.",
]


@pytest.mark.parametrize(
    ("question", "weights"),
    [
        ("What is the inventory turnover for FY2021?", {BALANCE: 1.0, INCOME: 1.0}),
        ("Give the debt-to-equity ratio.", {BALANCE: 1.0}),
        ("What is Debt/EBITDA?", {BALANCE: 1.0, INCOME: 1.0, CASH: 1.0}),
        ("What is the ROE?", {BALANCE: 1.0, INCOME: 1.0}),
        ("What was the company's long-term debt?", {BALANCE: 0.5}),
        ("How high are shareholders' equity and PP&E?", {BALANCE: 0.5}),
        ("What did R&D cost, and what SG&A?", {INCOME: 0.5}),
        ("What is the ratio of cash flow to net income and to total liabilities?", {BALANCE: 0.5, INCOME: 0.5, CASH: 0.5}),
        ("WHAT IS THE RATIO OF DEBT TO EQUITY?", {BALANCE: 1.0}),
        ("", {}),
        ("Where does the fish lay its roe?", {}),
        ("How do I return on the same ticket?", {}),
        ("Who won? The answer should be an integer like the net income.", {}),
    ],
)
def test_a_ratio_and_a_line_of_the_statements_are_named(question, weights):
    assert named_statements(question, ratio=1.0, item=0.5) == weights


def test_the_larger_weight_counts_whichever_it_is():
    question = "Is the current ratio above net debt, and revenue above zero?"
    assert named_statements(question, ratio=0.2, item=0.7) == {BALANCE: 0.7, INCOME: 0.7}
    assert named_statements(question, ratio=0.7, item=0.2) == {BALANCE: 0.7, INCOME: 0.2}


@pytest.mark.parametrize(("statement", "page"), [(BALANCE, 1), (INCOME, 2), (CASH, 3)])
def test_the_wording_finds_each_statement_in_a_report(statement, page):
    vocabulary = Vocabulary()
    texts = CodedTexts.of(code_texts(PAGES, vocabulary), vocabulary)
    counts = count_stems(texts, STATEMENT_STEMS[statement])
    scores = bm25_scores(
        term_counts=counts,
        lengths=texts.words,
        document_frequencies=(counts > 0).sum(axis=0).astype(np.float64),
        documents=len(PAGES),
        mean_length=float(texts.words.mean()),
        k1=1.2,
        b=0.75,
    )
    assert statement_page(counts=counts, scores=scores, share=0.7) == page


GLOSSARY = tomllib.loads(files("tasks.algorithms.questions").joinpath("statements.toml").read_text("utf-8"))


@pytest.mark.parametrize("kind", ["ratios", "lines"])
def test_each_term_of_the_glossary_names_its_statements(kind):
    weights = {"ratio": float(kind == "ratios"), "item": float(kind == "lines")}
    for entry in GLOSSARY[kind]:
        for term in entry["terms"].split(","):
            assert term.strip() and set(entry["shown_by"]) <= set(named_statements(f"How high is the {term}?", **weights))


def test_a_page_chosen_by_hand():
    counts = np.array([[9.0, 0, 0, 0], [1, 1, 0, 0], [1, 0, 1, 1], [1, 0, 1, 1]])
    scores = np.array([1.0, 2.0, 3.0, 3.0])
    assert statement_page(counts=counts, scores=scores, share=0.75) == 2
    # The best page is not enough, and a worse one is no statement either.
    assert statement_page(counts=counts, scores=np.array([5.0, 2, 3, 3]), share=0.5) is None
