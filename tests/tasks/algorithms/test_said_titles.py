import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.question_terms import question_terms
from tasks.algorithms.said_titles import said_titles


def said(question, *titles):
    return said_titles(titles, question_terms(question).stems)


def test_the_titles_that_the_question_says_are_found_by_their_places():
    titles = ("Pump Maintenance", "Pumps", "Maintenance of the pumps", "Pump maintenance costs", "")
    assert said("How often is maintenance of the pump due?", *titles) == [0, 2]


@pytest.mark.parametrize(
    "title", ["4.1 Risk Factors", "Item 7A. Risk Factors", "IV. Risk factors", "Risk-factors", "The Risk Factors"]
)
def test_numbers_function_words_endings_and_hyphens_do_not_count(title):
    assert said("Which risk factor comes first?", title) == [0]


def test_a_year_is_part_of_a_title():
    assert said("What are the financial highlights of 2021?", "Financial Highlights 2020", "Financial Highlights 2021") == [1]


def test_nothing_is_said_by_a_question_or_title_without_terms():
    assert said("?", "Risk Factors", "What we do", "4.1", "") == []
    assert said_titles([], ["risk"]) == []


@given(st.lists(st.text(max_size=30), max_size=4), st.lists(st.text(max_size=5), max_size=4), st.text(max_size=5))
def test_whoever_says_more_says_no_title_less(titles, stems, more):
    assert set(said_titles(titles, stems)) <= set(said_titles(titles, [*stems, more]))
