import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.source_expansion import expanded_sources
from tests.tasks.algorithms.flow_worlds import arcs

WORLD = {
    "sources": np.array([0]),
    **arcs((0, 1), (1, 2), (2, 3), (0, 4), (4, 0), (5, 0), (1, 6)),
    "propagated": np.array([0.9, 0.2, 0.5, 1.0, 0.5, 0.8, 0.0]),
}


def test_sources_worked_by_hand():
    # One step reaches 1 and 4; two also 2 and 6 (of phi 0); 3 is three steps away, and 5 only leads here.
    assert expanded_sources(**WORLD, depth=1, count=8).tolist() == [4, 1]
    assert expanded_sources(**WORLD, depth=2, count=8).tolist() == [2, 4, 1]
    assert expanded_sources(**WORLD, depth=2, count=1).tolist() == [2]
    assert expanded_sources(**WORLD, depth=3, count=8).tolist() == [3, 2, 4, 1]
    assert expanded_sources(**WORLD, depth=0, count=8).tolist() == []


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


def test_what_does_not_fit_is_refused_by_name():
    with pytest.raises(ValueError, match="propagated scores must be finite"):
        expanded_sources(**{**WORLD, "propagated": np.full(7, np.nan)}, depth=2, count=8)
    with pytest.raises(ValueError, match="sources name place 7 of 7"):
        expanded_sources(**{**WORLD, "sources": np.array([7])}, depth=2, count=8)
