"""The chains of a flow and the game that chooses among them: worked by hand, and against slow definitions."""

import math
from dataclasses import replace
from itertools import pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.flow.chains import SMALLEST_FLOW, FlowPath, decompose, jaccard_distances, path_qualities, payoff_matrix
from tasks.algorithms.flow.min_cost import min_cost_flow
from tasks.algorithms.flow.replicator import proportional_shares, replicator_dynamics, replicator_step, survivors
from tests.tasks.algorithms.flow_worlds import network, random_network, whole_networks


def between_nodes(world, flow):
    """Return the flow from each node to each other, parallel arcs together."""
    total = np.zeros((world.nodes + 2, world.nodes + 2))
    np.add.at(total, (world.tails, world.heads), flow)
    return total


def along_paths(world, paths):
    total = np.zeros((world.nodes + 2, world.nodes + 2))
    for path in paths:
        for tail, head in pairwise([world.source, *path.nodes, world.sink]):
            total[tail, head] += path.flow
    return total


def slow_decompose(world, flow, limit):
    """List all simple chains, take the widest, shortest, lowest; again, until none is left."""
    left, paths = between_nodes(world, flow), []
    while len(paths) < limit:
        graph = nx.DiGraph(zip(*np.nonzero(left > SMALLEST_FLOW), strict=True))
        graph.add_nodes_from([world.source, world.sink])
        routes = [tuple(map(int, route)) for route in nx.all_simple_paths(graph, world.source, world.sink)]
        if not routes:
            break
        width, route = min(
            ((min(left[arc] for arc in pairwise(route)), route) for route in routes),
            key=lambda pair: (-pair[0], len(pair[1]), pair[1]),
        )
        for arc in pairwise(route):
            left[arc] -= width
        paths.append(FlowPath(nodes=route[1:-1], flow=float(width)))
    return tuple(paths)


def test_chains_worked_by_hand():
    # 0 sends 5 over 1 and 3 over 2 to 3; 1 also sends 2 on to 2, which passes them on.
    edges = {(0, 1): (1, 5), (0, 2): (1, 3), (1, 3): (1, 3), (1, 2): (1, 2), (2, 3): (1, 5)}
    world = network(4, edges, sources={0: 8.0}, sinks={3: 8.0})
    flow = np.array([5.0, 3.0, 3.0, 2.0, 5.0, 8.0, 8.0])
    # 0-1-3 and 0-2-3 both carry 3: of the same width and length, the lower number goes first.
    expected = (FlowPath((0, 1, 3), 3.0), FlowPath((0, 2, 3), 3.0), FlowPath((0, 1, 2, 3), 2.0))
    assert decompose(world, flow=flow, limit=60) == expected
    assert decompose(world, flow=flow, limit=2) == expected[:2]
    assert decompose(world, flow=flow, limit=0) == ()


def test_a_circle_is_in_no_chain():
    edges = {(0, 1): (1, 1), (1, 2): (0, 1), (2, 1): (0, 1), (2, 3): (1, 1), (4, 5): (0, 1), (5, 4): (0, 1)}
    world = network(6, edges, sources={0: 1.0}, sinks={3: 1.0})
    flow = np.array([0.5, 0.75, 0.25, 0.5, 0.3, 0.3, 0.5, 0.5])
    assert decompose(world, flow=flow, limit=60) == (FlowPath((0, 1, 2, 3), 0.5),)


def test_what_is_left_of_rounding_is_no_chain():
    world = network(2, {(0, 1): (1.0, 1.0)}, sources={0: 1.0}, sinks={1: 1.0})
    assert decompose(world, flow=np.full(3, SMALLEST_FLOW), limit=60) == ()
    assert len(decompose(world, flow=np.full(3, 2 * SMALLEST_FLOW), limit=60)) == 1


