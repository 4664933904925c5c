"""The order within columns: crossings counted right, never more than before, planar drawings found."""

from itertools import combinations, pairwise, permutations

import networkx as nx
import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.layer_order import count_crossings, order_layers


@st.composite
def layered(draw):
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    ends = np.cumsum(sizes)
    layers = [list(range(end - size, end)) for size, end in zip(sizes, ends, strict=True)]
    pairs = [(a, b) for left, right in pairwise(layers) for a in left for b in right]
    weights = draw(st.lists(st.one_of(st.none(), st.floats(0, 5)), min_size=len(pairs), max_size=len(pairs)))
    return layers, [(*pair, weight) for pair, weight in zip(pairs, weights, strict=True) if weight is not None]


def test_crossings_worked_by_hand():
    # 0 - 3 crosses 1 - 2; 4's lines start where others do and cross nothing of the other gap.
    assert count_crossings(layers=[[0, 1], [2, 3], [4]], links=[(0, 3, 1), (1, 2, 1), (2, 4, 1), (3, 4, 1)]) == 1
    assert count_crossings(layers=[[0], [1, 2]], links=[(0, 1, 1), (0, 2, 1)]) == 0


def test_two_crossed_lines_are_uncrossed_by_the_first_sweep():
    assert order_layers(layers=[[0, 1], [2, 3]], links=[(0, 3, 1), (1, 2, 1)], sweeps=1) == [[0, 1], [3, 2]]


def test_the_stronger_line_pulls_more():
    # 3 hangs between 0 and 2, 4 at 1: with a strong line to 2 it stands below 4.
    layers, links = [[0, 1, 2], [3, 4]], [(0, 3, 1.0), (2, 3, 9.0), (1, 4, 1.0), (0, 4, 0.1)]
    assert order_layers(layers=layers, links=links, sweeps=1) == [[0, 1, 2], [4, 3]]


def test_lines_of_weight_zero_count_alike():
    assert order_layers(layers=[[0, 1], [2, 3]], links=[(0, 3, 0), (1, 2, 0)], sweeps=2) == [[0, 1], [3, 2]]


def test_a_slot_without_lines_keeps_its_place():
    assert order_layers(layers=[[0, 1], [2, 3, 4]], links=[(0, 4, 1), (1, 2, 1)], sweeps=1)[1] == [4, 3, 2]


def test_nothing_to_order_stays():
    assert order_layers(layers=[], links=[], sweeps=6) == []
    assert order_layers(layers=[[0]], links=[], sweeps=6) == [[0]]


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


def test_two_columns_come_near_the_fewest_crossings_there_can_be():
    given_crossings = left_crossings = fewest_crossings = 0
    for seed in range(20):
        graph = nx.bipartite.gnmk_random_graph(4, 4, 6, seed=seed)
        layers, links = [[0, 1, 2, 3], [4, 5, 6, 7]], [(a, b, 1.0) for a, b in graph.edges]
        given_crossings += count_crossings(layers=layers, links=links)
        left_crossings += count_crossings(layers=order_layers(layers=layers, links=links, sweeps=6), links=links)
        fewest_crossings += min(
            count_crossings(layers=[list(left), list(right)], links=links)
            for left in permutations(layers[0])
            for right in permutations(layers[1])
        )
    assert left_crossings - fewest_crossings < 0.2 * (given_crossings - fewest_crossings)
