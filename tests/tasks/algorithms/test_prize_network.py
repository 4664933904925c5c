from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.path_decomposition import FlowPath, decompose
from tasks.algorithms.paying_flow import paying_flow
from tasks.algorithms.prize_network import downhill, joined_halves, prize_network
from tests.tasks.algorithms.flow_worlds import arcs


def world(scores, relations, *, sources, entry=0.6, step=None, heights=None):
    """Build the network of relations {(u, v): trust}; a step costs what an entry costs, and the heights are the scores."""
    return prize_network(
        **arcs(*relations),
        trusts=np.array(list(relations.values()), dtype=float),
        heights=np.array(scores if heights is None else heights, dtype=float),
        scores=np.array(scores, dtype=float),
        sources=np.array(sources, dtype=np.int64),
        entry=entry,
        step=entry if step is None else step,
    )


def chains(scores, relations, **wishes):
    network = world(scores, relations, **wishes)
    found = decompose(network, flow=paying_flow(network).flow, limit=99)
    return sorted(path.nodes for path in joined_halves(found, nodes=len(scores)))


def test_a_network_worked_by_hand():
    # Scores are taken relative to the best; 0 goes on to 1 for 0.6 (1 - 0.5), the arc back carries nothing.
    network = world([0.8, 0.4], {(0, 1): 0.5, (1, 0): 0.5}, sources=[0, 1])
    assert (network.nodes, network.source, network.sink) == (4, 4, 5)
    assert network.tails.tolist() == [2, 3, 0, 1, 4, 4, 4, 2, 3]
    assert network.heads.tolist() == [1, 0, 2, 3, 0, 1, 2, 5, 5]
    assert network.costs.tolist() == pytest.approx([0.3, 0.45, -1.0, -0.5, 0.6, 0.6, 1e-4, 0.0, 0.0])
    assert network.capacities.tolist() == [1, 0, 1, 1, 1, 1, 1, 2, 1]


def test_what_is_not_worth_its_entry_is_reached_from_something_strong():
    assert chains([1.0, 0.4], {}, sources=[0, 1]) == [(0,)]
    assert chains([1.0, 0.4], {(0, 1): 0.5}, sources=[0, 1]) == [(0, 1)]
    # From a weak passage the same relation is worth less: 0.6 (1 - 0.5 * 0.6) = 0.42.
    assert chains([1.0, 0.6, 0.41], {(1, 2): 0.5}, sources=[0, 1, 2], entry=0.59) == [(0,), (1,)]


def test_a_relation_without_trust_leads_nowhere():
    assert chains([1.0, 0.9], {(0, 1): 0.0}, sources=[0]) == [(0,)]


def test_a_weak_step_is_taken_for_a_good_one_behind_it():
    # Visiting 1 alone would lose 0.6 (1 - 0.5) - 0.29, and 2 wins it back.
    relations = {(0, 1): 0.5, (1, 2): 1.0}
    assert chains([1.0, 0.29, 0.28], relations, sources=[0], entry=0.6) == [(0,)]
    assert chains([1.0, 0.29, 0.28], relations, sources=[0], entry=0.38) == [(0, 1, 2)]
    assert chains([1.0, 0.29, 0.28], {(0, 1): 0.5, (1, 2): 0.9}, sources=[0], entry=0.38) == [(0, 1)]


def test_one_passage_leads_to_several_others():
    assert chains([1.0, 0.5, 0.5], {(0, 1): 0.7, (0, 2): 0.7}, sources=[0]) == [(0, 1), (0, 2)]


def test_where_it_costs_less_to_begin_weaker_sources_are_read_and_steps_stay_as_dear():
    assert chains([1.0, 0.5, 0.4], {(0, 2): 0.0}, sources=[0, 1]) == [(0,)]
    assert chains([1.0, 0.5, 0.4], {}, sources=[0, 1], entry=0.45) == [(0,), (1,)]
    # The step costs 0.9 (1 - 0.5) = 0.45 and wins 0.4; at the price of the entry it would cost 0.225.
    assert chains([1.0, 0.5, 0.4], {(0, 2): 0.5}, sources=[0, 1], entry=0.45, step=0.9) == [(0,), (1,)]
    assert chains([1.0, 0.5, 0.4], {(0, 2): 0.5}, sources=[0, 1], entry=0.45) == [(0, 2), (1,)]


