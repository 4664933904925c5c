import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.excerpts import excerpt

CHART = "Where people work Ellary 418 Braye yard 212 Corran 137 Sula 96 Design office 71"


@pytest.mark.parametrize(
    ("weights", "most", "part"),
    [
        ({"braye": 1.0, "yard": 1.0}, 4, "418 Braye yard 212"),
        ({"corran": 2.0, "sula": 1.0}, 3, "Corran 137 Sula"),
        ({"corran": 1.0, "peopl": 2.0}, 2, "people work"),
        ({"absent": 1.0}, 3, "Where people work"),
        ({"yard": 0.0}, 2, "Where people"),
        ({}, 2, "Where people"),
        ({"yard": 1.0}, 99, CHART),
    ],
)
def test_the_run_with_most_of_the_question_is_taken(weights, most, part):
    assert excerpt(CHART, weights=weights, most_words=most) == part


def test_what_stands_on_either_side_of_the_terms_is_kept():
    assert excerpt("a b c d word e f g h", weights={"word": 1.0}, most_words=5) == "c d word e f"


def test_of_two_places_that_hold_the_same_the_first_is_taken_whole():
    assert excerpt("word b c d e f g h word", weights={"word": 1.0}, most_words=3) == "word b c"


def test_a_text_without_words_has_an_empty_excerpt():
    assert excerpt(" \n", weights={"a": 1.0}, most_words=3) == ""


@given(st.lists(st.sampled_from(["cost", "a", "red", "5"]), max_size=30), st.integers(1, 12))
def test_an_excerpt_is_a_run_of_the_words_and_not_too_long(words, most):
    part = excerpt("\n".join(words), weights={"cost": 1.0, "red": 2.0}, most_words=most).split()
    assert len(part) == min(most, len(words))
    assert any(words[place : place + len(part)] == part for place in range(len(words) + 1))