def test_what_ends_nowhere_is_left_out():
    world = network(3, {(0, 1): (1, 1), (0, 2): (1, 1)}, sources={0: 1.0}, sinks={2: 1.0})
    assert decompose(world, flow=np.array([0.5, 0.5, 1.0, 0.5]), limit=60) == (FlowPath((0, 2), 0.5),)


@given(whole_networks(), st.integers(0, 9), st.integers(0, 5))
def test_chains_equal_those_of_a_full_search(world, demand, limit):
    flow = min_cost_flow(world, demand=float(demand))
    assert decompose(world, flow=flow, limit=limit) == slow_decompose(world, flow, limit)


@given(st.one_of(whole_networks(), st.integers(0, 2**32 - 1).map(random_network)), st.floats(0.1, 8))
def test_chains_add_up_to_the_flow(world, demand):
    # Costs above 0, so that no circle is for nothing.
    world = replace(world, costs=world.costs + 0.01)
    flow = min_cost_flow(world, demand=demand)
    paths = decompose(world, flow=flow, limit=1000)
    assert np.allclose(along_paths(world, paths), between_nodes(world, flow), atol=SMALLEST_FLOW * (1 + len(paths)))
    flows = [path.flow for path in paths]
    assert flows == sorted(flows, reverse=True)
    assert all(len(set(path.nodes)) == len(path.nodes) for path in paths)


PAPER = {"flow_exponent": 0.2, "peak_exponent": 0.5, "mean_exponent": 0.3}

node_sets = st.lists(st.integers(0, 9), min_size=1, max_size=5, unique=True)
path_lists = st.lists(node_sets, max_size=6)


def test_distances_worked_by_hand():
    distances = jaccard_distances(paths=[(0, 1, 2), (2, 3), (4,), (2, 1, 0)])
    # {0,1,2} and {2,3} share one node of four.
    assert distances.tolist() == [[0, 0.75, 1, 0], [0.75, 0, 1, 0.75], [1, 1, 0, 1], [0, 0.75, 1, 0]]


@given(path_lists)
def test_distances_are_those_of_python_sets(paths):
    expected = [[1 - len({*one} & {*other}) / len({*one} | {*other}) for other in paths] for one in paths]
    distances = jaccard_distances(paths=paths)
    assert distances.shape == (len(paths), len(paths))
    assert distances.tolist() == expected


def test_a_quality_worked_by_hand():
    qualities = path_qualities(
        paths=[(0, 1), (2,)],
        flows=np.array([0.5, 0.25]),
        scores=np.array([0.81, 0.19, 0.64]),
        flow_exponent=1.0,
        peak_exponent=0.5,
        mean_exponent=2.0,
    )
    # 1 * sqrt(0.81) * 0.5^2 and 0.5 * sqrt(0.64) * 0.64^2.
    assert np.allclose(qualities, [0.225, 0.5 * 0.8 * 0.64**2])


@given(st.lists(st.tuples(node_sets, st.floats(0.0, 5.0)), max_size=6), st.lists(st.floats(0, 1), min_size=10, max_size=10))
def test_qualities_lie_between_zero_and_one_and_equal_a_loop(weighted, scores):
    paths, flows = [path for path, _ in weighted], [flow for _, flow in weighted]
    qualities = path_qualities(paths=paths, flows=np.array(flows), scores=np.array(scores), **PAPER)
    largest = max(flows, default=0.0)
    for quality, path, flow in zip(qualities.tolist(), paths, flows, strict=True):
        inside = [scores[node] for node in path]
        relative = flow / largest if largest else 0.0
        assert 0.0 <= quality <= 1.0 + 1e-12
        assert math.isclose(quality, relative**0.2 * max(inside) ** 0.5 * (sum(inside) / len(inside)) ** 0.3, abs_tol=1e-12)


def test_payoffs_worked_by_hand():
    payoff = payoff_matrix(qualities=np.array([0.9, 0.4]), distances=np.array([[0, 0.5], [0.5, 0]]))
    assert np.allclose(payoff, [[0.81, 0.3], [0.3, 0.16]])


