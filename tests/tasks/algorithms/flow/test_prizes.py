from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.flow.chains import FlowPath, decompose
from tasks.algorithms.flow.network import FlowError
from tasks.algorithms.flow.prizes import (
    downhill,
    joined_halves,
    page_leaders,
    page_turn_arcs,
    paying_flow,
    prize_network,
    same_page_arcs,
    title_page_arcs,
)
from tests.tasks.algorithms.flow_worlds import amount_of, arcs, balances, cost_of, lp_cost, network


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
    found = decompose(network, flow=paying_flow(network), limit=99)
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


def placed(*nodes):
    """Return documents, pages and scores of nodes given as (document, page, score)."""
    array = np.array(nodes, dtype=float).reshape(-1, 3)
    return {"documents": array[:, 0].astype(np.int64), "pages": array[:, 1].astype(np.int64), "scores": array[:, 2]}


def pairs(arcs):
    return list(zip(*(side.tolist() for side in arcs), strict=True))


# Page 1: nodes 0, 1 and 4; page 2: node 2; page 4: node 3; page 5 of another document: node 5.
BY_HAND = placed((0, 1, 0.3), (0, 1, 0.9), (0, 2, 0.4), (0, 4, 0.8), (0, 1, 0.3), (1, 5, 0.8))

scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])
worlds = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), scores), max_size=12).map(lambda nodes: placed(*nodes))


def test_leaders_worked_by_hand():
    assert page_leaders(**BY_HAND, count=9).tolist() == [1, 3, 5, 2]
    assert page_leaders(**BY_HAND, count=2).tolist() == [1, 3]
    assert page_leaders(**BY_HAND, count=0).tolist() == []


def test_a_page_is_read_from_its_best_node_downwards():
    assert pairs(same_page_arcs(**BY_HAND)) == [(1, 0), (0, 4)]


def test_a_page_is_turned_from_best_node_to_best_node():
    # Page 3 has no nodes, so nobody turns to page 4, and page 5 is another document's.
    assert pairs(page_turn_arcs(**BY_HAND)) == [(1, 2)]


def test_the_title_page_is_found_from_the_best_node_of_the_document():
    # In document 0 the best node stands on the title page itself, document 1 has none among the candidates.
    assert pairs(title_page_arcs(**BY_HAND)) == []
    two = placed((0, 2, 0.9), (0, 1, 0.3), (0, 1, 0.4), (1, 7, 0.5), (2, 1, 0.2), (2, 3, 0.2), (2, 4, 0.6))
    assert pairs(title_page_arcs(**two)) == [(0, 2), (6, 4)]


def test_without_nodes_there_is_nothing_to_read():
    for made in (
        same_page_arcs(**placed()),
        page_turn_arcs(**placed()),
        title_page_arcs(**placed()),
    ):
        assert pairs(made) == []
    assert page_leaders(**placed(), count=3).tolist() == []


@pytest.mark.parametrize(
    "made",
    [same_page_arcs, page_turn_arcs, title_page_arcs, lambda **nodes: page_leaders(**nodes, count=1)],
)
def test_a_score_that_is_no_number_is_refused(made):
    with pytest.raises(ValueError, match=r"scores must be finite, .* not nan at place 1"):
        made(**placed((0, 1, 0.3), (0, 1, np.nan)))


def best_of_pages(nodes):
    best = {}
    for node, place in enumerate(zip(*(values.tolist() for values in nodes.values()), strict=True)):
        document, page, score = place
        if (document, page) not in best or score > nodes["scores"][best[document, page]]:
            best[document, page] = node
    return best


@given(worlds, st.integers(0, 5))
def test_leaders_are_the_best_of_the_best_pages(nodes, count):
    best = [node for node in best_of_pages(nodes).values() if nodes["scores"][node] > 0]
    assert page_leaders(**nodes, count=count).tolist() == sorted(best, key=lambda node: (-nodes["scores"][node], node))[:count]


@given(worlds)
def test_pages_are_turned_as_a_plain_search_finds(nodes):
    best = best_of_pages(nodes)
    turns = {(node, best[document, page + 1]) for (document, page), node in best.items() if (document, page + 1) in best}
    assert set(pairs(page_turn_arcs(**nodes))) == turns


