"""What a node is worth: its relevance, what reaches it, and opinions fused, by hand and against plain Python and networkx."""

import math
from fractions import Fraction

import networkx as nx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from tasks.algorithms.arrays import best_of_pages
from tasks.algorithms.page_ranks import best_pages, fuse_rankings, standardise, with_opinions
from tasks.algorithms.scores import (
    EPSILON,
    combined_score,
    dense_relevance,
    min_max,
    personalized_pagerank,
    propagate,
    propagation_weights,
    scaled_by_maximum,
)
from tests.tasks.algorithms.flow_worlds import unit_or_zero

worlds = st.integers(0, 8).flatmap(lambda n: arrays(np.int8, (n + 1, 4), elements=st.integers(-3, 3))).map(unit_or_zero)


def test_relevance_and_scores_worked_by_hand():
    vectors = np.array([[1, 0], [0.6, 0.8], [-1, 0], [0, 0]], dtype=np.float32)
    assert np.allclose(dense_relevance(query=vectors[1], vectors=vectors), [0.6, 1, 0, 0], atol=1e-6)
    assert min_max(np.array([2.0, 6.0, 3.0])).tolist() == [0.0, 1.0, 0.25]
    assert min_max(np.full(3, 7.5)).tolist() == [0.0, 0.0, 0.0] and min_max(np.zeros(0)).tolist() == []
    assert scaled_by_maximum(np.array([0.1, 0.2, 0.05])).tolist() == [0.5, 1.0, 0.25]
    parts = {"relevance": np.array([0.8, 0.0]), "propagated": np.array([0.4, 1.0]), "diffused": np.array([0.5, 0.0])}
    assert np.allclose(combined_score(**parts, weights=np.array([0.5, 0.3, 0.2])), [0.62, 0.3], rtol=1e-15)


@given(worlds)
def test_dense_relevance_is_the_rectified_cosine(rows):
    query, vectors = rows[0], rows[1:]
    dense = dense_relevance(query=query, vectors=vectors)
    expected = [max(sum(a * b for a, b in zip(query.tolist(), row, strict=True)), 0.0) for row in vectors.tolist()]
    assert np.allclose(dense, expected, atol=1e-6)
    assert ((dense >= 0) & (dense <= 1)).all()


