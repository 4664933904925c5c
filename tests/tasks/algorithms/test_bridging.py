import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.bridging import accepted_bridges, cut_pairs
from tasks.algorithms.flow_network import assemble_network
from tasks.algorithms.max_flow import connection_network, max_flow
from tests.tasks.algorithms.flow_worlds import arcs


def sides(before, behind):
    return {"source_side": np.array(before, dtype=bool), "sink_side": np.array(behind, dtype=bool)}


WORLD = {
    **sides([1, 1, 1, 0, 0, 0], [0, 0, 0, 0, 1, 1]),
    **arcs((0, 5)),
    "scores": np.array([0.9, 0.2, 0.5, 1.0, 0.3, 0.8]),
}


def slow_pairs(source_side, sink_side, tails, heads, scores, limit):
    def ranked(side):
        return sorted(
            (node for node in range(len(scores)) if side[node] and scores[node] > 0), key=lambda node: (-scores[node], node)
        )

    edges = set(zip(tails.tolist(), heads.tolist(), strict=True))
    all_pairs = [(max(i, j), i + j, i, u, v) for i, u in enumerate(ranked(source_side)) for j, v in enumerate(ranked(sink_side))]
    return [[u, v] for _, _, _, u, v in sorted(all_pairs) if (u, v) not in edges][:limit]


def test_pairs_worked_by_hand():
    # Source side by h: 0, 2, 1; sink side: 5, 4; node 3 is on neither, and (0, 5) is an edge already.
    expected = [[0, 4], [2, 5], [2, 4], [1, 5], [1, 4]]
    assert cut_pairs(**WORLD, limit=32).tolist() == expected
    assert cut_pairs(**WORLD, limit=2).tolist() == expected[:2]
    assert cut_pairs(**WORLD, limit=0).shape == (0, 2)


@st.composite
def cuts(draw):
    count = draw(st.integers(1, 9))
    place = st.lists(st.sampled_from([0, 1, 2]), min_size=count, max_size=count)
    where = np.array(draw(place))
    pairs = draw(st.lists(st.tuples(st.integers(0, count - 1), st.integers(0, count - 1)), max_size=25))
    scores = np.array(draw(st.lists(st.sampled_from([0.0, 0.25, 0.5, 1.0]), min_size=count, max_size=count)))
    return {**sides(where == 0, where == 1), **arcs(*pairs), "scores": scores}


@given(cuts(), st.integers(0, 8))
def test_pairs_equal_a_full_sort(cut, limit):
    assert cut_pairs(**cut, limit=limit).tolist() == slow_pairs(**cut, limit=limit)


def test_edges_on_all_the_first_places_only_move_the_choice_on():
    nodes = 40
    inside = [(u, v) for u in range(12) for v in range(20, 32)]
    cut = {**sides(np.arange(nodes) < 20, np.arange(nodes) >= 20), **arcs(*inside), "scores": np.linspace(1, 0.5, nodes)}
    assert cut_pairs(**cut, limit=5).tolist() == slow_pairs(**cut, limit=5)


@given(st.integers(0, 2**32 - 1))
def test_every_pair_would_let_more_through(seed):
    random = np.random.default_rng(seed)
    nodes, scores = 12, random.uniform(0.1, 1.0, 12)
    tails, heads = random.integers(0, nodes, size=(2, 14))

    def connection(tails, heads):
        network = assemble_network(
            nodes=nodes,
            tails=tails,
            heads=heads,
            costs=np.ones(len(tails)),
            capacities=np.minimum(scores[tails], scores[heads]),
            sources=np.arange(3),
            source_capacities=scores[:3],
            sinks=np.arange(9, 12),
            sink_capacities=scores[9:],
        )
        return max_flow(connection_network(network))

    found = connection(tails, heads)
    pairs = cut_pairs(source_side=found.source_side, sink_side=found.sink_side, tails=tails, heads=heads, scores=scores, limit=4)
    for tail, head in pairs.tolist():
        assert connection(np.append(tails, tail), np.append(heads, head)).value > found.value


def test_only_scores_above_the_bound_are_accepted():
    assert accepted_bridges(scores=np.array([0.1, 0.5, 0.11]), above=0.1).tolist() == [1, 2]
    assert accepted_bridges(scores=np.zeros(0), above=0.1).tolist() == []


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ValueError, match="bridge scores must be finite, from 0 to 1, not nan"):
        accepted_bridges(scores=np.array([np.nan]), above=0.1)
    with pytest.raises(ValueError, match="scores must be finite"):
        cut_pairs(**{**WORLD, "scores": np.full(6, np.nan)}, limit=3)
    with pytest.raises(ValueError, match="heads name place 6 of 6"):
        cut_pairs(**{**WORLD, "heads": np.array([6])}, limit=3)
