import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.collecting import collects


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
