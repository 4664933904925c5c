import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.flow.min_cost import max_flow, min_cost_flow, saturation
from tasks.algorithms.flow.network import FlowError
from tests.tasks.algorithms.flow_worlds import amount_of, balances, cost_of, lp_cost, network, random_network, whole_networks

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


@pytest.mark.parametrize("world", [network(0, {}, sources={}, sinks={}), network(2, {}, sources={0: 1.0}, sinks={1: 1.0})])
def test_nothing_flows_where_nothing_connects(world):
    assert not min_cost_flow(world, demand=6.0).any()


@pytest.mark.parametrize("demand", [-1.0, np.nan, np.inf])
def test_a_demand_that_is_no_amount_is_refused(demand):
    with pytest.raises(ValueError, match="demand must be finite, from 0"):
        min_cost_flow(network(1, {}, sources={}, sinks={}), demand=demand)


def test_numbers_too_large_for_the_solver_are_an_error_by_name():
    world = network(2, {(0, 1): (1e15, 1.0)}, sources={0: 1.0}, sinks={1: 1.0})
    with pytest.raises(FlowError, match="min-cost flow ended with BAD_COST_RANGE on 2 nodes and 3 arcs; costs reach 1e\\+15"):
        min_cost_flow(world, demand=1.0)


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


def test_a_graph_that_falls_apart_carries_nothing_from_one_side_to_the_other():
    found = max_flow(network(3, {(0, 1): (1.0, 0.5)}, sources={0: 0.5}, sinks={2: 0.5}))
    assert found.value == 0.0
    assert (found.source_side.tolist(), found.sink_side.tolist()) == ([True, True, False], [False, False, True])


@pytest.mark.parametrize("world", [network(0, {}, sources={}, sinks={}), network(2, {}, sources={}, sinks={})])
def test_without_sources_and_sinks_nothing_flows(world):
    found = max_flow(world)
    assert (found.value, found.source_side.any(), found.sink_side.any()) == (0.0, False, False)


def test_capacities_too_large_for_the_solver_are_an_error_by_name():
    world = network(2, {}, sources={0: 1e12, 1: 1e12}, sinks={0: 1e12, 1: 1e12})
    with pytest.raises(FlowError, match="max flow ended with POSSIBLE_OVERFLOW on 2 nodes and 4 arcs"):
        max_flow(world)


def test_saturation_is_the_share_of_the_demand_that_fits():
    assert saturation(max_flow=3.0, demand=6.0) == 0.5
    assert saturation(max_flow=7.0, demand=6.0) == 1.0