@given(path_lists)
def test_payoffs_are_symmetric_and_never_negative(paths):
    qualities = np.linspace(0, 1, len(paths))
    payoff = payoff_matrix(qualities=qualities, distances=jaccard_distances(paths=paths))
    assert np.array_equal(payoff, payoff.T)
    assert (payoff >= 0).all()
    assert np.allclose(np.diag(payoff), qualities**2)


number = st.floats(0, 1).map(lambda value: round(value, 3))


@st.composite
def games(draw):
    """Draw symmetric payoffs and shares; zeros in both are common."""
    count = draw(st.integers(0, 7))
    half = draw(arrays(float, (count, count), elements=number))
    return np.maximum(half, half.T), proportional_shares(weights=draw(arrays(float, count, elements=number)))


def slow_dynamics(payoff, start, mixing, tolerance, max_steps):
    shares, steps = list(start), 0
    while steps < max_steps:
        fitness = [sum(a * x for a, x in zip(row, shares, strict=True)) for row in payoff]
        mean = sum(x * f for x, f in zip(shares, fitness, strict=True))
        unmixed = [x * f / mean for x, f in zip(shares, fitness, strict=True)] if mean > 0 else shares
        following = [(1 - mixing) * x + mixing / len(start) for x in unmixed]
        moved = sum((a - b) ** 2 for a, b in zip(following, shares, strict=True)) ** 0.5
        shares, steps = following, steps + 1
        if moved < tolerance:
            break
    return shares


def test_two_paths_worked_by_hand():
    # A x = (0.5, 0.4), x'A x = 0.45: the shares become 5/9 and 4/9, and with a fifth mixed in 49/90 and 41/90.
    payoff = np.array([[0.8, 0.2], [0.2, 0.6]])
    shares = replicator_dynamics(payoff=payoff, start=np.array([0.5, 0.5]), mixing=0.2, tolerance=0.0, max_steps=1)
    assert np.allclose(shares, [49 / 90, 41 / 90])


@given(games(), st.sampled_from([0.0, 0.2, 1.0]), st.integers(0, 25))
def test_shares_equal_a_loop_and_stay_on_the_simplex(game, mixing, max_steps):
    payoff, start = game
    shares = replicator_dynamics(payoff=payoff, start=start, mixing=mixing, tolerance=1e-4, max_steps=max_steps)
    assert np.allclose(shares, slow_dynamics(payoff.tolist(), start.tolist(), mixing, 1e-4, max_steps), atol=1e-9)
    assert (shares >= 0).all()
    assert shares.sum() == pytest.approx(float(len(start) > 0))


@given(games())
def test_without_mixing_the_payoff_of_the_population_never_falls(game):
    payoff, shares = game
    for _ in range(10):
        following = replicator_step(payoff=payoff, shares=shares)
        assert following @ payoff @ following >= shares @ payoff @ shares - 1e-12
        shares = following


@given(arrays(float, st.integers(0, 6), elements=st.floats(0, 1e308)))
def test_first_shares_are_a_distribution_whatever_the_weights(weights):
    shares = proportional_shares(weights=weights)
    assert ((shares >= 0) & (shares <= 1)).all()
    assert len(weights) == 0 or shares.sum() == pytest.approx(1.0)


def test_first_shares_worked_by_hand():
    assert proportional_shares(weights=np.array([1.0, 3.0])).tolist() == [0.25, 0.75]
    assert proportional_shares(weights=np.zeros(4)).tolist() == [0.25] * 4


def test_survivors_come_largest_first_and_equal_ones_by_place():
    assert survivors(shares=np.array([0.1, 0.4, 0.0, 0.1, 0.4]), threshold=0.1).tolist() == [1, 4]
    assert survivors(shares=np.array([0.1, 0.4, 0.0, 0.1, 0.4]), threshold=0.0).tolist() == [1, 4, 0, 3]
    assert survivors(shares=np.zeros(0), threshold=0.0).tolist() == []
