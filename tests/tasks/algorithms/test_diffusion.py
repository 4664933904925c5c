import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.diffusion import personalized_pagerank, scaled_by_maximum, top_seeds

NO_ARCS = {"tails": np.zeros(0, dtype=np.int64), "heads": np.zeros(0, dtype=np.int64), "weights": np.zeros(0)}
WALK = {"damping": 0.85, "tolerance": 1e-12, "max_steps": 400}


@st.composite
def graphs(draw):
    """A small graph with seeds; dangling nodes, unreached ones, self-loops and arcs that weigh nothing occur."""
    nodes = draw(st.integers(1, 8))
    ends = st.integers(0, nodes - 1)
    pairs = sorted(draw(st.sets(st.tuples(ends, ends), max_size=20)))
    seeds = draw(st.lists(ends, min_size=1, max_size=3, unique=True))
    return {
        "nodes": nodes,
        "tails": np.array([tail for tail, _ in pairs], dtype=np.int64),
        "heads": np.array([head for _, head in pairs], dtype=np.int64),
        "weights": draw(arrays(np.float64, len(pairs), elements=st.sampled_from([0.0, 0.22, 0.5, 1.0]))),
        "seeds": np.array(seeds, dtype=np.int64),
        "seed_weights": draw(arrays(np.float64, len(seeds), elements=st.sampled_from([0.1, 0.5, 0.9]))),
    }


def reference(graph, damping, tolerance, max_steps, **more):
    drawn = nx.DiGraph()
    drawn.add_nodes_from(range(graph["nodes"]))
    drawn.add_weighted_edges_from(zip(*(graph[part].tolist() for part in ("tails", "heads", "weights")), strict=True))
    seeds = dict(zip(graph["seeds"].tolist(), graph["seed_weights"].tolist(), strict=True))
    ranks = nx.pagerank(drawn, alpha=damping, personalization=seeds, tol=tolerance, max_iter=max_steps, **more)
    return [ranks[node] for node in range(graph["nodes"])]


@given(graphs())
def test_pagerank_equals_networkx(graph):
    assert np.allclose(personalized_pagerank(**graph, **WALK), reference(graph, **WALK), rtol=0, atol=1e-9)


@pytest.mark.parametrize("start_at_seeds", [True, False])
def test_pagerank_equals_networkx_at_the_papers_tolerance(start_at_seeds):
    random = np.random.default_rng(2)
    arcs = np.unique(random.integers(0, 2000, size=(20_000, 2)), axis=0)
    seeds, seed_weights = np.arange(0, 64, 8), random.random(8)
    graph = {
        "nodes": 2000,
        "tails": arcs[:, 0],
        "heads": arcs[:, 1],
        "weights": random.uniform(0.22, 1, len(arcs)),
        "seeds": seeds,
        "seed_weights": seed_weights,
    }
    walk = {"damping": 0.85, "tolerance": 1e-6, "max_steps": 100}
    # From the same start it is the same walk, step by step; from networkx's own it ends within the tolerance of the same place.
    more = {"nstart": dict(zip(seeds.tolist(), seed_weights.tolist(), strict=True))} if start_at_seeds else {}
    difference = np.abs(personalized_pagerank(**graph, **walk) - reference(graph, **walk, **more)).max()
    assert difference < (1e-12 if start_at_seeds else 1e-5)


def test_pagerank_worked_by_hand():
    # 0 -> 1 with weight 3, 0 -> 2 with 1, and from both back to the seed 0, for no arc leads on; no walk leads to 3.
    # So x_1 + x_2 = 0.85 x_0, and all of it is 1: x_0 = 1 / 1.85.
    ranks = personalized_pagerank(
        nodes=4,
        tails=np.array([0, 0]),
        heads=np.array([1, 2]),
        weights=np.array([3.0, 1.0]),
        seeds=np.array([0]),
        seed_weights=np.array([0.7]),
        **WALK,
    )
    assert np.allclose(ranks, [1 / 1.85, 0.75 * 0.85 / 1.85, 0.25 * 0.85 / 1.85, 0], atol=1e-9)


