import itertools
from itertools import combinations, pairwise

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.drawing import ENTRY, count_crossings, lay_out_paths, order_layers


@st.composite
def layered(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    ends = np.cumsum(sizes)
    layers = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    pairs = [(a, b) for left, right in pairwise(layers) for a in left for b in right]
    weights = draw(st.lists(st.one_of(st.none(), st.floats(0, 5)), min_size=len(pairs), max_size=len(pairs)))
    return layers, [(*pair, weight) for pair, weight in zip(pairs, weights, strict=True) if weight is not None]


@pytest.mark.parametrize(
    ("layers", "links", "ordered"),
    [
        ([[0, 1], [2, 3]], [(0, 3, 1), (1, 2, 1)], [[0, 1], [3, 2]]),
        # 3 hangs between 0 and 2, 4 at 1: with a strong line to 2 it stands below 4.
        ([[0, 1, 2], [3, 4]], [(0, 3, 1.0), (2, 3, 9.0), (1, 4, 1.0), (0, 4, 0.1)], [[0, 1, 2], [4, 3]]),
        ([[0, 1], [2, 3, 4]], [(0, 4, 1), (1, 2, 1)], [[0, 1], [4, 3, 2]]),  # a slot without lines keeps its place
    ],
)
def test_the_first_sweep_uncrosses_lines_and_the_stronger_pulls_more(layers, links, ordered):
    assert order_layers(layers=layers, links=links, sweeps=1) == ordered


@given(layered())
def test_no_slot_is_lost_and_the_crossings_never_grow(world):
    layers, links = world
    ordered = order_layers(layers=layers, links=links, sweeps=6)
    assert [sorted(layer) for layer in ordered] == layers
    assert count_crossings(layers=ordered, links=links) <= count_crossings(layers=layers, links=links)
    assert ordered == order_layers(layers=layers, links=links, sweeps=6)


@given(layered())
def test_crossings_are_those_of_the_straight_lines(world):
    layers, links = world
    at = {slot: (column, row) for column, layer in enumerate(layers) for row, slot in enumerate(layer)}
    crossing = 0
    for (a, b, _), (c, d, _) in combinations(links, 2):
        if at[a][0] == at[c][0] and (at[a][1] - at[c][1]) * (at[b][1] - at[d][1]) < 0:
            crossing += 1
    assert count_crossings(layers=layers, links=links) == crossing


@st.composite
def worlds(draw):
    """Paths over few nodes, numbered in the order in which they appear; they may form cycles."""
    raw = draw(st.lists(st.lists(st.integers(0, 7), min_size=1, max_size=5), max_size=8))
    number = {node: place for place, node in enumerate(dict.fromkeys(node for path in raw for node in path))}
    flows = draw(st.lists(st.floats(0, 3), min_size=len(raw), max_size=len(raw)))
    return {"paths": [[number[node] for node in path] for path in raw], "flows": flows, "nodes": len(number)}


def test_paths_worked_by_hand():
    # 0 -> 1 -> 2, 0 -> 2 past column 1, and 3 alone: columns of 2, 3 (with two passing routes) and 2 slots.
    layout = lay_out_paths(paths=[[0, 1, 2], [0, 2], [3]], flows=[0.5, 0.25, 1.0], nodes=4)
    assert layout.columns.tolist() == [0, 1, 2, 0]
    assert (layout.width, layout.height) == (3, 3)
    assert layout.rows.tolist() == [0.5, 0.0, 0.5, 1.5]
    routes = {(route.source, route.target): route for route in layout.routes}
    assert {ends: route.flow for ends, route in routes.items()} == {
        (ENTRY, 0): 0.75, (0, 1): 0.5, (1, 2): 0.5, (2, 4): 0.75, (0, 2): 0.25, (ENTRY, 3): 1.0, (3, 4): 1.0,
    }  # fmt: skip
    assert routes[0, 2].between == ((1, 1.0),)
    assert routes[3, 4].between == ((1, 2.0), (2, 1.5))


def test_the_end_of_a_short_chain_stands_in_the_last_column():
    layout = lay_out_paths(paths=[[0, 1, 2, 3], [4, 5]], flows=[1, 1], nodes=6)
    assert layout.columns.tolist() == [0, 1, 2, 3, 0, 3]


def test_an_entry_in_the_middle_is_reached_past_the_columns_before_it():
    layout = lay_out_paths(paths=[[0, 1], [1]], flows=[1, 2], nodes=2)
    assert [route.between for route in layout.routes if (route.source, route.target) == (ENTRY, 1)] == [((0, 1.0),)]


def test_of_a_cycle_the_weakest_arc_goes_back():
    layout = lay_out_paths(paths=[[0, 1], [1, 0]], flows=[1, 2], nodes=2)
    assert layout.columns.tolist() == [1, 0]
    assert [route.between for route in layout.routes if (route.source, route.target) == (0, 1)] == [()]


@given(worlds())
def test_nothing_stands_on_top_of_another_and_nothing_outside(world):
    layout = lay_out_paths(**world)
    taken = sorted(zip(layout.columns.tolist(), layout.rows.tolist(), strict=True))
    taken = sorted(taken + [point for route in layout.routes for point in route.between])
    assert all(a[0] < b[0] or b[1] - a[1] >= 1 for a, b in itertools.pairwise(taken))
    assert all(0 <= column < layout.width and 0 <= row <= layout.height - 1 for column, row in taken)


@given(worlds())
def test_routes_carry_what_the_paths_do_and_pass_each_column_once(world):
    layout = lay_out_paths(**world)
    entering = sum(route.flow for route in layout.routes if route.source == ENTRY)
    assert entering == pytest.approx(sum(world["flows"]))
    assert entering == pytest.approx(sum(route.flow for route in layout.routes if route.target == world["nodes"]))
    columns = {ENTRY: -1, world["nodes"]: layout.width} | dict(enumerate(layout.columns.tolist()))
    for route in layout.routes:
        start, end = columns[route.source], columns[route.target]
        assert [column for column, _ in route.between] == list(range(start + 1, end))


@given(worlds())
def test_without_cycles_all_flow_runs_to_the_right_over_as_many_columns_as_the_longest_chain(world):
    graph = nx.DiGraph()
    graph.add_nodes_from(range(world["nodes"]))
    graph.add_edges_from(arc for path in world["paths"] for arc in itertools.pairwise(path) if arc[0] != arc[1])
    if not nx.is_directed_acyclic_graph(graph):
        return
    layout = lay_out_paths(**world)
    assert all(layout.columns[a] < layout.columns[b] for a, b in graph.edges)
    assert layout.width == (nx.dag_longest_path_length(graph) + 1 if graph else 0)
    assert all(layout.columns[node] == layout.width - 1 for node in graph if graph.in_degree(node) and not graph.out_degree(node))
