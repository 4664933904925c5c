"""The network of a question, its ends, and what flows through it: worked by hand, and against networkx and a linear program."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.arrays import snap_fine
from tasks.algorithms.flow.ends import answerability, density, diverse_sources
from tasks.algorithms.flow.min_cost import max_flow, min_cost_flow, saturation
from tasks.algorithms.flow.network import UNITS_OF_COST, UNITS_OF_FLOW, build_network, cost_units, flow_units, solver_arcs
from tests.tasks.algorithms.flow_worlds import (
    amount_of,
    arcs,
    balances,
    cost_of,
    lp_cost,
    network,
    random_network,
    unit_or_zero,
    whole_networks,
)

unit_values = arrays(np.float64, 6, elements=st.floats(0, 1))


def test_density_worked_by_hand():
    assert density(word_counts=np.array([0.0, 10.0, 40.0, 90.0]), percentile=40.0).tolist() == [0.0, 0.25, 1.0, 1.0]


@given(arrays(np.float64, 6, elements=st.integers(0, 500)), st.floats(0, 500))
def test_density_rises_with_the_words_from_zero_to_one(word_counts, percentile):
    scaled = density(word_counts=word_counts, percentile=percentile)
    assert ((scaled >= 0) & (scaled <= 1)).all()
    assert (np.diff(scaled[np.argsort(word_counts)]) >= 0).all()
    assert (scaled[word_counts > percentile] == 1).all()


def test_answerability_worked_by_hand():
    # Relevant text, a relevant figure of few words, an irrelevant figure, a relevant figure that is full already.
    scores = answerability(
        relevance=np.array([0.5, 0.5, 0.0, 1.0]),
        density=np.array([0.5, 0.1, 1.0, 1.0]),
        is_visual=np.array([False, True, True, True]),
        visual_bonus=0.05,
    )
    assert np.allclose(scores, [0.25, 0.1, 0.0, 1.0], rtol=1e-15)


@given(unit_values, unit_values, arrays(np.bool_, 6), st.floats(0, 1))
def test_answerability_lies_between_zero_and_one_and_needs_relevance(relevance, dense, is_visual, visual_bonus):
    scores = answerability(relevance=relevance, density=dense, is_visual=is_visual, visual_bonus=visual_bonus)
    assert ((scores >= 0) & (scores <= 1)).all()
    assert (scores[relevance == 0] == 0).all()
    assert scores[~is_visual].tolist() == (relevance * dense)[~is_visual].tolist()
    assert (scores[is_visual] >= (relevance * dense)[is_visual]).all()


@st.composite
def scored_vectors(draw):
    """Scores and vectors; scores of 0, zero vectors, duplicates and equal values are common."""
    nodes = draw(st.integers(0, 8))
    scores = draw(arrays(np.float64, nodes, elements=st.sampled_from([0.0, 0.25, 0.5, 1.0])))
    return scores, unit_or_zero(draw(arrays(np.int8, (nodes, 3), elements=st.integers(-2, 2))))


def slow_sources(scores, vectors, count, trade_off):
    """The definition of appendix B.1, word for word: every cosine anew for every choice."""
    fine = snap_fine(vectors)
    chosen = []

    def value(v):
        nearest = max((float(sum((fine[v] * fine[u]).tolist())) for u in chosen), default=0.0)
        return trade_off * scores[v] - (1.0 - trade_off) * nearest

    while len(chosen) < count and (left := [v for v in range(len(scores)) if scores[v] > 0 and v not in chosen]):
        chosen.append(max(left, key=lambda v: (value(v), -v)))
    return chosen


@given(scored_vectors(), st.integers(0, 9), st.sampled_from([0.0, 0.25, 0.5, 0.7, 1.0]))
def test_sources_equal_the_definition(world, count, trade_off):
    scores, vectors = world
    sources = diverse_sources(scores=scores, vectors=vectors, count=count, trade_off=trade_off)
    assert sources.tolist() == slow_sources(scores, vectors, count, trade_off)


def test_sources_worked_by_hand():
    # The second repeats the first: 0.7 * 0.9 - 0.3 * 1 = 0.33; the third lies across: 0.7 * 0.5 = 0.35; the fourth scores nothing.
    vectors = np.array([[1, 0], [1, 0], [0, 1], [-1, 0]], dtype=np.float32)
    scores = np.array([1.0, 0.9, 0.5, 0.0])
    assert diverse_sources(scores=scores, vectors=vectors, count=2, trade_off=0.7).tolist() == [0, 2]
    assert diverse_sources(scores=scores, vectors=vectors, count=8, trade_off=0.7).tolist() == [0, 2, 1]
    assert diverse_sources(scores=scores, vectors=vectors, count=2, trade_off=1.0).tolist() == [0, 1]


WORLD = {
    "nodes": 3,
    **arcs((0, 1), (1, 2)),
    "cosines": np.array([0.5, -0.3]),
    "scores": np.array([0.8, 0.4, 0.6]),
    "sources": np.array([0, 2]),
    "sinks": np.array([2]),
    "answerability": np.array([0.1, 0.2, 0.3]),
}


def test_a_network_worked_by_hand():
    built = build_network(**WORLD)
    assert (built.nodes, built.source, built.sink) == (3, 3, 4)
    assert built.tails.tolist() == [0, 1, 3, 3, 2]
    assert built.heads.tolist() == [1, 2, 0, 2, 4]
    # 1 - 0.5 * (0.8 + 0.4) / 2 = 0.7; a cosine below 0 counts as 0.
    assert built.costs.tolist() == [pytest.approx(0.7), 1.0, 0.0, 0.0, 0.0]
    assert built.capacities.tolist() == [0.4, 0.4, 0.8, 0.6, 0.3]


@given(st.lists(st.floats(0, 1e6), max_size=5))
def test_units_of_flow_never_pass_the_amount_and_lose_less_than_one(amounts):
    units = flow_units(np.array(amounts))
    assert units.dtype == np.int64
    exact = np.array(amounts) * UNITS_OF_FLOW
    assert ((units <= exact) & (exact - units < 1)).all()


def test_units_of_cost_are_rounded_both_ways():
    assert cost_units(np.array([0.1234564, 0.1234566, -0.5])).tolist() == [123456, 123457, -UNITS_OF_COST // 2]


def test_numbers_beyond_the_units_stay_defined():
    assert flow_units(np.array([1e300])).tolist() == [2**62]
    assert np.abs(cost_units(np.array([-1e300, 1e300]))).min() > 2**61


def test_arcs_begin_at_the_narrow_end():
    wide = network(2, {(0, 1): (1.0, 1.0), (1, 0): (1.0, 0.0)}, sources={0: 2.0}, sinks={1: 2.0})
    straight = solver_arcs(wide)
    assert (straight.begin, straight.end, straight.turned) == (2, 3, False)
    assert list(zip(straight.tails.tolist(), straight.heads.tolist(), strict=True)) == [(0, 1), (2, 0), (1, 3)]
    turned = solver_arcs(network(2, {(0, 1): (1.0, 1.0)}, sources={0: 2.0}, sinks={1: 1.0}))
    assert (turned.begin, turned.end, turned.turned) == (3, 2, True)
    assert list(zip(turned.tails.tolist(), turned.heads.tolist(), strict=True)) == [(1, 0), (0, 2), (3, 1)]


ROUNDING = 1e-6
"""Units of flow are a billionth, and no test network has a thousand arcs."""


def test_a_flow_worked_by_hand():
    # Two chains 0-1-3 (cost 2 a unit) and 0-2-3 (cost 4); the cheap one carries 0.4 and the rest of the 0.6 goes round.
    edges = {(0, 1): (1.0, 0.5), (1, 3): (1.0, 0.4), (0, 2): (2.0, 1.0), (2, 3): (2.0, 1.0)}
    world = network(4, edges, sources={0: 0.9}, sinks={3: 0.6})
    assert min_cost_flow(world, demand=6.0).tolist() == [0.4, 0.4, 0.2, 0.2, 0.6, 0.6]
    assert min_cost_flow(world, demand=0.3).tolist() == [0.3, 0.3, 0.0, 0.0, 0.3, 0.3]


@given(st.one_of(whole_networks(), st.integers(0, 2**32 - 1).map(random_network)), st.floats(0.05, 4.0))
def test_the_optimum_is_that_of_the_linear_program(world, demand):
    flow = min_cost_flow(world, demand=demand)
    assert cost_of(world, flow) == pytest.approx(lp_cost(world, amount_of(world, flow)), rel=1e-6, abs=1e-6)


@given(st.one_of(whole_networks(), st.integers(0, 2**32 - 1).map(random_network)), st.floats(0, 8))
def test_a_flow_is_conserved_fits_and_is_never_negative(world, demand):
    flow = min_cost_flow(world, demand=demand)
    assert (flow >= 0).all()
    assert (flow <= world.capacities + 1e-15).all()
    amount = amount_of(world, flow)
    expected = np.zeros(world.nodes + 2)
    expected[[world.source, world.sink]] = amount, -amount
    assert np.allclose(balances(world, flow), expected, atol=1e-9)
    assert amount == pytest.approx(min(demand, max_flow(world).value), abs=ROUNDING)


def test_costs_below_zero_may_pay_for_a_circle():
    edges = {(0, 1): (1.0, 1.0), (1, 2): (-3.0, 0.5), (2, 1): (1.0, 0.5)}
    world = network(3, edges, sources={0: 1.0}, sinks={1: 1.0})
    assert min_cost_flow(world, demand=0.25).tolist() == [0.25, 0.5, 0.5, 0.25, 0.25]


def test_numbers_too_large_for_the_solver_are_an_error_by_name():
    world = network(2, {(0, 1): (1e15, 1.0)}, sources={0: 1.0}, sinks={1: 1.0})
    with pytest.raises(RuntimeError, match="min-cost flow ended with BAD_COST_RANGE on 2 nodes and 3 arcs; costs reach 1e\\+15"):
        min_cost_flow(world, demand=1.0)
    world = network(2, {}, sources={0: 1e12, 1: 1e12}, sinks={0: 1e12, 1: 1e12})
    with pytest.raises(RuntimeError, match="max flow ended with POSSIBLE_OVERFLOW on 2 nodes and 4 arcs"):
        max_flow(world)


CHAIN = network(
    4, {(0, 1): (1.0, 0.5), (1, 2): (1.0, 0.2), (2, 3): (1.0, 0.9)}, sources={0: 0.8}, sinks={3: 0.1}
)  # The narrowest inside is (1, 2), the narrowest of all the arc into the supersink.


def as_graph(world):
    """Return the network for networkx, which knows no parallel arcs: their capacities are added."""
    graph = nx.DiGraph()
    graph.add_nodes_from(range(world.nodes + 2))
    for tail, head, capacity in zip(world.tails.tolist(), world.heads.tolist(), world.capacities.tolist(), strict=True):
        before = graph.get_edge_data(tail, head, {"capacity": 0.0})["capacity"]
        graph.add_edge(tail, head, capacity=before + capacity)
    return graph


def test_a_chain_worked_by_hand():
    found = max_flow(CHAIN)
    assert found.value == 0.1
    assert found.source_side.tolist() == [True] * 4
    assert found.sink_side.tolist() == [False] * 4


@given(whole_networks())
def test_value_and_sides_are_those_of_networkx(world):
    found = max_flow(world)
    value, (_, behind) = nx.minimum_cut(as_graph(world), world.source, world.sink)
    assert found.value == value == nx.maximum_flow_value(as_graph(world), world.source, world.sink)
    # networkx gives the cut nearest to the sink; of the graph turned round that is the one nearest to the source.
    _, (_, before) = nx.minimum_cut(as_graph(world).reverse(), world.sink, world.source)
    assert {world.sink, *np.flatnonzero(found.sink_side).tolist()} == behind
    assert {world.source, *np.flatnonzero(found.source_side).tolist()} == before


@given(st.one_of(whole_networks(), st.integers(0, 2**32 - 1).map(random_network)))
def test_the_cut_holds_as_much_as_flows(world):
    found = max_flow(world)
    before = np.append(found.source_side, [True, False])
    crossing = before[world.tails] & ~before[world.heads]
    assert world.capacities[crossing].sum() == pytest.approx(found.value, abs=1e-6)
    behind = np.append(found.sink_side, [False, True])
    assert world.capacities[~behind[world.tails] & behind[world.heads]].sum() == pytest.approx(found.value, abs=1e-6)
    assert not (before & behind).any()


def test_saturation_is_the_share_of_the_demand_that_fits():
    assert saturation(max_flow=3.0, demand=6.0) == 0.5
    assert saturation(max_flow=7.0, demand=6.0) == 1.0
