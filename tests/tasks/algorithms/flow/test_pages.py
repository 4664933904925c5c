"""How many pages a question is worth, and the chains that are read on them."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.flow.chains import FlowPath, decompose
from tasks.algorithms.flow.min_cost import min_cost_flow
from tasks.algorithms.flow.pages import downhill, page_network, read_chains, same_page_arcs
from tasks.algorithms.flow.sizes import (
    FEATURES,
    LEAST_RATIO,
    completeness,
    most_probable,
    page_features,
    pages_worth,
    price_for,
)
from tests.tasks.algorithms.flow_worlds import amount_of, arcs, cost_of, lp_cost


def world(scores, relations, *, pages, probabilities, count):
    """Build the network of relations {(u, v): similarity}."""
    return page_network(
        **arcs(*relations),
        similarities=np.array(list(relations.values()), dtype=float),
        probabilities=np.array(probabilities, dtype=float),
        count=count,
        pages=np.array(pages, dtype=np.int64),
        scores=np.array(scores, dtype=float),
    )


def chains(scores, relations, *, pages):
    """Return the chains on pages that are all read, in the order of the pages."""
    count = len(set(pages))
    network = world(scores, relations, pages=pages, probabilities=np.linspace(0.9, 0.1, count), count=count)
    found = decompose(network, flow=min_cost_flow(network, demand=count), limit=count)
    return list(read_chains(found, pages=np.array(pages, dtype=np.int64)))


def opened_pages(network, flow, *, pages):
    """Return the places of the pages that the flow opens."""
    opening = np.flatnonzero((network.tails == network.source) & (flow > 0))
    return (network.heads[opening] - (network.nodes - pages)).tolist()


def test_a_network_worked_by_hand():
    # Scores are taken relative to the best; a step costs 1 - 0.5 (1 + 0.5) / 2, and the arc back carries nothing.
    network = world([0.8, 0.4], {(0, 1): 0.5, (1, 0): 0.5}, pages=[0, 0], probabilities=[0.5, 0.25], count=1)
    assert (network.nodes, network.source, network.sink) == (6, 6, 7)
    assert network.tails.tolist() == [2, 3, 6, 6, 4, 4, 0, 1, 0, 1, 2, 3, 5]
    assert network.heads.tolist() == [1, 0, 4, 5, 0, 1, 2, 3, 2, 3, 7, 7, 7]
    opening = [np.log(2), np.log(4) + 1e-6]
    assert network.costs.tolist() == pytest.approx([0.625, 0.625, *opening, 0, 0, -1.0, -0.5, 0, 0, 0, 0, 0])
    assert network.capacities.tolist() == [1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1]
    assert min_cost_flow(network, demand=1).tolist() == [0, 0, 1, 0, 1, 0, 1, 0, 0, 0, 1, 0, 0]


def test_a_page_is_read_on_as_long_as_its_nodes_pay_for_the_step():
    # From the best node the step costs 1 - (1 + 0.4) / 2 = 0.3, to a node of 0.3 it would cost 0.35.
    assert chains([1.0, 0.4], {(0, 1): 1.0}, pages=[0, 0]) == [(0, 1)]
    assert chains([1.0, 0.3], {(0, 1): 1.0}, pages=[0, 0]) == [(0,)]
    assert chains([1.0, 0.4], {(0, 1): 0.0}, pages=[0, 0]) == [(0,)]


def test_a_step_leads_to_another_page_where_something_is_left_to_earn():
    # Node 1 is earned by the unit that opens its page, and nothing is earned twice.
    assert chains([1.0, 0.9], {(0, 1): 1.0}, pages=[0, 1]) == [(0,), (1,)]
    assert chains([1.0, 0.9, 0.8], {(0, 2): 0.9}, pages=[0, 1, 1]) == [(0, 2), (1,)]
    # Uphill no step leads.
    assert chains([0.8, 1.0, 0.9], {(0, 2): 0.9}, pages=[0, 1, 1]) == [(0,), (1,)]


def test_of_two_of_the_same_height_the_arc_to_the_larger_index_leads_downhill():
    pairs = arcs((0, 1), (1, 0), (1, 2), (2, 1), (1, 1))
    assert downhill(heights=np.array([1.0, 1.0, 0.5]), **pairs).tolist() == [True, False, True, False, False]


def test_chains_are_joined_from_halves_and_come_in_the_order_of_their_pages():
    paths = (FlowPath(nodes=(7, 2, 5), flow=1.0), FlowPath(nodes=(6, 0, 3, 1, 4), flow=1.0))
    assert read_chains(paths, pages=np.array([0, 0, 1])) == ((0, 1), (2,))
    assert read_chains((), pages=np.zeros(0, dtype=np.int64)) == ()


@st.composite
def questions(draw):
    """Draw pages in the order of a ranking, of which some are read; equal probabilities and scores of 0 are common."""
    chances = draw(st.lists(st.sampled_from([0.0, 0.001, 0.1, 0.5, 0.9, 1.0]) | st.floats(0, 1), min_size=1, max_size=7))
    count = draw(st.integers(0, len(chances)))
    more = draw(st.lists(st.integers(0, count - 1), max_size=8)) if count else []
    pages = [*range(count), *more]
    scores = draw(st.lists(st.integers(0, 20).map(lambda score: score / 20), min_size=len(pages), max_size=len(pages)))
    place = st.integers(0, len(pages) - 1)
    similarities = st.sampled_from([0.0, 0.5, 0.9, 1.0])
    relations = draw(st.dictionaries(st.tuples(place, place), similarities, max_size=15)) if pages else {}
    return chances, {"scores": scores, "relations": relations, "pages": pages, "count": count}


@given(questions())
def test_no_arc_costs_a_probable_page_its_place(question):
    chances, asked = question
    order = most_probable(np.array(chances))
    network = world(**asked, probabilities=np.array(chances)[order])
    flow = min_cost_flow(network, demand=asked["count"])
    read = {int(order[place]) for place in opened_pages(network, flow, pages=len(chances))}
    assert read == set(sorted(range(len(chances)), key=lambda page: (-chances[page], page))[: asked["count"]])
    assert amount_of(network, flow) == asked["count"]
    assert cost_of(network, flow) == pytest.approx(lp_cost(network, asked["count"]), abs=1e-4)


@given(questions())
def test_each_page_has_a_chain_of_its_own_that_runs_downhill_along_relations(question):
    chances, asked = question
    network = world(**asked, probabilities=sorted(chances, reverse=True))
    flow = min_cost_flow(network, demand=asked["count"])
    found = read_chains(decompose(network, flow=flow, limit=asked["count"]), pages=np.array(asked["pages"], dtype=np.int64))
    assert [asked["pages"][chain[0]] for chain in found] == list(range(asked["count"]))
    for first, second in (step for chain in found for step in pairwise(chain)):
        assert asked["relations"][first, second] > 0 and asked["scores"][first] >= asked["scores"][second]
    # A node earns once, however many chains go through it.
    passed = {node for chain in found for node in chain}
    steps = [step for chain in found for step in pairwise(chain)]
    best = max(asked["scores"], default=0.0) or 1.0
    opening = -np.log(np.maximum(sorted(chances, reverse=True), np.finfo(float).tiny))[: asked["count"]]
    spent = [1 - asked["relations"][step] * (asked["scores"][step[0]] + asked["scores"][step[1]]) / best / 2 for step in steps]
    earned = sum(asked["scores"][node] / best for node in passed)
    assert cost_of(network, flow) == pytest.approx(sum(opening) + sum(spent) - earned, abs=1e-4)


def pairs(made):
    return list(zip(*(side.tolist() for side in made), strict=True))


def test_a_page_is_read_from_its_best_node_downwards():
    scores, pages = np.array([0.3, 0.9, 0.4, 0.8, 0.3, 0.8]), np.array([0, 0, 1, 2, 0, 2])
    assert pairs(same_page_arcs(pages=pages, scores=scores)) == [(1, 0), (0, 4), (3, 5)]
    assert pairs(same_page_arcs(pages=pages[:0], scores=scores[:0])) == []


@given(st.lists(st.tuples(st.integers(0, 3), st.sampled_from([0.0, 0.25, 0.5, 1.0])), max_size=12))
def test_the_arcs_of_a_page_are_one_chain_through_all_its_nodes(placed):
    pages, scores = np.array([page for page, _ in placed], dtype=np.int64), np.array([score for _, score in placed], dtype=float)
    expected = set()
    for page in set(pages.tolist()):
        nodes = sorted((node for node in range(len(placed)) if pages[node] == page), key=lambda node: (-scores[node], node))
        expected |= set(pairwise(nodes))
    assert set(pairs(same_page_arcs(pages=pages, scores=scores))) == expected


PROBABILITIES = st.lists(st.floats(0.0, 1.0), max_size=12).map(lambda values: np.sort(np.array(values))[::-1])


def test_features_by_hand():
    found = page_features(scores=np.array([0.8, 0.4, 0.0]), follows=np.array([False, True, False]), collects=True)
    second, third = np.log(2), np.log(3)
    expected = [
        [0.0, 0.0, 1.0, 0.0, 0.0, 1.0],
        [np.log(0.5), second, 1.0, second, 1.0, 0.0],
        [np.log(LEAST_RATIO), third, 1.0, third, 0.0, 0.0],
    ]
    assert found == pytest.approx(np.array(expected)) and found.shape[1] == len(FEATURES)
    plain = page_features(scores=np.array([0.8, 0.4]), follows=np.array([False, True]), collects=False)
    assert plain[:, 2:4].tolist() == [[0.0, 0.0], [0.0, 0.0]]


def test_pages_without_a_score_and_no_page_have_features_too():
    nothing = page_features(scores=np.zeros(2), follows=np.zeros(2, dtype=np.bool_), collects=False)
    assert nothing[:, 0].tolist() == pytest.approx([np.log(LEAST_RATIO)] * 2)
    none = page_features(scores=np.zeros(0), follows=np.zeros(0, dtype=np.bool_), collects=True)
    assert none.shape == (0, len(FEATURES)) and completeness(np.zeros(0)).shape == (0,)


def test_completeness_by_hand():
    # After one page 0.75 and 0.36 are not among the others, after two 0.36; alpha takes the root.
    assert completeness(np.array([0.9, 0.25, 0.64])).tolist() == pytest.approx([np.sqrt(0.75 * 0.36), 0.6, 1.0])


@given(PROBABILITIES)
def test_completeness_rises_to_one_within_0_and_1(found):
    complete = completeness(found)
    assert (np.diff(complete) >= 0).all() and ((complete >= 0) & (complete <= 1)).all()
    assert len(complete) == len(found) and (not len(found) or complete[-1] == 1.0)


def test_pages_are_read_while_one_more_is_worth_its_price():
    complete = np.array([0.5, 0.8, 0.9, 0.9])
    assert [pages_worth(complete, price=price) for price in (0.5, 0.2, 0.05, 0.0)] == [1, 2, 3, 3]
    assert pages_worth(np.zeros(0), price=0.1) == 0


@given(PROBABILITIES, st.floats(0.0, 0.5), st.floats(0.0, 0.5))
def test_a_dearer_page_is_never_read_more(found, one, other):
    complete = completeness(found)
    low, high = sorted((one, other))
    assert pages_worth(complete, price=high) <= pages_worth(complete, price=low)


def test_the_price_is_that_at_which_the_mean_falls_to_what_is_asked_for():
    # The first question is worth its second page up to 0.4, the other up to 0.1.
    questions = [np.array([0.6, 1.0]), np.array([0.9, 1.0])]
    assert price_for(questions, pages=1.5) == pytest.approx(0.1)
    assert price_for(questions, pages=1.0) == pytest.approx(0.4)
    assert price_for(questions, pages=2.0) == pytest.approx(0.0)
    assert price_for([*questions, np.array([1.0])], pages=4 / 3) == pytest.approx(0.1), "one of them has a single page"


@given(st.lists(PROBABILITIES.filter(len), min_size=1, max_size=6), st.floats(1.0, 8.0))
def test_at_its_price_no_more_pages_are_read_than_asked_for_and_at_the_least_lower_one_more_or_all(found, pages):
    questions = [completeness(one) for one in found]
    price = price_for(questions, pages=pages)
    assert np.mean([pages_worth(one, price=price) for one in questions]) <= pages
    cheaper = np.mean([pages_worth(one, price=price - 1e-9) for one in questions])
    assert price < 1e-9 or cheaper > pages


def test_the_most_probable_pages_come_first_and_equal_ones_by_place():
    assert most_probable(np.array([0.2, 0.9, 0.2, 0.5])).tolist() == [1, 3, 0, 2]
