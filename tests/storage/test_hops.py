import numpy as np
import pytest

from storage.adjacency import SYMMETRIC, derive
from storage.graph_store import open_graph
from storage.hops import expand
from tests.storage.graph_worlds import ALL_EDGES, ALL_NODES, published

SEEDS = sorted(ALL_NODES)[5:90:17]


@pytest.fixture(scope="module")
def adjacency(tmp_path_factory):
    return derive(open_graph(published(tmp_path_factory.mktemp("home")).lance))


def expected(seeds, hops, limit, allowed):
    """The same over plain records: neighbours by their strongest arc from the hop before, ties by id; one-way arcs go both ways."""
    found = list(seeds)
    frontier = list(seeds)
    for _ in range(hops):
        reached = {}
        for edge in ALL_EDGES:
            ways = [(edge.source, edge.target), (edge.target, edge.source)]
            for one, other in ways[: 1 if edge.kind in SYMMETRIC else 2]:
                if one in frontier and other in allowed and other not in found:
                    reached[other] = max(reached.get(other, -1), edge.weight)
        frontier = sorted(reached, key=lambda name: (-reached[name], name))[: limit - len(found)]
        found += frontier
    return found


@pytest.mark.parametrize("hops", [0, 1, 2, 3])
@pytest.mark.parametrize("limit", [5, 9, 40, 1000])
@pytest.mark.parametrize("share", [1.0, 0.5])
def test_hops_reach_what_a_plain_search_reaches_in_the_same_order(adjacency, hops, limit, share):
    names = adjacency.hex_ids(np.arange(len(ALL_NODES)))
    allowed = np.array([name in SEEDS or int(name[:4], 16) < share * 2**16 for name in names])
    seeds = adjacency.positions_of(SEEDS)
    positions = expand(adjacency, seeds, hops=hops, limit=limit, allowed=None if share == 1 else allowed)
    assert adjacency.hex_ids(positions) == expected(
        SEEDS, hops, limit, {name for name, kept in zip(names, allowed, strict=True) if kept}
    )


def test_more_seeds_than_the_limit_are_cut(adjacency):
    positions = expand(adjacency, adjacency.positions_of(SEEDS), hops=2, limit=3, allowed=None)
    assert adjacency.hex_ids(positions) == SEEDS[:3]


def test_no_seed_reaches_nothing(adjacency):
    assert not len(expand(adjacency, np.empty(0, np.int64), hops=2, limit=10, allowed=None))
