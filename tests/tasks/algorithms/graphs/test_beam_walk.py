"""The worked example by hand, and what holds of every walk."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.beam_walk import begin, go_on, pages_to_read, scores_of

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


@given(worlds())
def test_the_similarity_alone_ranks_what_was_visited_as_it_ranks_all(world):
    similarity, ratings, arcs = world
    beam, _together = walked(similarity, ratings, arcs, hops=3, width=2, share=1.0, most=40)
    read = pages_to_read(beam, share=1.0, least=0.0, count=len(similarity))
    assert sorted(read.tolist()) == np.flatnonzero(beam.visited).tolist()
    assert similarity[read].tolist() == sorted(similarity[read], reverse=True)
