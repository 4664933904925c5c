"""How many pages a question is worth, worked out by hand, and by what must hold of any probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.flow.sizes import (
    FEATURES,
    LEAST_RATIO,
    completeness,
    most_probable,
    page_features,
    pages_worth,
    price_for,
)

PROBABILITIES = st.lists(st.floats(0.0, 1.0), max_size=12).map(lambda values: np.sort(np.array(values))[::-1])


def test_features_by_hand():
    found = page_features(scores=np.array([0.8, 0.4, 0.0]), follows=np.array([False, True, False]), collects=True)
    second, third = np.log(2), np.log(3)
    expected = [
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [np.log(0.5), second, 1.0, second, 1.0, 0.0],
        [np.log(LEAST_RATIO), third, 1.0, third, 0.0, 0.0],
    ]
    assert found == pytest.approx(np.array(expected)) and found.shape[1] == len(FEATURES)
    plain = page_features(scores=np.array([0.8, 0.4]), follows=np.array([False, True]), collects=False)
    assert plain[:, 2:4].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_pages_without_a_score_and_no_page_have_features_too():
    nothing = page_features(scores=np.zeros(2), follows=np.zeros(2, dtype=np.bool_), collects=False)
    assert nothing[:, 0].tolist() == pytest.approx([np.log(LEAST_RATIO)] * 2)
    none = page_features(scores=np.zeros(0), follows=np.zeros(0, dtype=np.bool_), collects=True)
    assert none.shape == (0, len(FEATURES)) and completeness(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("score", [-0.1, np.nan])
def test_scores_below_zero_are_refused(score):
    with pytest.raises(ValueError, match="scores"):
        page_features(scores=np.array([score]), follows=np.array([False]), collects=False)


def test_completeness_by_hand():
    # After one page 0.75 and 0.36 are not among the others, after two 0.36; alpha takes the root.
    assert completeness(np.array([0.9, 0.25, 0.64])).tolist() == pytest.approx([np.sqrt(0.75 * 0.36), 0.6, 1.0])


@given(PROBABILITIES)
def test_completeness_rises_to_one_within_0_and_1(found):
    complete = completeness(found)
    assert (np.diff(complete) >= 0).all() and ((complete >= 0) & (complete <= 1)).all()
    assert len(complete) == len(found) and (not len(found) or complete[-1] == 1.0)


def test_pages_are_read_while_one_more_is_worth_its_price():
    complete = np.array([0.5, 0.8, 0.9, 0.9])
    assert [pages_worth(complete, price=price) for price in (0.5, 0.2, 0.05, 0.0)] == [1, 2, 3, 3]
    assert pages_worth(np.zeros(0), price=0.1) == 0


@given(PROBABILITIES, st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_a_dearer_page_is_never_read_more(found, one, other):
    complete = completeness(found)
    low, high = sorted((one, other))
    assert pages_worth(complete, price=high) <= pages_worth(complete, price=low)


def test_the_price_is_that_at_which_the_mean_falls_to_what_is_asked_for():
    # The first question is worth its second page up to 0.4, the other up to 0.1.
    questions = [np.array([0.6, 1.0]), np.array([0.9, 1.0])]
    assert price_for(questions, pages=1.5) == pytest.approx(0.1)
    assert price_for(questions, pages=1.0) == pytest.approx(0.4)
    assert price_for(questions, pages=2.0) == pytest.approx(0.0)
    assert price_for([*questions, np.array([1.0])], pages=4 / 3) == pytest.approx(0.1), "one of them has a single page"


@given(st.lists(PROBABILITIES.filter(len), min_size=1, max_size=6), st.floats(1.0, 8.0))
def test_at_its_price_no_more_pages_are_read_than_asked_for_and_at_the_least_lower_one_more_or_all(found, pages):
    questions = [completeness(one) for one in found]
    price = price_for(questions, pages=pages)
    assert np.mean([pages_worth(one, price=price) for one in questions]) <= pages
    cheaper = np.mean([pages_worth(one, price=price - 1e-9) for one in questions])
    assert price < 1e-9 or cheaper > pages


def test_the_most_probable_pages_come_first_and_equal_ones_by_place():
    assert most_probable(np.array([0.2, 0.9, 0.2, 0.5])).tolist() == [1, 3, 0, 2]
