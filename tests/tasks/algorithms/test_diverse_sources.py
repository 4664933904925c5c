import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.cosines import snap_fine
from tasks.algorithms.diverse_sources import diverse_sources


def unit_or_zero(rows):
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


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


@given(worlds(), st.integers(0, 9))
def test_sources_are_distinct_positive_and_as_many_as_there_are(world, count):
    scores, vectors = world
    sources = diverse_sources(scores=scores, vectors=vectors, count=count, trade_off=0.7).tolist()
    assert len(sources) == len(set(sources)) == min(count, np.count_nonzero(scores))
    assert all(scores[source] > 0 for source in sources)


@given(worlds())
def test_a_shorter_choice_is_the_beginning_of_a_longer_one(world):
    scores, vectors = world
    longer = diverse_sources(scores=scores, vectors=vectors, count=8, trade_off=0.7).tolist()
    assert diverse_sources(scores=scores, vectors=vectors, count=3, trade_off=0.7).tolist() == longer[:3]


def test_nodes_without_score_are_no_sources():
    sources = diverse_sources(scores=np.zeros(3), vectors=np.eye(3, dtype=np.float32), count=2, trade_off=0.7)
    assert (sources.tolist(), sources.dtype) == ([], np.int64)


def test_numbers_that_are_none_are_refused():
    vectors = np.eye(2, dtype=np.float32)
    with pytest.raises(ValueError, match=r"scores must be finite, .*, not nan at place 1"):
        diverse_sources(scores=np.array([1.0, np.nan]), vectors=vectors, count=2, trade_off=0.7)
    with pytest.raises(ValueError, match="vector of row 0 holds a number that is not finite"):
        diverse_sources(scores=np.ones(2), vectors=vectors * np.array([[np.nan], [1]], dtype=np.float32), count=2, trade_off=0.7)