@given(graphs())
def test_shares_of_time_sum_to_one_and_are_zero_where_no_walk_leads(graph):
    ranks = personalized_pagerank(**graph, **WALK)
    assert (ranks >= 0).all()
    assert ranks.sum() == pytest.approx(1.0, abs=1e-12)
    arcs = [(t, h) for t, h, w in zip(*(graph[k].tolist() for k in ("tails", "heads", "weights")), strict=True) if w > 0]
    reached = set(graph["seeds"].tolist())
    for _ in range(graph["nodes"]):
        reached |= {head for tail, head in arcs if tail in reached}
    assert set(np.flatnonzero(ranks).tolist()) == reached


@given(graphs())
def test_parallel_arcs_add_up_and_only_the_ratio_of_weights_matters(graph):
    doubled = {part: np.concatenate([graph[part]] * 2) for part in ("tails", "heads", "weights")}
    ranks = personalized_pagerank(**{**graph, **doubled, "seed_weights": graph["seed_weights"] * 3}, **WALK)
    assert np.allclose(ranks, personalized_pagerank(**graph, **WALK), atol=1e-9)


def test_without_seeds_nodes_or_arcs_the_result_is_defined():
    none, one = {"seeds": np.zeros(0, dtype=np.int64), "seed_weights": np.zeros(0)}, {"seeds": np.array([1])}
    assert personalized_pagerank(nodes=2, **NO_ARCS, **none, **WALK).tolist() == [0.0, 0.0]
    assert personalized_pagerank(nodes=0, **NO_ARCS, **none, **WALK).tolist() == []
    assert personalized_pagerank(nodes=2, **NO_ARCS, **one, seed_weights=np.zeros(1), **WALK).tolist() == [0.0, 0.0]
    assert personalized_pagerank(nodes=2, **NO_ARCS, **one, seed_weights=np.ones(1), **WALK).tolist() == [0.0, 1.0]


def test_too_few_steps_and_numbers_that_are_none_are_refused():
    graph = {"nodes": 2, "tails": np.array([0, 1]), "heads": np.array([1, 0]), "seeds": np.array([0])}
    with pytest.raises(ValueError, match=r"still moves by 1\.4\d* after 2 steps; allow more steps or lower the damping"):
        personalized_pagerank(**graph, weights=np.ones(2), seed_weights=np.ones(1), **{**WALK, "max_steps": 2})
    with pytest.raises(ValueError, match=r"arc weights must be finite, .*, not nan at place 1"):
        personalized_pagerank(**graph, weights=np.array([1.0, np.nan]), seed_weights=np.ones(1), **WALK)
    with pytest.raises(ValueError, match=r"seed weights must be finite, .*, not nan at place 0"):
        personalized_pagerank(**graph, weights=np.ones(2), seed_weights=np.array([np.nan]), **WALK)


def test_seeds_are_the_most_relevant_nodes():
    assert top_seeds(relevance=np.array([0.1, 0.0, 0.7, 0.1]), count=2).tolist() == [2, 0]
    assert top_seeds(relevance=np.zeros(3), count=2).tolist() == []
    with pytest.raises(ValueError, match=r"relevance must be finite, .*, not nan at place 0"):
        top_seeds(relevance=np.array([np.nan]), count=2)


@given(arrays(np.float64, st.integers(0, 6), elements=st.floats(0, 1)))
def test_scaled_values_reach_one_unless_all_are_zero(values):
    scaled = scaled_by_maximum(values)
    assert scaled.max(initial=0.0) == float(values.any())
    assert (np.diff(scaled[np.argsort(values)]) >= 0).all()


def test_scaling_worked_by_hand():
    assert scaled_by_maximum(np.array([0.1, 0.2, 0.05])).tolist() == [0.5, 1.0, 0.25]
    with pytest.raises(ValueError, match=r"values must be finite, .*, not inf at place 1"):
        scaled_by_maximum(np.array([0.1, np.inf]))
