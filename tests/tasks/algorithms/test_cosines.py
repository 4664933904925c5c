import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.cosines import PAIRS_AT_ONCE, edge_weights, pair_cosines, snap_coarse, snap_fine


def unit_rows(seed, rows, columns=384):
    vectors = np.random.default_rng(seed).normal(size=(rows, columns)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


@given(st.integers(0, 2**32 - 1))
def test_products_of_snapped_vectors_do_not_depend_on_the_order_of_summation(seed):
    vectors = unit_rows(seed, 6)
    shuffled = vectors[:, np.random.default_rng(seed).permutation(384)]
    for snap in (snap_coarse, snap_fine):
        straight, other = snap(vectors), snap(shuffled)
        assert np.array_equal(straight @ straight.T, other @ other.T)
        assert (straight @ straight.T)[2, 4] == (straight[2:3] @ straight[4:5].T)[0, 0]
        assert np.array_equal(straight @ straight.T, np.array([[sum((a * b).tolist()) for b in straight] for a in straight]))


def test_snapping_moves_a_cosine_by_no_more_than_it_says():
    vectors = unit_rows(1, 200)
    exact = vectors.astype(np.float64) @ vectors.astype(np.float64).T
    coarse, fine = snap_coarse(vectors), snap_fine(vectors)
    assert np.abs(coarse @ coarse.T - exact).max() < 0.002
    assert np.abs(fine @ fine.T - exact).max() < 1e-6


def test_pair_cosines_reach_over_several_blocks():
    vectors = unit_rows(2, 50, 4)
    first, second = np.random.default_rng(3).integers(0, 50, size=(2, PAIRS_AT_ONCE + 5))
    expected = (vectors.astype(np.float64)[first] * vectors.astype(np.float64)[second]).sum(axis=1)
    assert np.allclose(pair_cosines(vectors=vectors, first=first, second=second), expected, atol=1e-6)


def test_a_weight_lies_between_zero_and_one_with_six_decimals():
    assert edge_weights(np.array([-0.3, 1.0000001, 0.12345678])).tolist() == [0.0, 1.0, 0.123457]
