"""What arrays share: exact products, sums by page, fair shares; and numbers that are none, which every algorithm refuses."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.arrays import (
    PAIRS_AT_ONCE,
    edge_weights,
    page_means,
    pages_of_nodes,
    pair_cosines,
    require_finite_vectors,
    require_range,
    snap_coarse,
    snap_fine,
    strongest,
    sums_by_page,
)
from tasks.algorithms.flow.chains import decompose
from tasks.algorithms.flow.min_cost import min_cost_flow
from tasks.algorithms.flow.pages import page_network
from tasks.algorithms.flow.refinement import damped_weights
from tasks.algorithms.flow.replicator import replicator_dynamics
from tasks.algorithms.flow.sizes import page_features
from tasks.algorithms.graphs.communities import readout
from tasks.algorithms.probability import Logistic, probabilities
from tasks.algorithms.questions.kinds import list_uncovered_stems
from tasks.algorithms.questions.statements import statement_page
from tasks.algorithms.quotes import Coverage, quote_scores
from tasks.algorithms.scores import (
    dense_relevance,
    propagate,
)
from tasks.algorithms.sharing import fair_shares, group_in_order
from tests.tasks.algorithms.flow_worlds import network, unit_or_zero


def unit_rows(seed, rows, columns=384):
    return unit_or_zero(np.random.default_rng(seed).normal(size=(rows, columns)))


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


ONE, PLACE = np.ones(1), np.zeros(1, dtype=np.int64)
ARC, STEPS = {"tails": PLACE, "heads": PLACE}, {"tolerance": 0.1, "max_steps": 9}
ALONE = network(1, {}, sources={0: 1.0}, sinks={})
PAGE = {**ARC, "count": 1, "pages": PLACE, "scores": ONE, "similarities": ONE}
PIECE = {"coverage": Coverage(ONE[None] > 0, ONE[None] > 0, ONE), "fits": ONE > 0}


@pytest.mark.parametrize(
    ("what", "bounds", "work"),
    [
        ("flows", "0 to inf", lambda wrong: decompose(ALONE, flow=wrong, limit=60)),
        ("demand", "0 to inf", lambda wrong: min_cost_flow(ALONE, demand=wrong[0])),
        ("payoffs", "0 to inf", lambda wrong: replicator_dynamics(payoff=wrong[None], start=ONE, mixing=0.2, **STEPS)),
        ("scores", "0 to inf", lambda wrong: page_features(scores=wrong, follows=ONE > 0, collects=False)),
        ("strengths of arcs", "0 to inf", lambda w: readout(order=PLACE, **ARC, strengths=w, scores=ONE, neighbours=1, nodes=1)),
        ("weights of stems", "0 to inf", lambda wrong: list_uncovered_stems(weights={"cost": wrong[0]}, covered=[], least=0.5)),
        ("scores of pages", "0 to inf", lambda wrong: statement_page(counts=ONE[None], scores=wrong, share=0.5)),
        ("relevance", "0 to inf", lambda w: propagate(relevance=w, **ARC, weights=ONE, anchor=0.5, **STEPS, keep_unreached=False)),
        ("probabilities", "0 to 1", lambda wrong: page_network(**PAGE, probabilities=wrong)),
        ("worths of nodes", "0 to 1", lambda w: quote_scores(**PIECE, worths=w, beside_share=0.5, worth_share=0.5, misfit=0.5)),
        ("old weights", "0 to 1", lambda wrong: damped_weights(old=wrong, proposed=ONE, damping=0.6, bound=0.3)),
        ("features", "-inf to inf", lambda wrong: probabilities(wrong[None], Logistic(0.0, (1.0,)))),
    ],
)
def test_no_algorithm_takes_what_is_no_number(what, bounds, work):
    with pytest.raises(ValueError, match=f"{what}.* must be finite, from {bounds}, not nan"):
        work(np.array([np.nan]))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf, -0.1])
def test_the_first_wrong_number_is_named_with_its_place(wrong):
    with pytest.raises(ValueError, match=rf"scores must be finite, from 0 to inf, not {wrong} at place 1"):
        require_range(name="scores", values=[0.5, wrong, np.nan], low=0.0, high=np.inf)


def test_a_single_number_has_no_place():
    with pytest.raises(ValueError, match=r"demand must be finite, from 0 to inf, not nan; compute them again"):
        require_range(name="demand", values=np.nan, low=0.0, high=np.inf)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_the_first_row_that_is_not_finite_is_named(bad):
    require_finite_vectors(np.ones((3, 4), dtype=np.float32))
    with pytest.raises(ValueError, match="the vector of row 1 holds a number that is not finite; embed its document again"):
        require_finite_vectors(np.array([[0, 1], [1, bad], [bad, 0]], dtype=np.float32))
    with pytest.raises(ValueError, match="the vector of the question holds a number that is not finite"):
        dense_relevance(query=np.array([0, bad], dtype=np.float32), vectors=np.ones((3, 2), dtype=np.float32))


@given(st.lists(st.integers(-2, 5), max_size=12), st.integers(0, 12))
def test_strongest_equals_a_full_sort(scores, count):
    expected = sorted((i for i, score in enumerate(scores) if score > 0), key=lambda i: (-scores[i], i))[:count]
    assert strongest(scores=np.array(scores, dtype=np.float64), count=count).tolist() == expected


NONE = np.zeros(0, dtype=np.int64)
PLACES = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4)), max_size=12)


def numbered(places):
    documents, pages = (np.array([place[axis] for place in places], dtype=np.int64) for axis in (0, 1))
    return pages_of_nodes(documents=documents, pages=pages)


def test_sums_and_means_of_pages_worked_by_hand():
    pages, values = np.array([1, 0, 1]), np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 3.0]])
    assert sums_by_page(values=values[:, 0], pages=pages).tolist() == [2.0, 5.0]
    assert sums_by_page(values=values, pages=pages).tolist() == [[2.0, 1.0], [5.0, 3.0]]
    # A mean leans to the longer node and has length 1; vectors that cancel leave zero and not NaN.
    vectors = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 1.0], [1.0, 0.0], [-1.0, 0.0]], dtype=np.float32)
    means = page_means(vectors=vectors, weights=np.array([3.0, 4.0, 0.0, 1.0, 1.0]), pages=np.array([0, 0, 1, 2, 2]))
    assert means.dtype == np.float32 and np.allclose(means, [[0.6, 0.8], [0.0, 1.0], [0.0, 0.0]])


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
def test_sums_and_means_are_those_of_a_loop(places):
    pages, vectors, weights = numbered(places), unit_rows(7, len(places), 3), np.arange(len(places), dtype=np.float64)
    sums, means = sums_by_page(values=weights, pages=pages), page_means(vectors=vectors, weights=weights, pages=pages)
    assert sums.tolist() == [sum(weights[pages == page].tolist()) for page in range(len(sums))]
    for page in range(len(means)):
        whole = (vectors[pages == page].astype(np.float64) * np.maximum(weights[pages == page], 1.0)[:, None]).sum(axis=0)
        assert np.allclose(means[page], whole / np.linalg.norm(whole), atol=1e-6)


@given(PLACES, st.integers(0, 11))
def test_the_mean_of_a_page_does_not_hang_on_other_pages(places, kept):
    pages, vectors, weights = numbered(places), unit_rows(7, len(places), 3), np.arange(len(places), dtype=np.float64)
    if kept >= len(places):
        return
    own = pages == pages[kept]
    alone = page_means(vectors=vectors[own], weights=weights[own], pages=np.zeros(own.sum(), dtype=np.int64))
    assert np.array_equal(alone[0], page_means(vectors=vectors, weights=weights, pages=pages)[pages[kept]])


def test_the_small_get_all_they_need_and_the_large_share_the_rest():
    assert fair_shares(needs=[10, 1000, 500], room=610) == [10, 300, 300]
    assert fair_shares(needs=[10, 20], room=100) == [10, 20]
    assert fair_shares(needs=[5, 5], room=0) == [0, 0]
    assert fair_shares(needs=[], room=7) == []


@given(st.lists(st.integers(0, 1000), max_size=20), st.integers(0, 5000))
def test_no_text_gets_more_than_it_needs_and_no_room_is_wasted(needs, room):
    shares = fair_shares(needs=needs, room=room)
    assert all(0 <= share <= need for share, need in zip(shares, needs, strict=True)) and sum(shares) <= room
    assert sum(needs) <= room or sum(shares) > room - len(needs)


@given(st.lists(st.integers(0, 50)), st.integers(1, 8), st.integers(0, 100))
def test_every_item_is_in_one_group_none_is_too_large_and_no_two_neighbours_could_be_one(sizes, most_items, most_size):
    groups = group_in_order(sizes=sizes, most_items=most_items, most_size=most_size)
    assert [place for group in groups for place in group] == list(range(len(sizes)))

    def fits(group):
        return len(group) <= most_items and (len(group) == 1 or sum(sizes[place] for place in group) <= most_size)

    assert all(group and fits(group) for group in groups)
    assert not any(fits([*one, other[0]]) for one, other in pairwise(groups))