def test_chains_run_downhill_by_height_whatever_is_earned():
    assert chains([0.8, 1.0], {(0, 1): 0.5}, sources=[0], heights=[2, 1]) == [(0, 1)]
    assert chains([1.0, 0.8], {(0, 1): 0.5}, sources=[0], heights=[1, 2]) == [(0,)]


def test_of_two_of_the_same_height_the_arc_to_the_larger_index_leads_downhill():
    pairs = arcs((0, 1), (1, 0), (1, 2), (2, 1), (1, 1))
    assert downhill(heights=np.array([1.0, 1.0, 0.5]), **pairs).tolist() == [True, False, True, False, False]
    with pytest.raises(ValueError, match="heights must be finite"):
        downhill(heights=np.array([1.0, 1.0, np.nan]), **pairs)


@pytest.mark.parametrize("scores", [[], [0.0, 0.0]])
def test_without_scores_nothing_pays(scores):
    assert chains(scores, {}, sources=range(len(scores))) == []


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"scores": [1.0, np.nan]}, "scores must be finite"),
        ({"scores": [1.0, -1.0]}, "scores must be finite, from 0 to inf, not -1.0 at place 1"),
        ({"relations": {(0, 1): 1.5}}, "trusts must be finite, from 0 to 1, not 1.5 at place 0"),
        ({"relations": {(0, 2): 0.5}}, "heads name place 2 of 2"),
        ({"relations": {(-1, 1): 0.5}}, "tails name place -1 of 2"),
        ({"sources": [2]}, "sources name place 2 of 2"),
        ({"entry": -0.1}, "entry must be finite, from 0 to 1, not -0.1"),
        ({"step": 1.1}, "step must be finite, from 0 to 1, not 1.1"),
    ],
)
def test_wrong_input_is_refused_by_name(wrong, words):
    good = {"scores": [1.0, 0.5], "relations": {(0, 1): 0.5}, "sources": [0]}
    with pytest.raises(ValueError, match=words):
        world(**{**good, **wrong})


def test_split_nodes_are_joined_again():
    paths = (FlowPath(nodes=(0, 3, 1, 4), flow=1.0), FlowPath(nodes=(3, 2, 5), flow=0.5))
    assert joined_halves(paths, nodes=3) == (FlowPath(nodes=(0, 1), flow=1.0), FlowPath(nodes=(0, 2), flow=0.5))


@st.composite
def questions(draw):
    count = draw(st.integers(1, 8))
    place = st.integers(0, count - 1)
    trusts = st.sampled_from([0.0, 0.5, 0.7, 0.9])
    return {
        "scores": draw(st.lists(st.integers(0, 100).map(lambda score: score / 100), min_size=count, max_size=count)),
        "relations": draw(st.dictionaries(st.tuples(place, place), trusts, max_size=15)),
        "sources": draw(st.lists(place, unique=True)),
    }


@given(questions())
def test_every_chain_runs_downhill_along_relations_from_a_source(question):
    for chain in chains(**question):
        steps = list(pairwise(chain))
        assert chain[0] in question["sources"]
        assert all(question["relations"].get(step, 0.0) > 0 for step in steps)
        assert all(question["scores"][first] >= question["scores"][second] for first, second in steps)


@given(questions())
def test_without_relations_the_chains_are_the_sources_worth_their_entry(question):
    best = max(question["scores"]) or 1.0
    found = {chain[0] for chain in chains(**{**question, "relations": {}})}
    worth = {source: question["scores"][source] / best for source in question["sources"]}
    assert {source for source, share in worth.items() if share > 0.6 + 1e-6} <= found
    assert found <= {source for source, share in worth.items() if share >= 0.6 - 1e-6}


@given(questions())
def test_relations_never_earn_less_than_none(question):
    with_relations, without = (paying_flow(world(**{**question, "relations": kept})) for kept in (question["relations"], {}))
    assert with_relations.cost <= without.cost + 1e-5
