import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms import candidates
from tasks.algorithms.candidates import nearest_neighbours, neighbour_pairs, unite_pairs
from tasks.algorithms.cosines import snap_fine


def slow_neighbours(vectors, limit):
    """Sort all others of each row by falling cosine, then by row number."""
    fine = snap_fine(vectors)
    rows = range(len(fine))
    cosines = [[float(sum((fine[i] * fine[j]).tolist())) for j in rows] for i in rows]
    return [sorted((j for j in rows if j != i), key=lambda j: (-cosines[i][j], j))[:limit] for i in rows]


def unit_or_zero(rows):
    rows = rows.astype(np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


# Small whole numbers: zero vectors, duplicates and equal cosines are common.
worlds = st.integers(1, 8).flatmap(lambda n: arrays(np.int8, (n, 3), elements=st.integers(-2, 2))).map(unit_or_zero)


@given(worlds, st.integers(1, 6))
def test_neighbours_equal_a_full_sort(vectors, limit):
    indices, cosines = nearest_neighbours(vectors=vectors, limit=limit)
    assert indices.tolist() == slow_neighbours(vectors, limit)
    assert indices.shape == cosines.shape == (len(vectors), min(limit, len(vectors) - 1))


def test_neighbours_worked_by_hand():
    vectors = np.array([[1, 0], [0.8, 0.6], [0, 1], [0, 0]], dtype=np.float32)
    indices, cosines = nearest_neighbours(vectors=vectors, limit=2)
    assert indices.tolist() == [[1, 2], [0, 2], [1, 0], [0, 1]]
    assert np.allclose(cosines, [[0.8, 0], [0.8, 0.6], [0.6, 0], [0, 0]], atol=1e-6)


def test_blocks_and_groups_change_nothing(monkeypatch):
    vectors = unit_or_zero(np.random.default_rng(5).normal(size=(700, 16)))
    vectors[300:340] = vectors[7]  # more duplicates than the shortlist holds
    fine = snap_fine(vectors)
    exact = fine @ fine.T
    np.fill_diagonal(exact, -2)
    expected = np.argsort(-exact, axis=1, kind="stable")[:, :5]
    assert np.array_equal(nearest_neighbours(vectors=vectors, limit=5)[0], expected)
    monkeypatch.setattr(candidates, "BLOCK_CELLS", 7000)
    assert np.array_equal(nearest_neighbours(vectors=vectors, limit=5)[0], expected)
    monkeypatch.setattr(candidates, "GROUP_KEYS", 1000)
    assert np.array_equal(nearest_neighbours(vectors=vectors, limit=5)[0], expected)


def test_no_rows_and_one_row_have_no_neighbours():
    for count in (0, 1):
        indices, cosines = nearest_neighbours(vectors=np.ones((count, 4), dtype=np.float32) / 2, limit=5)
        assert indices.shape == cosines.shape == (count, 0)
        assert neighbour_pairs(indices=indices, cosines=cosines).shape == (0, 2)


def test_pairs_are_kept_once_and_only_above_a_cosine_of_zero():
    pairs = neighbour_pairs(indices=np.array([[1, 2], [0, 2], [1, 0]]), cosines=np.array([[0.9, 0.0], [0.9, 0.4], [0.4, -0.1]]))
    assert pairs.tolist() == [[0, 1], [1, 2]]


def test_a_pair_found_again_takes_the_later_round():
    pairs, rounds = unite_pairs(
        current=np.array([[0, 1], [0, 3]]),
        current_rounds=np.array([0, 1]),
        found=np.array([[0, 3], [1, 2]]),
        found_rounds=np.array([2, 2]),
    )
    assert pairs.tolist() == [[0, 1], [0, 3], [1, 2]]
    assert rounds.tolist() == [0, 2, 2]
