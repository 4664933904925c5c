import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.sparse import csr_array, eye_array
from scipy.sparse.linalg import spsolve

from tasks.algorithms.propagation import EPSILON, propagate, propagation_weights

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


@given(arrays(np.float64, 9, elements=st.floats(-1.1, 1.1)))
def test_a_weight_lies_between_zero_and_a_half(cosines):
    weights = propagation_weights(cosines)
    assert ((weights >= 0) & (weights <= 0.5 + 1e-15)).all()
    assert (weights[cosines <= 0] == 0).all()


def test_propagation_worked_by_hand():
    # 0 -> 1 (0.3), 2 -> 1 (0.1), 1 -> 2 (0.5); node 0 has no predecessor. With a half each:
    # phi_0 = 0.4; phi_1 = 0.1 + (3 phi_0 + phi_2) / 8; phi_2 = phi_1 / 2; so phi_1 (1 - 1/16) = 0.25.
    arcs = {"tails": np.array([0, 2, 1]), "heads": np.array([1, 1, 2]), "weights": np.array([0.3, 0.1, 0.5])}
    relevance = np.array([0.8, 0.2, 0.0])
    scores = propagate(relevance=relevance, **arcs, anchor=0.5, **STEPS, keep_unreached=False)
    assert np.allclose(scores, [0.4, 4 / 15, 2 / 15], atol=1e-9)
    # Where node 0 keeps its 0.8: phi_1 (1 - 1/16) = 0.4.
    scores = propagate(relevance=relevance, **arcs, anchor=0.5, **STEPS, keep_unreached=True)
    assert np.allclose(scores, [0.8, 32 / 75, 16 / 75], atol=1e-9)
    assert relevance.tolist() == [0.8, 0.2, 0.0]


@given(graphs(), anchors, st.booleans())
def test_propagation_is_the_fixed_point_of_the_equation(graph, anchor, keep_unreached):
    scores = propagate(**graph, anchor=anchor, **STEPS, keep_unreached=keep_unreached)
    assert np.allclose(scores, one_step(graph, scores.tolist(), anchor, keep_unreached), atol=1e-9)


@given(graphs(), anchors, st.booleans())
def test_propagation_stays_between_zero_and_the_greatest_relevance(graph, anchor, keep_unreached):
    scores = propagate(**graph, anchor=anchor, **STEPS, keep_unreached=keep_unreached)
    assert (scores >= 0).all()
    assert (scores <= graph["relevance"].max() * (1 + 1e-12)).all()


@given(graphs(), st.booleans())
def test_without_a_share_for_the_predecessors_nothing_changes(graph, keep_unreached):
    scores = propagate(**graph, anchor=0.0, **STEPS, keep_unreached=keep_unreached)
    assert scores.tolist() == graph["relevance"].tolist()


@given(graphs(), anchors)
def test_a_node_without_predecessors_keeps_its_relevance_or_the_share_the_equation_leaves_it(graph, anchor):
    reached = np.isin(np.arange(len(graph["relevance"])), graph["heads"][graph["weights"] > 0])
    kept = propagate(**graph, anchor=anchor, **STEPS, keep_unreached=True)
    left = propagate(**graph, anchor=anchor, **STEPS, keep_unreached=False)
    assert kept[~reached].tolist() == graph["relevance"][~reached].tolist()
    assert left[~reached].tolist() == ((1 - anchor) * graph["relevance"])[~reached].tolist()
    assert (kept >= left - 1e-9).all()


@pytest.mark.parametrize("keep_unreached", [False, True])
def test_propagation_equals_the_linear_solve(keep_unreached):
    random = np.random.default_rng(4)
    nodes, arcs = 2000, 20_000
    tails, heads = random.integers(0, nodes, arcs), random.integers(0, nodes - 50, arcs)  # the last fifty have no predecessor
    weights, relevance = propagation_weights(random.uniform(-0.2, 1, arcs)), random.random(nodes)
    incoming = np.bincount(heads, weights=weights, minlength=nodes)
    shares = csr_array((weights / (incoming[heads] + EPSILON), (heads, tails)), shape=(nodes, nodes))
    own = np.where(keep_unreached & (incoming == 0), 1.0, 1 - 0.5) * relevance
    expected = spsolve((eye_array(nodes) - 0.5 * shares).tocsc(), own)
    scores = propagate(
        relevance=relevance,
        tails=tails,
        heads=heads,
        weights=weights,
        anchor=0.5,
        tolerance=1e-9,
        max_steps=60,
        keep_unreached=keep_unreached,
    )
    assert np.abs(scores - expected).max() < 1e-8


@given(graphs(), anchors, st.booleans())
def test_as_many_steps_as_promised_always_settle_it(graph, anchor, keep_unreached):
    highest = max(graph["relevance"].max(), 1e-4)
    enough = math.ceil(1 + math.log(1e-4 / highest) / math.log(anchor)) if anchor > 0 else 1
    propagate(**graph, anchor=anchor, tolerance=1e-4, max_steps=enough, keep_unreached=keep_unreached)


def test_no_nodes_and_no_arcs_are_fine():
    for relevance, expected in ((np.zeros(0), []), (np.array([0.6]), [0.3]), (np.zeros(2), [0.0, 0.0])):
        assert propagate(relevance=relevance, **NO_ARCS, anchor=0.5, **STEPS, keep_unreached=False).tolist() == expected


def test_too_few_steps_and_numbers_that_are_none_are_refused():
    arc = {"tails": np.array([0]), "heads": np.array([1]), "weights": np.array([0.5])}
    settings = {"anchor": 0.5, "tolerance": 1e-6, "keep_unreached": False}
    with pytest.raises(ValueError, match=r"still moves by 0\.25 after 1 steps; allow more steps or more tolerance"):
        propagate(relevance=np.array([0.5, 0.0]), **arc, **settings, max_steps=1)
    with pytest.raises(ValueError, match="still moves by inf after 0 steps"):
        propagate(relevance=np.array([0.5, 0.0]), **arc, **settings, max_steps=0)
    with pytest.raises(ValueError, match=r"relevance must be finite, .*, not nan at place 1"):
        propagate(relevance=np.array([0.5, np.nan]), **arc, **settings, max_steps=9)
    with pytest.raises(ValueError, match=r"propagation weights must be finite, .*, not inf at place 0"):
        propagate(relevance=np.ones(2), **{**arc, "weights": np.array([np.inf])}, **settings, max_steps=9)
    with pytest.raises(ValueError, match=r"cosines must be finite, .*, not nan at place 0"):
        propagation_weights(np.array([np.nan]))
