import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.combined_score import combined_score

PAPER = np.array([0.5, 0.3, 0.2])


def test_the_score_worked_by_hand():
    scores = combined_score(
        relevance=np.array([0.8, 0.0]), propagated=np.array([0.4, 1.0]), diffused=np.array([0.5, 0.0]), weights=PAPER
    )
    assert np.allclose(scores, [0.62, 0.3], rtol=1e-15)


@given(arrays(np.float64, (3, 5), elements=st.floats(0, 1)), st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(1, 10)))
def test_the_score_never_leaves_its_parts(parts, raw):
    weights = np.array(raw) / sum(raw)
    scores = combined_score(relevance=parts[0], propagated=parts[1], diffused=parts[2], weights=weights)
    assert (scores <= parts.max(axis=0)).all()
    assert (scores >= parts.min(axis=0) - 1e-15).all()
    assert (scores >= 0).all()


def test_a_weight_of_one_is_the_part_itself():
    parts = np.random.default_rng(0).random((3, 4))
    for place, name in enumerate(("relevance", "propagated", "diffused")):
        named = dict(zip(("relevance", "propagated", "diffused"), parts, strict=True))
        assert combined_score(**named, weights=np.eye(3)[place]).tolist() == named[name].tolist()


def test_no_nodes_have_no_scores():
    assert combined_score(relevance=np.zeros(0), propagated=np.zeros(0), diffused=np.zeros(0), weights=PAPER).tolist() == []


@pytest.mark.parametrize("weights", [[0.5, 0.3, 0.3], [1.2, -0.2, 0.0], [0.0, 0.0, 0.0], [np.nan, 0.5, 0.5], [0.5, 0.5]])
def test_weights_off_the_simplex_are_refused(weights):
    with pytest.raises(ValueError, match=r"weights of the combined score are \[.*\]; give three from 0 to 1 that sum to 1"):
        combined_score(relevance=np.ones(1), propagated=np.ones(1), diffused=np.ones(1), weights=np.array(weights))


def test_a_part_that_is_no_number_is_refused():
    with pytest.raises(ValueError, match=r"combined scores must be finite, .*, not nan at place 0"):
        combined_score(relevance=np.ones(1), propagated=np.array([np.nan]), diffused=np.ones(1), weights=PAPER)
