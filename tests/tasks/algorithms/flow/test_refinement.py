import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays as float_arrays

from tasks.algorithms.flow.chains import SMALLEST_FLOW
from tasks.algorithms.flow.refinement import (
    Trigger,
    cut_pairs,
    damped_weights,
    expanded_sources,
    gate,
    top_decile_arcs,
)
from tests.tasks.algorithms.flow_worlds import arcs

PAPER = {"saturation_below": 0.6, "consistency_below": 0.65}


@pytest.mark.parametrize(
    ("supported", "saturation", "consistency", "expected"),
    [
        (0, 0.1, 0.1, Trigger.NO_SUPPORT),
        (0, 1.0, 1.0, Trigger.NO_SUPPORT),
        (1, 0.59, 0.1, Trigger.LOW_SATURATION),
        (1, 0.6, 0.64, Trigger.LOW_CONSISTENCY),
        (1, 0.6, 0.65, None),
        (9, 1.0, 1.0, None),
    ],
)
def test_the_gravest_reason_wins_and_a_threshold_itself_is_enough(supported, saturation, consistency, expected):
    assert gate(supported=supported, saturation=saturation, consistency=consistency, **PAPER) is expected


unit = st.floats(0, 1)


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


def test_weights_worked_by_hand():
    old, proposed = np.array([0.5, 0.5, 0.2, 0.9]), np.array([0.6, 1.0, 1.0, 0.0])
    # 0.6 of the way would be +0.06, +0.30, +0.48 and -0.54; the last two are held at 0.30.
    assert np.allclose(damped_weights(old=old, proposed=proposed, damping=0.6, bound=0.3), [0.56, 0.8, 0.5, 0.6])


@given(st.integers(0, 6).flatmap(lambda n: st.tuples(*[float_arrays(float, n, elements=unit)] * 2)), unit, unit)
def test_a_weight_moves_towards_the_proposal_no_further_than_the_bound(weights, damping, bound):
    old, proposed = weights
    new = damped_weights(old=old, proposed=proposed, damping=damping, bound=bound)
    assert (np.abs(new - old) <= bound + 1e-12).all()
    assert (new >= np.minimum(old, proposed) - 1e-12).all()
    assert (new <= np.maximum(old, proposed) + 1e-12).all()
    assert ((new >= 0) & (new <= 1)).all()
    for before, wish, after in zip(old.tolist(), proposed.tolist(), new.tolist(), strict=True):
        change = (1 - damping) * before + damping * wish - before
        assert after == pytest.approx(before + min(bound, abs(change)) * (1 if change > 0 else -1))


def test_the_top_tenth_of_the_arcs_in_use_is_at_least_one():
    flow = np.zeros(40)
    flow[[3, 8, 20]] = [0.2, 0.5, 0.5]
    assert top_decile_arcs(flow=flow).tolist() == [8]
    flow[25:35] = 0.1
    assert top_decile_arcs(flow=flow).tolist() == [8, 20]  # two of thirteen
    assert top_decile_arcs(flow=np.full(5, SMALLEST_FLOW)).tolist() == []
    assert top_decile_arcs(flow=np.zeros(0)).tolist() == []


REACHED = {
    "sources": np.array([0]),
    **arcs((0, 1), (1, 2), (2, 3), (0, 4), (4, 0), (5, 0), (1, 6)),
    "propagated": np.array([0.9, 0.2, 0.5, 1.0, 0.5, 0.8, 0.0]),
}


def test_sources_worked_by_hand():
    # One step reaches 1 and 4; two also 2 and 6 (of phi 0); 3 is three steps away, and 5 only leads here.
    assert expanded_sources(**REACHED, depth=1, count=8).tolist() == [4, 1]
    assert expanded_sources(**REACHED, depth=2, count=8).tolist() == [2, 4, 1]
    assert expanded_sources(**REACHED, depth=2, count=1).tolist() == [2]
    assert expanded_sources(**REACHED, depth=3, count=8).tolist() == [3, 2, 4, 1]
    assert expanded_sources(**REACHED, depth=0, count=8).tolist() == []


@given(
    st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=20),
    st.sets(st.integers(0, 7)),
    st.lists(st.sampled_from([0.0, 0.3, 0.6]), min_size=8, max_size=8),
    st.integers(0, 4),
    st.integers(0, 8),
)
def test_sources_equal_a_search_by_networkx(pairs, sources, propagated, depth, count):
    graph = nx.DiGraph(pairs)
    graph.add_nodes_from(range(8))
    near = {node for source in sources for node in nx.single_source_shortest_path_length(graph, source, cutoff=depth)} - sources
    expected = sorted((node for node in near if propagated[node] > 0), key=lambda node: (-propagated[node], node))[:count]
    found = expanded_sources(
        sources=np.array(sorted(sources), dtype=np.int64),
        **arcs(*pairs),
        propagated=np.array(propagated),
        depth=depth,
        count=count,
    )
    assert found.tolist() == expected
