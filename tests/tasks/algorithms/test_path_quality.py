import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.path_quality import jaccard_distances, path_qualities, payoff_matrix

PAPER = {"flow_exponent": 0.2, "peak_exponent": 0.5, "mean_exponent": 0.3}

node_sets = st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True)
path_lists = st.lists(node_sets, max_size=6)


def test_distances_worked_by_hand():
    distances = jaccard_distances(paths=[(0, 1, 2), (2, 3), (4,), (2, 1, 0)])
    # {0,1,2} and {2,3} share one node of four.
    assert distances.tolist() == [[0, 0.75, 1, 0], [0.75, 0, 1, 0.75], [1, 1, 0, 1], [0, 0.75, 1, 0]]


@given(path_lists)
def test_distances_are_those_of_python_sets(paths):
    expected = [[1 - len({*one} & {*other}) / len({*one} | {*other}) for other in paths] for one in paths]
    distances = jaccard_distances(paths=paths)
    assert distances.shape == (len(paths), len(paths))
    assert distances.tolist() == expected


def test_a_quality_worked_by_hand():
    qualities = path_qualities(
        paths=[(0, 1), (2,)],
        flows=np.array([0.5, 0.25]),
        scores=np.array([0.81, 0.19, 0.64]),
        flow_exponent=1.0,
        peak_exponent=0.5,
        mean_exponent=2.0,
    )
    # 1 * sqrt(0.81) * 0.5^2 and 0.5 * sqrt(0.64) * 0.64^2.
    assert np.allclose(qualities, [0.225, 0.5 * 0.8 * 0.64**2])


@given(st.lists(st.tuples(node_sets, st.floats(0.0, 5.0)), max_size=6), st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_qualities_lie_between_zero_and_one_and_equal_a_loop(weighted, scores):
    paths, flows = [path for path, _ in weighted], [flow for _, flow in weighted]
    qualities = path_qualities(paths=paths, flows=np.array(flows), scores=np.array(scores), **PAPER)
    largest = max(flows, default=0.0)
    for quality, path, flow in zip(qualities.tolist(), paths, flows, strict=True):
        inside = [scores[node] for node in path]
        relative = flow / largest if largest else 0.0
        assert 0.0 <= quality <= 1.0 + 1e-12
        assert math.isclose(quality, relative**0.2 * max(inside) ** 0.5 * (sum(inside) / len(inside)) ** 0.3, abs_tol=1e-12)


def test_payoffs_worked_by_hand():
    payoff = payoff_matrix(qualities=np.array([0.9, 0.4]), distances=np.array([[0, 0.5], [0.5, 0]]), diagonal=2.0)
    assert np.allclose(payoff, [[0.81, 0.3], [0.3, 0.16]])
    plain = payoff_matrix(qualities=np.array([0.9, 0.4]), distances=np.array([[0, 0.5], [0.5, 0]]), diagonal=1.0)
    assert np.allclose(plain, [[0.9, 0.3], [0.3, 0.4]])


@given(path_lists, st.sampled_from([1.0, 2.0]))
def test_payoffs_are_symmetric_and_never_negative(paths, diagonal):
    qualities = np.linspace(0, 1, len(paths))
    payoff = payoff_matrix(qualities=qualities, distances=jaccard_distances(paths=paths), diagonal=diagonal)
    assert np.array_equal(payoff, payoff.T)
    assert (payoff >= 0).all()
    assert np.allclose(np.diag(payoff), qualities**diagonal)


def test_no_paths_are_no_game():
    none = np.zeros(0)
    assert path_qualities(paths=[], flows=none, scores=np.ones(3), **PAPER).shape == (0,)
    assert jaccard_distances(paths=[]).shape == (0, 0)
    assert payoff_matrix(qualities=none, distances=np.zeros((0, 0)), diagonal=2.0).shape == (0, 0)


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ValueError, match="path 1 of 2 has no nodes"):
        jaccard_distances(paths=[(0,), ()])
    with pytest.raises(ValueError, match="path 0 of 1 has no nodes"):
        path_qualities(paths=[()], flows=np.ones(1), scores=np.ones(1), **PAPER)
    with pytest.raises(ValueError, match="paths name place 4 of 3"):
        path_qualities(paths=[(4,)], flows=np.ones(1), scores=np.ones(3), **PAPER)
    with pytest.raises(ValueError, match="scores must be finite"):
        path_qualities(paths=[(0,)], flows=np.ones(1), scores=np.array([np.nan]), **PAPER)
    with pytest.raises(ValueError, match="qualities must be finite"):
        payoff_matrix(qualities=np.array([np.nan]), distances=np.zeros((1, 1)), diagonal=2.0)
