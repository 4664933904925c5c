import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records import Modality
from tasks.algorithms.kinds import (
    AnswerKind,
    asked_modalities,
    collects,
    expected_kind,
    holds_kind,
    question_parts,
    speaks_of_document,
    surveys,
)


@pytest.mark.parametrize(
    "question",
    [
        "How many charts are there?",
        "how\nmany suppliers were audited",
        "List the suppliers that were audited.",
        "Enumerate the risks",
        "Which regions are named in all of the tables?",
        "What did each plant cost?",
        "What did every plant cost?",
        "How much was paid in total?",
        "What is the total number of plants?",
    ],
)
def test_a_question_that_counts_or_collects_is_known(question):
    assert collects(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Why did the pump fail?",
        "What was the total cost of the plant?",
        "How much did it cost?",
        "Is it listed?",
        "What is the tallest wall?",
        'Which slide shows a map? Write the answer as a list, e.g. ["Slide 1"].',
    ],
)
def test_another_question_is_not(question):
    assert not collects(question)


@given(st.text())
def test_the_case_of_letters_makes_no_difference(question):
    assert collects(f"how many {question.upper()}")
    assert collects(f"HOW MANY {question}")


@pytest.mark.parametrize(
    "question",
    [
        "How many suppliers does the report name?",
        "List all risks of the appendix.",
        "how\nmany of the bar charts show losses",
        "Enumerate the pages with a stamp",
        "What is the total number of tables?",
        "Which plant is drawn in every single wiring diagram?",
    ],
)
def test_a_question_that_counts_all_over_a_document_surveys_it(question):
    assert surveys(question)


@pytest.mark.parametrize(
    "question",
    [
        "",
        "How many people voted in 2020?",
        "How many turbines were inspected, and what did the last one of them that is drawn on a chart cost?",
        "What does the report say of losses?",
        "Which chart shows losses?",
        "How many pumps failed? Write the answer as a list of pages.",
    ],
)
def test_a_question_for_a_number_or_for_one_place_does_not(question):
    assert not surveys(question)


@pytest.mark.parametrize("question", ["Who wrote this report?", "Which year do the SLIDES look at?", "What is the manual for?"])
def test_a_question_that_names_the_document_speaks_of_it(question):
    assert speaks_of_document(question)


@pytest.mark.parametrize("question", ["", "Who reported the loss?", "What is sold? Answer with the words of the document."])
def test_another_one_does_not(question):
    assert not speaks_of_document(question)


@given(st.text())
def test_who_surveys_collects(question):
    assert collects(question) or not surveys(question)


@given(st.text())
def test_the_case_of_letters_makes_no_difference_of_whole_document(question):
    assert surveys(f"HOW MANY CHARTS {question}")
    assert speaks_of_document(f"this REPORT {question}")


@pytest.mark.parametrize(
    "question",
    [
        "Which colour is the bar for Spain?",
        "What does the bar-chart on page 3 show?",
        "How many men wear a hat in the photographs?",
        "WHAT IS IN FIGURE 5?",
        "What do the illustrations have in common?",
    ],
)
def test_words_of_what_is_seen_ask_for_figures(question):
    assert asked_modalities(question) == {Modality.FIGURE}


@pytest.mark.parametrize("question", ["What is in the last column?", "How many rows has Table 2?"])
def test_words_of_rows_and_columns_ask_for_tables(question):
    assert asked_modalities(question) == {Modality.TABLE}


def test_a_question_may_ask_for_both():
    assert asked_modalities("Do the chart and the table agree?") == {Modality.FIGURE, Modality.TABLE}


@pytest.mark.parametrize(
    "question",
    [
        "",
        "Who signed the report?",
        "What is the third heading in the table of contents?",
        "How do the figures for 2021 compare?",
        "Who signed it? Write the answer as a list of table rows.",
        "Which barrier is stable?",
    ],
)
def test_what_only_looks_like_a_kind_is_none(question):
    assert asked_modalities(question) == frozenset()


@pytest.mark.parametrize("piece", ["table of ", "figures for ", "chart ", "table\n"])
def test_a_long_hostile_question_is_read_in_time(piece):
    started = time.process_time()
    asked_modalities(piece * (100_000 // len(piece)))
    assert time.process_time() - started < 5


@pytest.mark.parametrize(
    ("question", "kind"),
    [
        ("How many turbines are there?", AnswerKind.NUMBER),
        ("How much did it cost?", AnswerKind.NUMBER),
        ("What was the total revenue?", AnswerKind.NUMBER),
        ("What does it weigh?", AnswerKind.NUMBER),
        ("What percentage of it?", AnswerKind.PERCENTAGE),
        ("How many % of them?", AnswerKind.PERCENTAGE),
        ("Which share did it spend?", AnswerKind.PERCENTAGE),
        ("In which year?", AnswerKind.DATE),
        ("What fiscal year?", AnswerKind.DATE),
        ("When?", AnswerKind.DATE),
        ("Who signed it? Give me an integer.", AnswerKind.PERSON),
        ("Whose work is it?", AnswerKind.PERSON),
        ("Why?", AnswerKind.ANY),
        ("", AnswerKind.ANY),
    ],
)
def test_a_question_says_what_its_answer_holds(question, kind):
    assert expected_kind(question) is kind


@pytest.mark.parametrize(
    ("text", "kind", "question", "held"),
    [
        ("It was 184.6.", AnswerKind.NUMBER, "in 2024?", True),
        ("It grew in 2024.", AnswerKind.NUMBER, "in 2024?", False),
        ("It grew by three.", AnswerKind.NUMBER, "", True),
        ("It grew.", AnswerKind.NUMBER, "", False),
        ("Share: 14", AnswerKind.PERCENTAGE, "", True),
        ("a part", AnswerKind.PERCENTAGE, "", False),
        ("in March", AnswerKind.DATE, "when?", True),
        ("on 5/3/2024", AnswerKind.DATE, "when?", True),
        ("12 of them", AnswerKind.DATE, "when?", False),
        ("", AnswerKind.ANY, "why?", True),
        ("I have chaired the board.", AnswerKind.PERSON, "who?", False),
        ("Mary Hale, chair of the board", AnswerKind.PERSON, "who?", True),
        ("by M. Hale and others", AnswerKind.PERSON, "who?", True),
        ("In September the Board met", AnswerKind.PERSON, "who?", False),
        ("Ostrander, Bellweather and Imai", AnswerKind.PERSON, "who?", True),
        ("Merrow Tidal is led by her.", AnswerKind.PERSON, "Who leads Merrow Tidal?", False),
    ],
)
def test_what_the_question_brought_along_is_no_answer(text, kind, question, held):
    assert holds_kind(text, kind, question) is held


@pytest.mark.parametrize(
    ("question", "parts"),
    [
        ("Why did the pump fail, and what did it cost?", ("Why did the pump fail", "what did it cost")),
        ("What is the rate, and in which equation is it used?", ("What is the rate", "in which equation is it used")),
        ("The port with the least trade: how deep is it?", ("The port with the least trade", "how deep is it")),
        ("Who signed? When was it signed?", ("Who signed", "When was it signed")),
        ("How much was earned between 2020 and 2022?", ("How much was earned between 2020 and 2022",)),
        ("What were revenue and profit in 2024?", ("What were revenue and profit in 2024",)),
        ("?!", ()),
    ],
)
def test_each_thing_asked_is_a_part(question, parts):
    assert question_parts(question) == tuple(part for part in parts if part.strip("?!"))


@given(st.text(max_size=200))
def test_no_part_is_empty_and_none_is_invented(question):
    for part in question_parts(question):
        assert part.strip() and part.split()[0] in question
