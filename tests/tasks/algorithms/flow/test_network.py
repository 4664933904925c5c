import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.flow.network import (
    UNITS_OF_COST,
    UNITS_OF_FLOW,
    build_network,
    cost_units,
    flow_units,
    solver_arcs,
)
from tests.tasks.algorithms.flow_worlds import arcs, network, whole_networks

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


def test_no_edges_no_sources_and_no_nodes_are_a_network_too():
    none, numbers = np.zeros(0, dtype=np.int64), np.zeros(0)
    edges = {**arcs(), "cosines": numbers}
    empty = build_network(nodes=0, **edges, scores=numbers, sources=none, sinks=none, answerability=numbers)
    assert (empty.source, empty.sink, len(empty.tails)) == (0, 1, 0)
    assert empty.tails.dtype == empty.heads.dtype == np.int64
    node = np.zeros(1, dtype=np.int64)
    lone = build_network(nodes=1, **edges, scores=np.ones(1), sources=node, sinks=node, answerability=np.ones(1) / 2)
    assert (lone.tails.tolist(), lone.heads.tolist()) == ([1, 0], [0, 2])


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("scores", np.array([0.1, np.nan, 0.2]), "scores must be finite, from 0 to inf, not nan at place 1"),
        ("scores", np.array([0.1, -0.5, 0.2]), "scores must be finite, from 0 to inf, not -0.5"),
        ("cosines", np.array([0.1, np.nan]), "cosines must be finite"),
        ("answerability", np.array([0.1, 0.2, np.inf]), "answerability must be finite"),
    ],
)
def test_what_is_no_number_is_refused_by_name(name, value, message):
    with pytest.raises(ValueError, match=message):
        build_network(**{**WORLD, name: value})


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


@given(whole_networks())
def test_only_arcs_that_can_carry_something_are_kept(world):
    arcs = solver_arcs(world)
    assert arcs.places.tolist() == np.flatnonzero(world.capacities >= 1).tolist()
    assert np.array_equal(arcs.capacities, world.capacities[arcs.places] * UNITS_OF_FLOW)
