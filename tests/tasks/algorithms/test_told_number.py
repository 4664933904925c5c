import pytest

from tasks.algorithms.told_number import told_number


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
    ],
)
def test_the_only_number_and_the_one_that_opens_are_told(statement, value, opens):
    told = told_number(statement, year=False)
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
        "no number",
        "",
    ],
)
def test_of_several_numbers_none_is_told(statement):
    assert told_number(statement, year=False) is None


def test_where_a_year_is_looked_for_years_count():
    assert told_number("15 stores opened in 2019", year=True).number.value == 2019.0
    assert told_number("15 stores", year=True).number.value == 15.0
    assert told_number("2019 and 2020", year=True) is None
