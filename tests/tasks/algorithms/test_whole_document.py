import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.collecting import collects
from tasks.algorithms.whole_document import speaks_of_document, surveys


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
def test_the_case_of_letters_makes_no_difference(question):
    assert surveys(f"HOW MANY CHARTS {question}")
    assert speaks_of_document(f"this REPORT {question}")
