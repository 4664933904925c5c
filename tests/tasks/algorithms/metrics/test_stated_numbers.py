import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.metrics.numbers import same_number, stated_numbers


def number(text):
    (only,) = stated_numbers(text)
    return only


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("6.3M, 6.3 million, 6,300,000, £6.3m and $6.3 mn", [6.3e6] * 5),
        ("5k, 5 thousand, US$5,000", [5e3] * 3),
        ("2 lakhs, 3 crore, 83,67,700", [2e5, 3e7, 8367700.0]),
        ("7bn, 7 billion, $7b, 7B; 1 trillion", [7e9, 7e9, 7e9, 7e9, 1e12]),
        ("5 m wide, 7b of it, 10 MB, 300 K", [5.0, 7.0, 10.0, 300.0]),
        ("-5, \u22125, $-5, -$5, +5, (5), .5", [-5.0, -5.0, -5.0, -5.0, 5.0, 5.0, 0.5]),
        ("30-49, 30\u201349, 5 - 3, GPT-4, 4)-1", [30.0, 49.0, 30.0, 49.0, 5.0, 3.0, 4.0, 4.0, 1.0]),
        ("1,2345 and 12,15", [1.0, 2345.0, 12.0, 15.0]),
        ("version 3.6.8 of 10.0.0.1", []),
        ("three of twenty, none at zero", [3.0, 20.0, 0.0]),
        ("three of 20", [20.0]),
        ("no number", []),
        ("", []),
    ],
)
def test_numbers_are_read_however_they_are_written(text, values):
    assert [each.value for each in stated_numbers(text)] == pytest.approx(values)


@pytest.mark.parametrize("text", ["21%", "21 %", "21 per cent", "21 Percent", "21 percentage points"])
def test_a_percentage_keeps_its_value_and_says_what_it_is(text):
    assert (number(text).value, number(text).percent, number(text).end) == (21.0, True, len(text))
    assert not number("21 percentiles").percent


@pytest.mark.parametrize(
    ("text", "aside"),
    [
        ("GPT-4", True),
        ("Q3", True),
        ("Table 3", True),
        ("see page 12", True),
        ("on 12 May", True),
        ("May 12", True),
        ("the 3rd of June", True),
        ("no.5", True),
        ("x4%", True),
        ("US$5", False),
        ("EUR\u20ac5 million", False),
        ("5 marbles", False),
        ("5%", False),
        ("2019", False),
        ("in May 2019", False),
    ],
)
def test_numbers_of_names_places_and_days_stand_aside(text, aside):
    assert number(text).aside is aside


def test_a_year_is_one_that_is_written_like_one():
    assert all(number(text).year for text in ("2019", "in 1874.", "FY2019"))
    assert not any(number(text).year for text in ("1,874", "2019%", "$2019", "3019", "2019.0", "19", "-2019", "2019 million"))


@pytest.mark.parametrize(
    ("gold", "answered", "same"),
    [
        ("82%", "0.82", True),
        ("0.82", "82 %", True),
        ("82%", "82", True),
        ("6,300,000", "6.3M", True),
        ("6063.00", "$6,063 million", True),
        ("8802", "8.802 billion", True),
        ("51.286", "51.3", True),
        ("5", "-5", False),
        ("82%", "82.0 million", False),
        ("0.263", "26.3", False),
        ("100%", "1", False),
        ("82%", "8200", False),
        ("51.286", "51.9", False),
        ("5 million", "5", False),
        ("8802", "88.02 billion", False),
        ("0", "0.01", False),
    ],
)
def test_numbers_of_one_value_are_the_same(gold, answered, same):
    assert same_number(number(gold), number(answered), tolerance=0.01) is same


def test_a_count_is_exact_and_no_fraction():
    assert same_number(number("435000000"), number("435 million"), tolerance=0.0)
    assert same_number(number("122"), number("122%"), tolerance=0.0)
    assert not same_number(number("101"), number("100"), tolerance=0.0)
    assert not same_number(number("50%"), number("0.5"), tolerance=0.0)


@given(st.integers(-(10**9), 10**9))
def test_commas_make_no_difference_and_the_next_number_does(value):
    plain, grouped, other = number(f"is {value} x"), number(f"is {value:,} x"), number(f"is {value + 1} x")
    assert same_number(plain, grouped, tolerance=0.0) and not same_number(plain, other, tolerance=0.0)


@given(st.decimals(-999, 999, places=2), st.sampled_from([("million", 10**6), ("bn", 10**9), ("k", 1000)]))
def test_a_scale_is_multiplied_out(value, scale):
    word, factor = scale
    assert number(f"is {value} {word}" if word != "k" else f"is {value}k").value == pytest.approx(float(value * factor))
