import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.flow_solvers import UNITS_OF_COST, UNITS_OF_FLOW, cost_units, flow_units, refused, solver_arcs
from tests.tasks.algorithms.flow_worlds import network, whole_networks


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


def test_a_refusal_names_status_and_sizes():
    error = refused(solver="max flow", status="BAD_INPUT", network=network(3, {(0, 1): (7.0, 5.0)}, sources={}, sinks={}))
    assert str(error).startswith("max flow ended with BAD_INPUT on 3 nodes and 1 arcs; costs reach 7 and capacities 5:")
    assert "costs reach 0 and" in str(refused(solver="s", status="S", network=network(0, {}, sources={}, sinks={})))