@given(worlds)
def test_title_pages_are_reached_as_a_plain_search_finds(nodes):
    leaders = sorted(best_of_pages(nodes).items(), key=lambda item: (-nodes["scores"][item[1]], item[1]))
    best = {}
    for (document, page), node in leaders:
        best.setdefault(document, (page, node))
    titles = {document: node for (document, page), node in leaders if page == 1}
    expected = {(node, titles[document]) for document, (page, node) in best.items() if document in titles and page != 1}
    assert set(pairs(title_page_arcs(**nodes))) == expected


@given(worlds)
def test_the_arcs_of_a_page_are_one_chain_through_all_its_nodes(nodes):
    chains = {node: [node] for node in best_of_pages(nodes).values()}
    following = dict(pairs(same_page_arcs(**nodes)))
    for leader, chain in chains.items():
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        places = {(nodes["documents"][node], nodes["pages"][node]) for node in chain}
        assert places == {(nodes["documents"][leader], nodes["pages"][leader])}
        assert chain == sorted(chain, key=lambda node: (-nodes["scores"][node], node))
    assert sorted(node for chain in chains.values() for node in chain) == list(range(len(nodes["scores"])))


def layered(seed):
    """Return a network without circles, whose costs lie on both sides of 0."""
    random = np.random.default_rng(seed)
    nodes = int(random.integers(1, 15))
    edges = {}
    for _ in range(int(random.integers(0, 4 * nodes))):
        first, second = sorted(random.integers(0, nodes, 2).tolist())
        if first < second:
            edges[first, second] = random.uniform(-1, 1), random.random()
    ends = random.choice(nodes, size=(2, min(nodes, 3)), replace=True)
    return network(nodes, edges, sources=dict.fromkeys(ends[0].tolist(), 0.8), sinks=dict.fromkeys(ends[1].tolist(), 0.9))


def test_a_flow_worked_by_hand():
    # 0-1 earns 0.4 a unit and carries 0.5; 0-2 would cost 0.1.
    world = network(3, {(0, 1): (-0.4, 0.5), (0, 2): (0.1, 1.0)}, sources={0: 1.0}, sinks={1: 1.0, 2: 1.0})
    assert paying_flow(world).tolist() == [0.5, 0.0, 0.5, 0.5, 0.0]


def test_a_loss_is_taken_for_a_greater_gain_behind_it():
    world = network(3, {(0, 1): (0.3, 1.0), (1, 2): (-0.5, 1.0)}, sources={0: 1.0}, sinks={1: 1.0, 2: 1.0})
    assert paying_flow(world).tolist() == [1.0, 1.0, 1.0, 0.0, 1.0]


def test_where_nothing_pays_nothing_runs():
    world = network(2, {(0, 1): (0.1, 1.0)}, sources={0: 1.0}, sinks={1: 1.0})
    for still in (world, network(0, {}, sources={}, sinks={}), network(2, {(0, 1): (-1.0, 1.0)}, sources={}, sinks={1: 1.0})):
        assert not paying_flow(still).any()


@given(st.integers(0, 2**32 - 1).map(layered))
def test_the_gain_is_that_of_the_linear_program(world):
    assert cost_of(world, paying_flow(world)) == pytest.approx(lp_cost(world, None), abs=1e-5)


@given(st.integers(0, 2**32 - 1).map(layered))
def test_a_flow_is_conserved_fits_and_comes_out_the_same_again(world):
    flow = paying_flow(world)
    assert (flow >= 0).all()
    assert (flow <= world.capacities + 1e-15).all()
    expected = np.zeros(world.nodes + 2)
    expected[[world.source, world.sink]] = amount_of(world, flow), -amount_of(world, flow)
    assert np.allclose(balances(world, flow), expected, atol=1e-9)
    assert paying_flow(world).tolist() == flow.tolist()


def test_numbers_too_large_for_the_solver_are_refused():
    world = network(2, {(0, 1): (-1e12, 1e9)}, sources={0: 1e9}, sinks={1: 1e9})
    with pytest.raises(FlowError, match=r"min-cost circulation ended with .*: scale them to about 1"):
        paying_flow(world)
