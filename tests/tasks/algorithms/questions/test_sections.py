import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records.documents import Section
from tasks.algorithms.questions.sections import named_titles, numbered_sections, titled_sections, with_subsections
from tasks.algorithms.questions.terms import question_terms


def make(*titles, document="a", parents=()):
    parents = parents or [None] * len(titles)
    return [
        Section(f"{document}{place}", document, "v", place, title, 1, None if parent is None else f"{document}{parent}", 1, 2)
        for place, (title, parent) in enumerate(zip(titles, parents, strict=True))
    ]


SECTIONS = make(
    "1 Introduction", "2 Warnings and Cautions", "2.1 Safety", "A Proofs", "Appendix B: Data", parents=[None, None, 1, None, None]
)


@pytest.mark.parametrize(
    ("named", "places"),
    [("section 2", [1]), ("section 2.1", [2]), ("appendix A", [3]), ("appendix B", [4]), ("chapter 1", [0]), ("section 9", [])],
)
def test_a_number_means_the_title_that_opens_with_it(named, places):
    assert numbered_sections(named, SECTIONS) == places


def test_a_number_is_looked_for_in_each_document():
    assert numbered_sections("section 1", [*make("1 Start"), *make("2 End", "1 Costs", document="b")]) == [0, 2]


def test_a_title_is_known_whatever_its_number_endings_and_order():
    assert titled_sections("Warning & cautions", SECTIONS) == [1]
    assert titled_sections("Cautions and warnings", SECTIONS) == [1]


def test_a_title_that_contains_the_words_is_meant_unless_it_is_too_long_or_another_has_the_words():
    sections = [*make("Executive Summary", "Summary of the annual cash flow"), *make("Summary", "Short summary", document="b")]
    assert titled_sections("summary", sections) == [0, 2]
    assert titled_sections("weather", sections) == []


@pytest.mark.parametrize(
    ("titles", "places"),
    [
        (("1 Results", "Appendix", "Market data", "Prices"), [1, 2, 3]),
        (("A Proofs", "Appendix B: Data", "Methods"), [1, 2]),
        (("1 Results", "References", "A Proofs", "More proofs", "B Data"), [2, 3, 4]),
        (("Annex", "Sources"), [0, 1]),
        (("Results", "Sources"), []),
    ],
)
def test_the_appendix_is_all_from_its_first_title_on(titles, places):
    for name in ("appendix", "appendices", "annex"):
        assert titled_sections(name, make(*titles)) == places


def test_each_document_has_an_appendix_of_its_own():
    sections = [*make("Appendix", "Data"), *make("Results", "Appendix 1", document="b")]
    assert titled_sections("appendix", sections) == [0, 1, 3]


def test_a_title_of_function_words_is_compared_as_it_is():
    assert titled_sections("What we do", make("What We Do", "Other things")) == [0]


def test_subsections_belong_to_their_section():
    assert list(with_subsections([1], SECTIONS)) == [1, 2]
    assert list(with_subsections([], SECTIONS)) == []


def named(question, *titles):
    return named_titles(titles, question_terms(question).stems)


def test_the_titles_that_the_question_says_are_found_by_their_places():
    titles = ("Pump Maintenance", "Pumps", "Maintenance of the pumps", "Pump maintenance costs", "")
    assert named("How often is maintenance of the pump due?", *titles) == [0, 2]


@pytest.mark.parametrize(
    "title", ["4.1 Risk Factors", "Item 7A. Risk Factors", "IV. Risk factors", "Risk-factors", "The Risk Factors"]
)
def test_numbers_function_words_endings_and_hyphens_do_not_count(title):
    assert named("Which risk factor comes first?", title) == [0]


def test_a_year_is_part_of_a_title():
    assert named("What are the financial highlights of 2021?", "Financial Highlights 2020", "Financial Highlights 2021") == [1]


def test_a_question_or_title_without_terms_names_nothing():
    assert named("?", "Risk Factors", "What we do", "4.1", "") == []
    assert named_titles([], ["risk"]) == []


@given(st.lists(st.text(max_size=30), max_size=4), st.lists(st.text(max_size=5), max_size=4), st.text(max_size=5))
def test_whoever_says_more_says_no_title_less(titles, stems, more):
    assert set(named_titles(titles, stems)) <= set(named_titles(titles, [*stems, more]))
