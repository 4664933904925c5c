import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog

from tasks.algorithms.flow_solvers import FlowError
from tasks.algorithms.paying_flow import paying_flow
from tests.tasks.algorithms.flow_worlds import balances, network


def layered(seed):
    """Return a network without circles, whose costs lie on both sides of 0."""
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 15))
    edges = {}
    for _ in range(int(random.integers(0, 4 * nodes))):
        first, second = sorted(random.integers(0, nodes, 2).tolist())
        if first < second:
            edges[first, second] = random.uniform(-1, 1), random.random()
    ends = random.choice(nodes, size=(2, min(nodes, 3)), replace=True)
    return network(nodes, edges, sources=dict.fromkeys(ends[0].tolist(), 0.8), sinks=dict.fromkeys(ends[1].tolist(), 0.9))


def test_a_flow_worked_by_hand():
    # 0-1 earns 0.4 a unit and carries 0.5; 0-2 would cost 0.1.
    world = network(3, {(0, 1): (-0.4, 0.5), (0, 2): (0.1, 1.0)}, sources={0: 1.0}, sinks={1: 1.0, 2: 1.0})
    routed = paying_flow(world)
    assert routed.flow.tolist() == [0.5, 0.0, 0.5, 0.5, 0.0]
    assert routed.amount == 0.5
    assert routed.cost == pytest.approx(-0.2)


def test_a_loss_is_taken_for_a_greater_gain_behind_it():
    world = network(3, {(0, 1): (0.3, 1.0), (1, 2): (-0.5, 1.0)}, sources={0: 1.0}, sinks={1: 1.0, 2: 1.0})
    assert paying_flow(world).flow.tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]


def test_where_nothing_pays_nothing_runs():
    world = network(2, {(0, 1): (0.1, 1.0)}, sources={0: 1.0}, sinks={1: 1.0})
    assert (paying_flow(world).amount, paying_flow(world).cost) == (0.0, 0.0)
    assert paying_flow(network(0, {}, sources={}, sinks={})).amount == 0.0
    assert paying_flow(network(2, {(0, 1): (-1.0, 1.0)}, sources={}, sinks={1: 1.0})).amount == 0.0


@given(st.integers(0, 2**32 - 1).map(layered))
def test_the_gain_is_that_of_the_linear_program(world):
    routed = paying_flow(world)
    count = len(world.tails)
    conservation = np.zeros((world.nodes + 2, count))
    np.add.at(conservation, (world.tails, np.arange(count)), 1.0)
    np.add.at(conservation, (world.heads, np.arange(count)), -1.0)
    bounds = np.stack([np.zeros(count), world.capacities], axis=1)
    inner = conservation[: world.nodes]
    solved = linprog(world.costs, A_eq=inner, b_eq=np.zeros(world.nodes), bounds=bounds, method="highs")
    assert solved.status == 0, solved.message
    assert routed.cost == pytest.approx(float(solved.fun), abs=1e-5)


@given(st.integers(0, 2**32 - 1).map(layered))
def test_a_flow_is_conserved_fits_and_comes_out_the_same_again(world):
    routed = paying_flow(world)
    assert (routed.flow >= 0).all()
    assert (routed.flow <= world.capacities + 1e-15).all()
    expected = np.zeros(world.nodes + 2)
    expected[[world.source, world.sink]] = routed.amount, -routed.amount
    assert np.allclose(balances(world, routed.flow), expected, atol=1e-9)
    assert paying_flow(world).flow.tolist() == routed.flow.tolist()


def test_numbers_too_large_for_the_solver_are_refused():
    world = network(2, {(0, 1): (-1e12, 1e9)}, sources={0: 1e9}, sinks={1: 1e9})
    with pytest.raises(FlowError, match=r"min-cost circulation ended with .*: scale them to about 1"):
        paying_flow(world)
