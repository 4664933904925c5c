import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.answerability import answerability, density, strongest_sinks

unit = arrays(np.float64, 6, elements=st.floats(0, 1))


def test_density_worked_by_hand():
    assert density(word_counts=np.array([0.0, 10.0, 40.0, 90.0]), percentile=40.0).tolist() == [0.0, 0.25, 1.0, 1.0]


@given(arrays(np.float64, 6, elements=st.integers(0, 500)), st.floats(0, 500))
def test_density_rises_with_the_words_from_zero_to_one(word_counts, percentile):
    scaled = density(word_counts=word_counts, percentile=percentile)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    assert (np.diff(scaled[np.argsort(word_counts)]) >= 0).all()
    assert (scaled[word_counts > percentile] == 1).all()


def test_where_almost_all_are_empty_any_words_are_dense():
    assert density(word_counts=np.array([0.0, 3.0]), percentile=0.0).tolist() == [0.0, 1.0]
    assert density(word_counts=np.zeros(0), percentile=0.0).tolist() == []


def test_answerability_worked_by_hand():
    # Relevant text, a relevant figure of few words, an irrelevant figure, a relevant figure that is full already.
    scores = answerability(
        relevance=np.array([0.5, 0.5, 0.0, 1.0]),
        density=np.array([0.5, 0.1, 1.0, 1.0]),
        is_visual=np.array([False, True, True, True]),
        visual_bonus=0.05,
    )
    assert np.allclose(scores, [0.25, 0.1, 0.0, 1.0], rtol=1e-15)


@given(unit, unit, arrays(np.bool_, 6), st.floats(0, 1))
def test_answerability_lies_between_zero_and_one_and_needs_relevance(relevance, dense, is_visual, visual_bonus):
    scores = answerability(relevance=relevance, density=dense, is_visual=is_visual, visual_bonus=visual_bonus)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (scores[relevance == 0] == 0).all()
    assert scores[~is_visual].tolist() == (relevance * dense)[~is_visual].tolist()
    assert (scores[is_visual] >= (relevance * dense)[is_visual]).all()


def test_sinks_are_the_most_answerable_nodes():
    assert strongest_sinks(answerability=np.array([0.1, 0.0, 0.7, 0.1]), count=2).tolist() == [2, 0]
    assert strongest_sinks(answerability=np.zeros(3), count=2).tolist() == []


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"word counts must be finite, .*, not nan at place 1"):
        density(word_counts=np.array([1.0, np.nan]), percentile=5.0)
    with pytest.raises(ValueError, match=r"answerability must be finite, .*, not nan at place 0"):
        answerability(relevance=np.array([np.nan]), density=np.ones(1), is_visual=np.array([True]), visual_bonus=0.05)
    with pytest.raises(ValueError, match=r"answerability must be finite, .*, not nan at place 0"):
        strongest_sinks(answerability=np.array([np.nan]), count=1)
