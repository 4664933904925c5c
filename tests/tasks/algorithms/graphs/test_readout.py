import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.graphs.readout import readout


def read_out(order, arcs, scores, *, neighbours, nodes):
    """Read out along arcs [(u, v, strength)]."""
    return readout(
        order=np.array(order, dtype=np.int64),
        tails=np.array([tail for tail, _, _ in arcs], dtype=np.int64),
        heads=np.array([head for _, head, _ in arcs], dtype=np.int64),
        strengths=np.array([strength for _, _, strength in arcs], dtype=float),
        scores=np.array(scores, dtype=float),
        neighbours=neighbours,
        nodes=nodes,
    ).tolist()


BY_HAND = [(1, 5, 0.9), (6, 1, 0.8), (1, 7, 0.3)]


@pytest.mark.parametrize(
    ("neighbours", "nodes", "found"),
    [(2, 4, [1, 5, 6, 2]), (2, 2, [1, 5]), (0, 4, [1, 2, 3, 4]), (3, 4, [1, 5, 6, 7]), (1000, 1, [1]), (2, 0, [])],
)
def test_a_readout_by_hand(neighbours, nodes, found):
    assert read_out([1, 2, 3, 4, 5, 6, 7, 0], BY_HAND, [0] * 8, neighbours=neighbours, nodes=nodes) == found


def test_equally_near_neighbours_come_by_score_and_then_by_position():
    arcs = [(0, 4, 0.5), (0, 3, 0.5), (0, 2, 0.5), (0, 1, 0.4)]
    assert read_out([0], arcs, [0, 0.9, 0.1, 0.1, 0.3], neighbours=4, nodes=5) == [0, 4, 2, 3, 1]


def test_a_neighbour_counts_once_by_the_strongest_arc_and_also_where_it_is_there_already():
    # Both ends say so, and a node is no neighbour of itself.
    arcs = [(0, 1, 0.2), (1, 0, 0.9), (0, 2, 0.5), (0, 0, 1.0), (0, 3, 0.4)]
    assert read_out([0], arcs, [0] * 4, neighbours=2, nodes=4) == [0, 1, 2]
    assert read_out([1, 0], arcs, [0] * 4, neighbours=2, nodes=4) == [1, 0, 2]


@pytest.mark.parametrize(
    ("strength", "score", "words"), [(np.nan, 0, "strengths of arcs"), (-1, 0, "strengths"), (1, np.nan, "scores")]
)
def test_numbers_that_are_none_are_refused(strength, score, words):
    with pytest.raises(ValueError, match=f"{words}.* must be finite"):
        read_out([0], [(0, 1, strength)], [score, 0], neighbours=1, nodes=1)


def one_after_the_other(order, arcs, scores, neighbours, nodes):
    """Read out as the paper says it: a node and its neighbours into the set, until it is full."""
    found = []
    for node in order:
        near = {}
        for tail, head, strength in arcs:
            if node in (tail, head) and tail != head:
                other = head if node == tail else tail
                near[other] = max(strength, near.get(other, 0.0))
        nearest = sorted(near, key=lambda other: (-near[other], -scores[other], other))[:neighbours]
        found += [each for each in (node, *nearest) if each not in found]
    return found[:nodes]


@st.composite
def worlds(draw):
    count = draw(st.integers(1, 9))
    place, share = st.integers(0, count - 1), st.sampled_from([0.0, 0.3, 0.5, 1.0])
    arcs = draw(st.lists(st.tuples(place, place, share), max_size=25))
    return draw(st.permutations(range(count))), arcs, draw(st.lists(share, min_size=count, max_size=count))


@given(worlds(), st.integers(0, 6), st.integers(0, 12))
def test_it_is_the_papers_loop_cut_exactly(world, neighbours, nodes):
    found = read_out(*world, neighbours=neighbours, nodes=nodes)
    assert found == one_after_the_other(*world, neighbours, nodes)
    assert len(found) == min(nodes, len(world[0]))
    assert found == read_out(*world, neighbours=neighbours, nodes=nodes + 1)[:nodes]


@given(worlds(), st.integers(0, 9), st.integers(0, 6))
def test_an_order_of_some_nodes_reads_these_and_their_neighbours(world, begun, neighbours):
    order, arcs, scores = world
    found = read_out(order[:begun], arcs, scores, neighbours=neighbours, nodes=20)
    assert found == one_after_the_other(order[:begun], arcs, scores, neighbours, 20)
