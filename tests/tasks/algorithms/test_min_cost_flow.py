import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tasks.algorithms.flow_network import FlowNetwork
from tasks.algorithms.flow_solvers import FlowError
from tasks.algorithms.max_flow import max_flow
from tasks.algorithms.min_cost_flow import min_cost_flow
from tests.tasks.algorithms.flow_worlds import balances, network, random_network, whole_networks

ROUNDING = 1e-6
"""Units of flow are a billionth, and no test network has a thousand arcs."""


def lp_cost(world: FlowNetwork, amount: float) -> float:
    """Solve eq. 6 as it stands, with SciPy's HiGHS."""
    count = len(world.tails)
    conservation = np.zeros((world.nodes + 2, count))
    np.add.at(conservation, (world.tails, np.arange(count)), 1.0)
    np.add.at(conservation, (world.heads, np.arange(count)), -1.0)
    supplies = np.zeros(world.nodes + 2)
    supplies[[world.source, world.sink]] = amount, -amount
    bounds = np.stack([np.zeros(count), world.capacities], axis=1)
    solved = linprog(world.costs, A_eq=conservation, b_eq=supplies, bounds=bounds, method="highs")
    assert solved.status == 0, solved.message
    return float(solved.fun)


def test_a_flow_worked_by_hand():
    # Two chains 0-1-3 (cost 2 a unit) and 0-2-3 (cost 4); the cheap one carries 0.4 and the rest of the 0.6 goes round.
    edges = {(0, 1): (1.0, 0.5), (1, 3): (1.0, 0.4), (0, 2): (2.0, 1.0), (2, 3): (2.0, 1.0)}
    world = network(4, edges, sources={0: 0.9}, sinks={3: 0.6})
    routed = min_cost_flow(world, demand=6.0)
    assert routed.flow.tolist() == [0.4, 0.4, 0.2, 0.2, 0.6, 0.6]
    assert routed.amount == 0.6
    assert routed.cost == pytest.approx(0.4 * 2 + 0.2 * 4)
    assert min_cost_flow(world, demand=0.3).flow.tolist() == [0.3, 0.3, 0.0, 0.0, 0.3, 0.3]


def test_a_source_that_is_a_sink_is_a_chain_of_its_own():
    world = network(1, {}, sources={0: 0.7}, sinks={0: 0.5})
    assert min_cost_flow(world, demand=6.0).flow.tolist() == [0.5, 0.5]


@pytest.mark.parametrize("seed", range(200))
def test_the_optimum_is_that_of_the_linear_program(seed):
    world = random_network(seed)
    routed = min_cost_flow(world, demand=float(np.random.default_rng(seed).uniform(0.05, 4.0)))
    assert routed.cost == pytest.approx(lp_cost(world, routed.amount), rel=1e-6, abs=1e-9)


@given(whole_networks(), st.integers(0, 9))
def test_the_cost_is_that_of_the_network_simplex(world, wish):
    graph = nx.MultiDiGraph()
    graph.add_nodes_from(range(world.nodes + 2), demand=0)
    numbers = (world.tails, world.heads, world.costs.astype(int), world.capacities.astype(int))
    for tail, head, cost, capacity in zip(*(array.tolist() for array in numbers), strict=True):
        graph.add_edge(tail, head, weight=cost, capacity=capacity)
    demand = min(wish, int(max_flow(world).value))
    graph.nodes[world.source]["demand"], graph.nodes[world.sink]["demand"] = -demand, demand
    routed = min_cost_flow(world, demand=float(wish))
    assert (routed.cost, routed.amount) == (nx.network_simplex(graph)[0], demand)


@given(st.one_of(whole_networks(), st.integers(0, 2**32 - 1).map(random_network)), st.floats(0, 8))
def test_a_flow_is_conserved_fits_and_is_never_negative(world, demand):
    routed = min_cost_flow(world, demand=demand)
    assert (routed.flow >= 0).all()
    assert (routed.flow <= world.capacities + 1e-15).all()
    expected = np.zeros(world.nodes + 2)
    expected[[world.source, world.sink]] = routed.amount, -routed.amount
    assert np.allclose(balances(world, routed.flow), expected, atol=1e-9)
    assert routed.amount == pytest.approx(min(demand, max_flow(world).value), abs=ROUNDING)


@given(st.integers(0, 2**32 - 1).map(random_network))
def test_the_same_network_is_routed_the_same_way_again(world):
    assert np.array_equal(min_cost_flow(world, demand=2.0).flow, min_cost_flow(world, demand=2.0).flow)


def test_costs_below_zero_may_pay_for_a_circle():
    edges = {(0, 1): (1.0, 1.0), (1, 2): (-3.0, 0.5), (2, 1): (1.0, 0.5)}
    routed = min_cost_flow(network(3, edges, sources={0: 1.0}, sinks={1: 1.0}), demand=0.25)
    assert (routed.flow.tolist(), routed.amount, routed.cost) == ([0.25, 0.5, 0.5, 0.25, 0.25], 0.25, 0.25 - 1.0)


@pytest.mark.parametrize("world", [network(0, {}, sources={}, sinks={}), network(2, {}, sources={0: 1.0}, sinks={1: 1.0})])
def test_nothing_flows_where_nothing_connects(world):
    routed = min_cost_flow(world, demand=6.0)
    assert (routed.flow.sum(), routed.amount, routed.cost) == (0.0, 0.0, 0.0)


@pytest.mark.parametrize("demand", [-1.0, np.nan, np.inf])
def test_a_demand_that_is_no_amount_is_refused(demand):
    with pytest.raises(ValueError, match="demand must be finite, from 0"):
        min_cost_flow(network(1, {}, sources={}, sinks={}), demand=demand)


def test_numbers_too_large_for_the_solver_are_an_error_by_name():
    world = network(2, {(0, 1): (1e15, 1.0)}, sources={0: 1.0}, sinks={1: 1.0})
    with pytest.raises(FlowError, match="min-cost flow ended with BAD_COST_RANGE on 2 nodes and 3 arcs; costs reach 1e\\+15"):
        min_cost_flow(world, demand=1.0)
