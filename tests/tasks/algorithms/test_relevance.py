import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.relevance import blended_relevance, dense_relevance, min_max


def unit_or_zero(rows):
    lengths = np.linalg.norm(rows, axis=-1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


worlds = st.integers(0, 8).flatmap(lambda n: arrays(np.int8, (n + 1, 4), elements=st.integers(-3, 3))).map(unit_or_zero)
shares = st.floats(0, 1)


def test_dense_relevance_worked_by_hand():
    vectors = np.array([[1, 0], [0.6, 0.8], [-1, 0], [0, 0]], dtype=np.float32)
    assert np.allclose(dense_relevance(query=vectors[1], vectors=vectors), [0.6, 1, 0, 0], atol=1e-6)


@given(worlds)
def test_dense_relevance_is_the_rectified_cosine(rows):
    query, vectors = rows[0], rows[1:]
    dense = dense_relevance(query=query, vectors=vectors)
    expected = [max(sum(a * b for a, b in zip(query.tolist(), row, strict=True)), 0.0) for row in vectors.tolist()]
    assert np.allclose(dense, expected, atol=1e-6)
    assert ((dense >= 0) & (dense <= 1)).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_a_nodes_dense_relevance_does_not_depend_on_the_other_nodes(seed, count):
    vectors = unit_or_zero(np.random.default_rng(seed).normal(size=(count, 384)))
    whole = dense_relevance(query=vectors[0], vectors=vectors)
    assert whole[count // 2 :].tolist() == dense_relevance(query=vectors[0], vectors=vectors[count // 2 :]).tolist()


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_vector_that_is_not_finite_is_named(bad):
    good, broken = np.zeros((3, 2), dtype=np.float32), np.array([[0, 0], [1, 0], [0, bad]], dtype=np.float32)
    with pytest.raises(ValueError, match="the vector of row 2 holds a number that is not finite"):
        dense_relevance(query=good[0], vectors=broken)
    with pytest.raises(ValueError, match="the vector of the question holds a number that is not finite"):
        dense_relevance(query=broken[2], vectors=good)


def test_min_max_worked_by_hand():
    assert min_max(np.array([2.0, 6.0, 3.0])).tolist() == [0.0, 1.0, 0.25]


@given(arrays(np.float64, st.integers(2, 9), elements=st.floats(0, 1e6)))
def test_min_max_keeps_the_order_and_spans_zero_to_one(scores):
    scaled = min_max(scores)
    assert (np.diff(scaled[np.argsort(scores, kind="stable")]) >= 0).all()
    assert scaled.min() == 0.0
    assert scaled.max() == float(scores.min() < scores.max())


def test_equal_scores_say_nothing():
    assert min_max(np.full(3, 7.5)).tolist() == min_max(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]
    assert min_max(np.array([4.0])).tolist() == [0.0]
    assert min_max(np.zeros(0)).tolist() == []


def test_min_max_of_no_number_is_refused():
    with pytest.raises(ValueError, match=r"scores must be finite, .*, not nan at place 1"):
        min_max(np.array([1.0, np.nan]))


def test_a_blend_worked_by_hand():
    blended = blended_relevance(dense=np.array([0.8, 0.0]), lexical=np.array([0.2, 1.0]), blend=0.25)
    assert np.allclose(blended, [0.65, 0.25], rtol=1e-15)


@given(arrays(np.float64, (2, 5), elements=shares), shares)
def test_a_blend_lies_between_its_parts(parts, blend):
    blended = blended_relevance(dense=parts[0], lexical=parts[1], blend=blend)
    assert (blended >= parts.min(axis=0) - 1e-15).all()
    assert (blended <= parts.max(axis=0) + 1e-15).all()
    assert blended_relevance(dense=parts[0], lexical=parts[1], blend=0.0).tolist() == parts[0].tolist()
    assert blended_relevance(dense=parts[0], lexical=parts[1], blend=1.0).tolist() == parts[1].tolist()
