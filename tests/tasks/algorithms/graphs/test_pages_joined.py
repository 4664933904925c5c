"""How pages are joined, walked and read out: worked by hand, and against the paper's loop."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.beam_walk import begin, following_pages, go_on, linked_pages, pages_to_read, scores_of, similar_pages
from tasks.algorithms.graphs.communities import readout


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


def read_out(order, arcs, scores, *, neighbours, nodes):
    """Read out along arcs [(u, v, strength)]."""
    return readout(
        order=np.array(order, dtype=np.int64),
        tails=np.array([tail for tail, _, _ in arcs], dtype=np.int64),
        heads=np.array([head for _, head, _ in arcs], dtype=np.int64),
        strengths=np.array([strength for _, _, strength in arcs], dtype=float),
        scores=np.array(scores, dtype=float),
        neighbours=neighbours,
        nodes=nodes,
    ).tolist()


def one_after_the_other(order, arcs, scores, neighbours, nodes):
    """Read out as the paper says it: a node and its neighbours into the set, until it is full."""
    found = []
    for node in order:
        near = {}
        for tail, head, strength in arcs:
            if node in (tail, head) and tail != head:
                other = head if node == tail else tail
                near[other] = max(strength, near.get(other, 0.0))
        nearest = sorted(near, key=lambda other: (-near[other], -scores[other], other))[:neighbours]
        found += [each for each in (node, *nearest) if each not in found]
    return found[:nodes]


@st.composite
def orders(draw):
    count = draw(st.integers(1, 9))
    place, share = st.integers(0, count - 1), st.sampled_from([0.0, 0.3, 0.5, 1.0])
    arcs = draw(st.lists(st.tuples(place, place, share), max_size=25))
    return draw(st.permutations(range(count))), arcs, draw(st.lists(share, min_size=count, max_size=count))


@given(orders(), st.integers(0, 6), st.integers(0, 12))
def test_it_is_the_papers_loop_cut_exactly(world, neighbours, nodes):
    found = read_out(*world, neighbours=neighbours, nodes=nodes)
    assert found == one_after_the_other(*world, neighbours, nodes)
    assert len(found) == min(nodes, len(world[0]))
    assert found == read_out(*world, neighbours=neighbours, nodes=nodes + 1)[:nodes]


SIMILARITY = np.array([0.9, 0.8, 0.7, 0.2, 0.1, 0.0])
RATINGS = np.array([2.0, 1.0, 1.0, 5.0, 5.0, 1.0])
ARCS = np.zeros((6, 6), dtype=bool)
for one, other in ((0, 3), (3, 4), (4, 5), (1, 2)):
    ARCS[one, other] = ARCS[other, one] = True
METHOD = {"width": 3, "share": 0.5, "most": 40}


def walked(similarity, ratings, arcs, *, hops, **method):
    """The finished walk, and which pages were rated together."""
    beam, together = begin(similarity, width=method["width"]), []
    while len(beam.open):
        together.append(beam.open.tolist())
        beam = go_on(beam, ratings[beam.open], arcs=arcs, hops=hops, **method)
    return beam, together


def test_a_walk_reads_pages_that_no_word_of_the_question_leads_to():
    beam, together = walked(SIMILARITY, RATINGS, ARCS, hops=4, **METHOD)
    assert together == [[0, 1, 2], [3], [4], [5]]
    assert scores_of(beam, share=0.5) == pytest.approx([0.625, 0.4444, 0.3889, 0.6111, 0.5556, 0.0], abs=1e-4)
    assert pages_to_read(beam, share=0.5, least=0.3, count=3).tolist() == [0, 3, 4], "similarity alone reads 0, 1 and 2"
    assert pages_to_read(beam, share=1.0, least=0.0, count=3).tolist() == [0, 1, 2]
    assert pages_to_read(beam, share=0.5, least=0.3, count=9).tolist() == [0, 3, 4, 1, 2]
    assert pages_to_read(beam, share=0.5, least=0.9, count=3).tolist() == [0], "the best page is read whatever it is worth"


def test_a_walk_ends_with_its_hops_and_with_what_may_be_rated():
    assert walked(SIMILARITY, RATINGS, ARCS, hops=0, **METHOD)[1] == [[0, 1, 2]]
    assert walked(SIMILARITY, RATINGS, ARCS, hops=2, **METHOD)[1] == [[0, 1, 2], [3], [4]]
    assert walked(SIMILARITY, RATINGS, ARCS, hops=4, **{**METHOD, "most": 4})[1] == [[0, 1, 2], [3]]
    beam, _together = walked(SIMILARITY, RATINGS, ARCS, hops=4, **{**METHOD, "most": 4})
    assert scores_of(beam, share=0.5)[5] == 0.0, "a page without a rating is worth its similarity"
    assert walked(np.zeros(0), np.zeros(0), ARCS[:0, :0], hops=4, **METHOD)[1] == []


def test_a_page_whose_rating_fails_is_worth_its_similarity_and_is_walked_on_from():
    failed = np.where(np.arange(6) == 3, np.nan, RATINGS)
    beam, together = walked(SIMILARITY, failed, ARCS, hops=4, **METHOD)
    assert together == [[0, 1, 2], [3], [4], [5]] and beam.visited.all()
    assert scores_of(beam, share=0.3)[3] == pytest.approx(beam.similarity[3])


@st.composite
def worlds(draw):
    count = draw(st.integers(1, 9))
    similarity = np.array(draw(st.lists(st.sampled_from([0.0, 0.2, 0.5, 0.5, 1.0]), min_size=count, max_size=count)))
    ratings = np.array(draw(st.lists(st.sampled_from([1.0, 2.0, 5.0]), min_size=count, max_size=count)))
    arcs = np.array(draw(st.lists(st.booleans(), min_size=count * count, max_size=count * count))).reshape(count, count)
    np.fill_diagonal(arcs, False)
    return similarity, ratings, arcs | arcs.T


@given(worlds(), st.integers(1, 4), st.integers(0, 5), st.integers(1, 9))
def test_no_walk_rates_more_than_it_may_or_a_page_twice_and_it_stays_joined_to_where_it_began(world, width, hops, most):
    similarity, ratings, arcs = world
    _beam, together = walked(similarity, ratings, arcs, hops=hops, width=width, share=0.5, most=most)
    rated = [page for hop in together for page in hop]
    assert len(rated) == len(set(rated)) <= max(most, len(together[0]))
    assert len(together) <= hops + 1
    for before, hop in pairwise(together):
        assert all(arcs[before, page].any() for page in hop)
