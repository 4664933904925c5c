import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.arrays import snap_fine
from tasks.algorithms.flow.ends import answerability, density, diverse_sources
from tests.tasks.algorithms.flow_worlds import unit_or_zero

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


@st.composite
def worlds(draw):
    """Scores and vectors; scores of 0, zero vectors, duplicates and equal values are common."""
    nodes = draw(st.integers(0, 8))
    scores = draw(arrays(np.float64, nodes, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    return scores, unit_or_zero(draw(arrays(np.int8, (nodes, 3), elements=st.integers(-2, 2))))


def slow_sources(scores, vectors, count, trade_off):
    """The definition of appendix B.1, word for word: every cosine anew for every choice."""
    fine = snap_fine(vectors)
    chosen = []

    def value(v):
        nearest = max((float(sum((fine[v] * fine[u]).tolist())) for u in chosen), default=0.0)
        return trade_off * scores[v] - (1.0 - trade_off) * nearest

    while len(chosen) < count and (left := [v for v in range(len(scores)) if scores[v] > 0 and v not in chosen]):
        chosen.append(max(left, key=lambda v: (value(v), -v)))
    return chosen


@given(worlds(), st.integers(0, 9), st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]))
def test_sources_equal_the_definition(world, count, trade_off):
    scores, vectors = world
    sources = diverse_sources(scores=scores, vectors=vectors, count=count, trade_off=trade_off)
    assert sources.tolist() == slow_sources(scores, vectors, count, trade_off)


def test_sources_worked_by_hand():
    # The second repeats the first: 0.7 * 0.9 - 0.3 * 1 = 0.33; the third lies across: 0.7 * 0.5 = 0.35; the fourth scores nothing.
    vectors = np.array([[1, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    scores = np.array([1.0, 0.9, 0.5, 0.0])
    assert diverse_sources(scores=scores, vectors=vectors, count=2, trade_off=0.7).tolist() == [0, 2]
    assert diverse_sources(scores=scores, vectors=vectors, count=8, trade_off=0.7).tolist() == [0, 2, 1]
    assert diverse_sources(scores=scores, vectors=vectors, count=2, trade_off=1.0).tolist() == [0, 1]


def test_numbers_that_are_none_are_refused():
    with pytest.raises(ValueError, match=r"word counts must be finite, .*, not nan at place 1"):
        density(word_counts=np.array([1.0, np.nan]), percentile=5.0)
    with pytest.raises(ValueError, match=r"answerability must be finite, .*, not nan at place 0"):
        answerability(relevance=np.array([np.nan]), density=np.ones(1), is_visual=np.array([True]), visual_bonus=0.05)
    vectors = np.eye(2, dtype=np.float32)
    with pytest.raises(ValueError, match=r"scores must be finite, .*, not nan at place 1"):
        diverse_sources(scores=np.array([1.0, np.nan]), vectors=vectors, count=2, trade_off=0.7)
    with pytest.raises(ValueError, match="vector of row 0 holds a number that is not finite"):
        diverse_sources(scores=np.ones(2), vectors=vectors * np.array([[np.nan], [1]], dtype=np.float32), count=2, trade_off=0.7)
