import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.page_sums import page_means, pages_of_nodes, sums_by_page

NONE = np.zeros(0, dtype=np.int64)
PLACES = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=12)


def numbered(places):
    documents, pages = (np.array([place[axis] for place in places], dtype=np.int64) for axis in (0, 1))
    return pages_of_nodes(documents=documents, pages=pages)


def drawn(nodes, seed=7):
    vectors = np.random.default_rng(seed).normal(size=(nodes, 3)).astype(np.float32)
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)


def test_pages_are_counted_by_document_and_number_and_only_those_that_have_nodes():
    assert numbered([(1, 3), (0, 9), (1, 3), (0, 2), (1, 1)]).tolist() == [3, 1, 3, 0, 2]


def test_values_are_summed_by_page_each_column_by_itself():
    pages = np.array([1, 0, 1])
    assert sums_by_page(values=np.array([1.0, 2.0, 4.0]), pages=pages).tolist() == [2.0, 5.0]
    assert sums_by_page(values=np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 3.0]]), pages=pages).tolist() == [[2.0, 1.0], [5.0, 3.0]]


def test_a_mean_leans_to_the_longer_node_and_has_length_one():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0]], dtype=np.float32)
    means = page_means(vectors=vectors, weights=np.array([3.0, 4.0, 0.0]), pages=np.array([0, 0, 1]))
    assert means.dtype == np.float32 and np.allclose(means, [[0.6, 0.8], [0.0, 1.0]])


def test_a_node_without_words_counts_as_one_word():
    vectors = np.array([[1.0, 0.0], [0.0, 1.0]], dtype=np.float32)
    pages = np.array([0, 0])
    weightless = page_means(vectors=vectors, weights=np.zeros(2), pages=pages)
    assert np.array_equal(weightless, page_means(vectors=vectors, weights=np.ones(2), pages=pages))


def test_vectors_that_cancel_leave_zero_and_not_nan():
    vectors = np.array([[1.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    assert page_means(vectors=vectors, weights=np.ones(2), pages=np.array([0, 0])).tolist() == [[0.0, 0.0]]


@pytest.mark.parametrize("shape", [(0,), (0, 4)])
def test_without_nodes_there_are_no_pages(shape):
    assert numbered([]).tolist() == []
    assert sums_by_page(values=np.zeros(shape), pages=NONE).shape == shape
    assert page_means(vectors=np.zeros((0, 5), np.float32), weights=np.zeros(0), pages=NONE).shape == (0, 5)


@given(PLACES)
def test_two_nodes_share_a_number_where_they_share_a_page_and_the_numbers_have_no_gap(places):
    pages = numbered(places).tolist()
    assert all((a == b) == (places[i] == places[j]) for i, a in enumerate(pages) for j, b in enumerate(pages))
    assert sorted(set(pages)) == list(range(len(set(places))))
    assert [place for _, place in sorted(set(zip(pages, places, strict=True)))] == sorted(set(places))


@given(PLACES)
def test_sums_are_those_of_a_loop_and_lose_nothing(places):
    pages, values = numbered(places), np.arange(len(places), dtype=np.float64)
    sums = sums_by_page(values=values, pages=pages)
    assert sums.tolist() == [sum(values[pages == page].tolist()) for page in range(len(sums))]
    assert sums.sum() == values.sum()


@given(PLACES)
def test_means_are_those_of_a_loop(places):
    pages, vectors, weights = numbered(places), drawn(len(places)), np.arange(len(places), dtype=np.float64)
    means = page_means(vectors=vectors, weights=weights, pages=pages)
    for page in range(len(means)):
        sums = (vectors[pages == page].astype(np.float64) * np.maximum(weights[pages == page], 1.0)[:, None]).sum(axis=0)
        assert np.allclose(means[page], sums / np.linalg.norm(sums), atol=1e-6)


@given(PLACES, st.integers(0, 11))
def test_the_mean_of_a_page_does_not_hang_on_other_pages(places, kept):
    pages, vectors, weights = numbered(places), drawn(len(places)), np.arange(len(places), dtype=np.float64)
    if kept >= len(places):
        return
    own = pages == pages[kept]
    alone = page_means(vectors=vectors[own], weights=weights[own], pages=np.zeros(own.sum(), dtype=np.int64))
    assert np.array_equal(alone[0], page_means(vectors=vectors, weights=weights, pages=pages)[pages[kept]])
