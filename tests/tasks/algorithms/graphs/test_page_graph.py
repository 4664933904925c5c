"""Which pages are joined."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.page_graph import following_pages, linked_pages, similar_pages


def pairs(joined):
    return [tuple(pair) for pair in np.argwhere(np.triu(joined)).tolist()]


def on_circle(*degrees):
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def test_a_page_is_joined_with_its_nearest_of_the_same_document():
    vectors = on_circle(0, 10, 30, 90, 0)
    documents = np.array([0, 0, 0, 0, 1])
    assert pairs(similar_pages(vectors=vectors, documents=documents, least=0.4, neighbours=5)) == [(0, 1), (0, 2), (1, 2), (2, 3)]
    assert pairs(similar_pages(vectors=vectors, documents=documents, least=0.4, neighbours=1)) == [(0, 1), (1, 2), (2, 3)]
    assert pairs(similar_pages(vectors=vectors, documents=documents, least=0.6, neighbours=5)) == [(0, 1), (0, 2), (1, 2)]


def test_pages_are_joined_by_what_stands_on_them_and_by_standing_beside_each_other():
    linked = linked_pages(tails=np.array([0, 1, 3]), heads=np.array([1, 2, 0]), pages=np.array([0, 0, 2, 1]))
    assert pairs(linked) == [(0, 1), (0, 2)] and (linked == linked.T).all()
    assert pairs(following_pages(documents=np.array([0, 0, 0, 1]), numbers=np.array([1, 2, 4, 3]))) == [(0, 1)]
    assert linked_pages(tails=np.zeros(0, int), heads=np.zeros(0, int), pages=np.zeros(0, int)).shape == (0, 0)


@given(st.lists(st.integers(0, 359), min_size=1, max_size=12, unique=True), st.integers(1, 4), st.randoms(use_true_random=False))
def test_joined_both_ways_and_whatever_the_order(degrees, neighbours, randomly):
    order = list(range(len(degrees)))
    randomly.shuffle(order)
    documents = np.zeros(len(degrees), int)
    joined = similar_pages(vectors=on_circle(*degrees), documents=documents, least=-1.0, neighbours=len(degrees))
    again = similar_pages(vectors=on_circle(*np.array(degrees)[order]), documents=documents, least=-1.0, neighbours=len(degrees))
    assert (joined[np.ix_(order, order)] == again).all()
    few = similar_pages(vectors=on_circle(*degrees), documents=documents, least=0.4, neighbours=neighbours)
    assert (few == few.T).all() and not few.diagonal().any() and not (few & ~joined).any()
