"""Equal answers agree unasked, and every pair of different ones counts as often as it was given."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.answer_agreement import agreement, different_answers, pairs_to_compare, plain_answer


@pytest.mark.parametrize(
    ("one", "other"),
    [("184.6", " 184.6."), ("1,850 Nm", "1850 nm"), ("The gearbox", "gearbox"), ('"Yes"', "yes!"), ("a  seal", "seal")],
)
def test_answers_that_differ_by_form_alone_are_equal(one, other):
    assert plain_answer(one) == plain_answer(other) and different_answers([one, other]) == [[0, 1]]


@pytest.mark.parametrize(("one", "other"), [("1.5", "15"), ("1,5", "15"), ("yes", "no"), ("5 %", "5"), ("-5", "5")])
def test_answers_that_say_something_else_are_not(one, other):
    assert different_answers([one, other]) == [[0], [1]]


def test_equal_answers_stand_together_in_the_order_in_which_they_came():
    assert different_answers(["7", "8", "7.", "9", "8"]) == [[0, 2], [1, 4], [3]]
    assert different_answers([]) == []


def test_the_earliest_answers_are_compared_first_and_no_more_than_allowed():
    assert pairs_to_compare(4, limit=10) == [(0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3)]
    assert pairs_to_compare(11, limit=3) == [(0, 1), (0, 2), (0, 3)]
    assert len(pairs_to_compare(11, limit=10)) == 10
    assert pairs_to_compare(1, limit=10) == pairs_to_compare(0, limit=10) == pairs_to_compare(5, limit=0) == []


def test_a_single_dissenter_among_many_weighs_little():
    assert agreement(sizes=[8, 1], compared=[(0, 1)], contradicting=[(0, 1)]) == pytest.approx(1 - 8 / 36)
    assert agreement(sizes=[1, 1], compared=[(0, 1)], contradicting=[(0, 1)]) == 0.0


def test_what_was_not_compared_does_not_count():
    assert agreement(sizes=[1, 1, 1], compared=[(0, 1)], contradicting=[]) == 1.0
    assert agreement(sizes=[1, 1, 1], compared=[(0, 1), (0, 2)], contradicting=[(0, 2)]) == 0.5
    assert agreement(sizes=[1, 1], compared=[], contradicting=[]) == agreement(sizes=[], compared=[], contradicting=[]) == 1.0


@given(st.lists(st.integers(1, 5), max_size=6), st.integers(0, 20), st.integers(0, 20))
def test_an_agreement_is_a_share(sizes, asked, against):
    compared = pairs_to_compare(len(sizes), limit=asked)
    assert 0.0 <= agreement(sizes=sizes, compared=compared, contradicting=compared[:against]) <= 1.0
