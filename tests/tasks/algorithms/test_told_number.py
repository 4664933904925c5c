import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.answer_words import BOUNDS, NEGATIONS
from tasks.algorithms.stated_numbers import stated_numbers
from tasks.algorithms.told_number import told_number, turning

PLAIN = frozenset()


@pytest.mark.parametrize(
    ("statement", "value", "opens"),
    [
        ("21%", 21.0, True),
        ("About $21 million, up from 18", 21e6, True),
        ("21%, up from 18 %", 21.0, True),
        ("18 of 24 stores", 18.0, True),
        ("The share was 21 %.", 21.0, False),
        ("The share of 21 % stayed 21 %", 21.0, False),
        ("In 2019 the GPT-4 share of Table 3 was 21 %", 21.0, False),
        ("Albania | 2010: 21", 21.0, False),
        ("12 | 12", 12.0, False),
        ("page 178", 178.0, False),
        ("in 2019", 2019.0, True),
        ("No, 45", 45.0, False),
        ("It is not 40, but 45", 45.0, False),
        ("not 40 but 45", 45.0, False),
        ("no \u2013 45", 45.0, False),
        ("It did not rise. Then there were 45 stores", 45.0, False),
        ("21 %, more than the 18 % of before", 21.0, True),
        ("Not one of them has a shop in 45", 45.0, False),
    ],
)
def test_the_only_number_and_the_one_that_opens_are_told(statement, value, opens):
    told = told_number(statement, year=False, turned=PLAIN)
    assert (told.number.value, told.opens) == (value, opens)


@pytest.mark.parametrize(
    "statement",
    [
        "from 18 to 21",
        "3, 4 or 5",
        "3 or 4",
        "3 to 4",
        "30-49",
        "30 / 49",
        "12 | 13",
        "2009: 12 | 2010: 21",
        "21 and 21%",
        "3 shops or 4",
        "no number",
        "",
    ],
)
def test_of_several_numbers_none_is_told(statement):
    assert told_number(statement, year=False, turned=PLAIN) is None


@pytest.mark.parametrize(
    "statement",
    [
        "The value is not 45.",
        "No, it did not rise to 45",
        "It isn't 45",
        "it hasn\u2019t reached 45",
        "less than 45",
        "Fewer than about $45",
        "over 45",
        "It fell below 45",
        "not 45 or 46",
        "more than 40, but less than 45",
    ],
)
def test_a_number_that_is_denied_or_a_bound_is_not_told(statement):
    assert told_number(statement, year=False, turned=PLAIN) is None


def test_the_bound_that_is_looked_for_is_told_with_its_words_or_without_and_by_no_others():
    over = frozenset({"over"})
    assert told_number("over 45", year=False, turned=over).opens
    assert told_number("45", year=False, turned=over).number.value == 45.0
    assert told_number("under 45", year=False, turned=over) is None


def test_where_a_denied_number_is_looked_for_it_is_told_only_by_its_denial():
    assert told_number("It is not 45", year=False, turned=frozenset({"not"})).number.value == 45.0
    assert told_number("It is 45", year=False, turned=frozenset({"not"})) is None


@given(st.lists(st.sampled_from(["stores", "not", "than", "rose", "over", "the"]), max_size=6))
def test_the_three_words_before_a_number_turn_it_and_no_other(words):
    statement = " ".join([*words, "45"])
    (number,) = stated_numbers(statement)
    assert turning(statement, number) == set(words[-3:]) & (NEGATIONS | BOUNDS)


def test_where_a_year_is_looked_for_years_count():
    assert told_number("15 stores opened in 2019", year=True, turned=PLAIN).number.value == 2019.0
    assert told_number("15 stores", year=True, turned=PLAIN).number.value == 15.0
    assert told_number("2019 and 2020", year=True, turned=PLAIN) is None