@given(st.integers(0, 2**32 - 1), st.integers(1, 40))
def test_a_nodes_dense_relevance_does_not_depend_on_the_other_nodes(seed, count):
    vectors = unit_or_zero(np.random.default_rng(seed).normal(size=(count, 384)))
    whole = dense_relevance(query=vectors[0], vectors=vectors)
    assert whole[count // 2 :].tolist() == dense_relevance(query=vectors[0], vectors=vectors[count // 2 :]).tolist()


NO_ARCS = {"tails": np.zeros(0, dtype=np.int64), "heads": np.zeros(0, dtype=np.int64), "weights": np.zeros(0)}
STEPS = {"tolerance": 1e-10, "max_steps": 500}


@st.composite
def graphs(draw):
    """Relevance and arcs of a small graph; parallel arcs, self-loops and weights of 0 occur."""
    nodes, arcs = draw(st.integers(1, 8)), draw(st.integers(0, 20))
    ends = st.integers(0, nodes - 1)
    return {
        "relevance": draw(arrays(np.float64, nodes, elements=st.floats(0, 1))),
        "tails": draw(arrays(np.int64, arcs, elements=ends)),
        "heads": draw(arrays(np.int64, arcs, elements=ends)),
        "weights": draw(arrays(np.float64, arcs, elements=st.sampled_from([0.0, 0.1, 0.25, 0.5]))),
    }


anchors = st.floats(0, 0.9)


def one_step(graph, scores, anchor, keep_unreached):
    """Eq. 4, node by node, in plain Python."""
    arcs = list(zip(graph["tails"].tolist(), graph["heads"].tolist(), graph["weights"].tolist(), strict=True))
    following = []
    for node, own in enumerate(graph["relevance"].tolist()):
        incoming = [(tail, weight) for tail, head, weight in arcs if head == node and weight > 0]
        if keep_unreached and not incoming:
            following.append(own)
            continue
        mean = sum(weight * scores[tail] for tail, weight in incoming) / (sum(weight for _, weight in incoming) + EPSILON)
        following.append((1 - anchor) * own + anchor * mean)
    return following


def test_a_weight_is_greatest_at_a_moderate_cosine_and_vanishes_at_both_ends():
    cosines = np.array([-0.5, 0.0, 0.6, math.sqrt(0.5), 0.8, 1.0, 1.0000001])
    assert np.allclose(propagation_weights(cosines), [0, 0, 0.48, 0.5, 0.48, 0, 0], atol=1e-15)


@given(graphs(), anchors, st.booleans())
def test_propagation_is_the_fixed_point_of_the_equation(graph, anchor, keep_unreached):
    scores = propagate(**graph, anchor=anchor, **STEPS, keep_unreached=keep_unreached)
    assert np.allclose(scores, one_step(graph, scores.tolist(), anchor, keep_unreached), atol=1e-9)


@given(graphs(), anchors, st.booleans())
def test_as_many_steps_as_promised_always_settle_it(graph, anchor, keep_unreached):
    highest = max(graph["relevance"].max(), 1e-4)
    enough = math.ceil(1 + math.log(1e-4 / highest) / math.log(anchor)) if anchor > 0 else 1
    propagate(**graph, anchor=anchor, tolerance=1e-4, max_steps=enough, keep_unreached=keep_unreached)


def test_no_nodes_and_no_arcs_are_fine():
    for relevance, expected in ((np.zeros(0), []), (np.array([0.6]), [0.3]), (np.zeros(2), [0.0, 0.0])):
        assert propagate(relevance=relevance, **NO_ARCS, anchor=0.5, **STEPS, keep_unreached=False).tolist() == expected


def test_too_few_steps_are_refused():
    arc = {"tails": np.array([0]), "heads": np.array([1]), "weights": np.array([0.5])}
    with pytest.raises(ValueError, match=r"still moves by 0\.25 after 1 steps; allow more steps or more tolerance"):
        propagate(relevance=np.array([0.5, 0.0]), **arc, anchor=0.5, tolerance=1e-6, max_steps=1, keep_unreached=False)
    back = {"tails": np.array([0, 1]), "heads": np.array([1, 0]), "weights": np.ones(2)}
    with pytest.raises(ValueError, match=r"still moves by 1\.4\d* after 2 steps; allow more steps or lower the damping"):
        personalized_pagerank(nodes=2, **back, seeds=np.array([0]), seed_weights=np.ones(1), **{**WALK, "max_steps": 2})


WALK = {"damping": 0.85, "tolerance": 1e-12, "max_steps": 400}


@st.composite
def walks(draw):
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


def reference(graph, damping, tolerance, max_steps):
    drawn = nx.DiGraph()
    drawn.add_nodes_from(range(graph["nodes"]))
    drawn.add_weighted_edges_from(zip(*(graph[part].tolist() for part in ("tails", "heads", "weights")), strict=True))
    seeds = dict(zip(graph["seeds"].tolist(), graph["seed_weights"].tolist(), strict=True))
    ranks = nx.pagerank(drawn, alpha=damping, personalization=seeds, tol=tolerance, max_iter=max_steps)
    return [ranks[node] for node in range(graph["nodes"])]


@given(walks())
def test_pagerank_equals_networkx(graph):
    assert np.allclose(personalized_pagerank(**graph, **WALK), reference(graph, **WALK), rtol=0, atol=1e-9)


@given(walks())
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


@given(arrays(np.float64, (3, 5), elements=st.floats(0, 1)), st.tuples(st.integers(0, 10), st.integers(0, 10), st.integers(1, 10)))
def test_the_score_never_leaves_its_parts(parts, raw):
    weights = np.array(raw) / sum(raw)
    scores = combined_score(relevance=parts[0], propagated=parts[1], diffused=parts[2], weights=weights)
    assert (scores <= parts.max(axis=0)).all()
    assert (scores >= parts.min(axis=0) - 1e-15).all()
    assert (scores >= 0).all()


PAGES = np.array([0, 0, 1, 2, 2, 3])
SCORES = np.array([0.2, 0.6, 0.5, 0.1, 0.4, 0.0])


def test_the_best_pages_are_those_of_the_best_nodes():
    assert best_of_pages(values=SCORES, pages=PAGES).tolist() == [0.6, 0.5, 0.4, 0.0]
    assert best_of_pages(values=SCORES[:2], pages=np.array([0, 2])).tolist() == [0.2, -math.inf, 0.6]
    assert best_pages(scores=SCORES, pages=PAGES, count=2).tolist() == [0, 1]
    assert best_pages(scores=SCORES, pages=PAGES, count=9).tolist() == [0, 1, 2], "a page of score 0 is none"
    assert best_pages(scores=np.ones(3), pages=np.array([2, 0, 1]), count=2).tolist() == [0, 1], "equal ones by number"
    assert len(best_pages(scores=np.zeros(0), pages=np.zeros(0, np.int64), count=2)) == 0


def test_a_page_rises_by_the_weight_times_its_standardised_cosine():
    best, cosines = np.array([0, 1, 2]), np.array([0.80, 0.86, 0.83])
    found = with_opinions(scores=SCORES, pages=PAGES, best=best, opinions=[(cosines, 0.2)])
    z = math.sqrt(1.5)
    assert found == pytest.approx([0.2 * math.exp(-0.2 * z), 0.6 * math.exp(-0.2 * z), 0.5 * math.exp(0.2 * z), 0.1, 0.4, 0.0])
    assert standardise(cosines) == pytest.approx([-z, z, 0])
    assert standardise(np.array([0.8, 0.8])).tolist() == [0, 0] and len(standardise(np.zeros(0))) == 0
    assert standardise(np.full(12, 0.3)).tolist() == [0] * 12, "whose mean is not quite 0.3"


@given(st.lists(st.floats(0.001, 1), min_size=1, max_size=20), st.integers(1, 12), st.floats(0, 1), st.integers(0, 99))
def test_scores_stay_in_bounds_and_pages_without_an_opinion_in_their_order(scores, count, weight, seed):
    random = np.random.default_rng(seed)
    values, pages = np.array(scores), np.sort(random.integers(0, 5, len(scores)))
    pages = np.unique(pages, return_inverse=True)[1]
    best = best_pages(scores=values, pages=pages, count=count)
    cosines = random.random(len(best))
    found = with_opinions(scores=values, pages=pages, best=best, opinions=[(cosines, weight), (-cosines, 0.5 * weight)])
    assert ((found >= 0) & (found <= 1)).all()
    for page in range(pages.max() + 1):
        on = pages == page
        assert (np.argsort(found[on], kind="stable") == np.argsort(values[on], kind="stable")).all()
    if weight == 0:
        assert found.tolist() == values.tolist()


PAGE_KEYS = st.tuples(st.sampled_from("ab"), st.integers(1, 4))


def test_equal_pages_go_by_document_and_number_and_a_page_counts_once_in_a_ranking():
    assert list(fuse_rankings([[("b", 1), ("a", 9)], [("a", 9), ("b", 1)]])) == [("a", 9), ("b", 1)]
    assert fuse_rankings([[("a", 1), ("a", 1), ("a", 2)]]) == {("a", 1): 1 / 61, ("a", 2): 1 / 62}
    assert fuse_rankings([]) == {}


@given(st.lists(st.lists(PAGE_KEYS, unique=True), max_size=4), st.data())
def test_the_order_is_that_of_exact_sums_whatever_the_order_of_the_rankings(rankings, data):
    exact = {}
    for ranking in rankings:
        for rank, page in enumerate(ranking, 1):
            exact[page] = exact.get(page, 0) + Fraction(1, 60 + rank)
    fused = fuse_rankings(data.draw(st.permutations(rankings)))
    assert list(fused) == sorted(exact, key=lambda page: (-exact[page], page))
    assert list(fused.values()) == pytest.approx([float(exact[page]) for page in fused])
