import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.algorithms.reading_on import page_leaders, page_turn_arcs, same_page_arcs, title_page_arcs


def world(*nodes):
    """Return documents, pages and scores of nodes given as (document, page, score)."""
    array = np.array(nodes, dtype=float).reshape(-1, 3)
    return {"documents": array[:, 0].astype(np.int64), "pages": array[:, 1].astype(np.int64), "scores": array[:, 2]}


def pairs(arcs):
    return list(zip(*(side.tolist() for side in arcs), strict=True))


# Page 1: nodes 0, 1 and 4; page 2: node 2; page 4: node 3; page 5 of another document: node 5.
BY_HAND = world((0, 1, 0.3), (0, 1, 0.9), (0, 2, 0.4), (0, 4, 0.8), (0, 1, 0.3), (1, 5, 0.8))

scores = st.sampled_from([0.0, 0.25, 0.5, 1.0])
worlds = st.lists(st.tuples(st.integers(0, 2), st.integers(1, 4), scores), max_size=12).map(lambda nodes: world(*nodes))


def test_leaders_worked_by_hand():
    assert page_leaders(**BY_HAND, count=9).tolist() == [1, 3, 5, 2]
    assert page_leaders(**BY_HAND, count=2).tolist() == [1, 3]
    assert page_leaders(**BY_HAND, count=0).tolist() == []


def test_a_page_without_a_score_has_no_leader():
    assert page_leaders(**world((0, 1, 0.0), (0, 2, 0.5)), count=9).tolist() == [1]


def test_a_page_is_read_from_its_best_node_downwards():
    assert pairs(same_page_arcs(**BY_HAND)) == [(1, 0), (0, 4)]


def test_a_page_is_turned_from_best_node_to_best_node():
    # Page 3 has no nodes, so nobody turns to page 4, and page 5 is another document's.
    assert pairs(page_turn_arcs(**BY_HAND)) == [(1, 2)]


def test_the_title_page_is_found_from_the_best_node_of_the_document():
    # In document 0 the best node stands on the title page itself, document 1 has none among the candidates.
    assert pairs(title_page_arcs(**BY_HAND)) == []
    two = world((0, 2, 0.9), (0, 1, 0.3), (0, 1, 0.4), (1, 7, 0.5), (2, 1, 0.2), (2, 3, 0.2), (2, 4, 0.6))
    assert pairs(title_page_arcs(**two)) == [(0, 2), (6, 4)]


def test_without_nodes_there_is_nothing_to_read():
    for arcs in (same_page_arcs(**world()), page_turn_arcs(**world()), title_page_arcs(**world())):
        assert pairs(arcs) == []
    assert page_leaders(**world(), count=3).tolist() == []


@pytest.mark.parametrize("made", [same_page_arcs, page_turn_arcs, title_page_arcs, lambda **world: page_leaders(**world, count=1)])
def test_a_score_that_is_no_number_is_refused(made):
    with pytest.raises(ValueError, match=r"scores must be finite, .* not nan at place 1"):
        made(**world((0, 1, 0.3), (0, 1, np.nan)))


def best_of_pages(world):
    best = {}
    for node, place in enumerate(zip(*(values.tolist() for values in world.values()), strict=True)):
        document, page, score = place
        if (document, page) not in best or score > world["scores"][best[document, page]]:
            best[document, page] = node
    return best


@given(worlds, st.integers(0, 5))
def test_leaders_are_the_best_of_the_best_pages(world, count):
    best = [node for node in best_of_pages(world).values() if world["scores"][node] > 0]
    assert page_leaders(**world, count=count).tolist() == sorted(best, key=lambda node: (-world["scores"][node], node))[:count]


@given(worlds)
def test_pages_are_turned_as_a_plain_search_finds(world):
    best = best_of_pages(world)
    turns = {(node, best[document, page + 1]) for (document, page), node in best.items() if (document, page + 1) in best}
    assert set(pairs(page_turn_arcs(**world))) == turns


@given(worlds)
def test_title_pages_are_reached_as_a_plain_search_finds(world):
    leaders = sorted(best_of_pages(world).items(), key=lambda item: (-world["scores"][item[1]], item[1]))
    best = {}
    for (document, page), node in leaders:
        best.setdefault(document, (page, node))
    titles = {document: node for (document, page), node in leaders if page == 1}
    expected = {(node, titles[document]) for document, (page, node) in best.items() if document in titles and page != 1}
    assert set(pairs(title_page_arcs(**world))) == expected


@given(worlds)
def test_the_arcs_of_a_page_are_one_chain_through_all_its_nodes(world):
    chains = {node: [node] for node in best_of_pages(world).values()}
    following = dict(pairs(same_page_arcs(**world)))
    for leader, chain in chains.items():
        while chain[-1] in following:
            chain.append(following[chain[-1]])
        places = {(world["documents"][node], world["pages"][node]) for node in chain}
        assert places == {(world["documents"][leader], world["pages"][leader])}
        assert chain == sorted(chain, key=lambda node: (-world["scores"][node], node))
    assert sorted(node for chain in chains.values() for node in chain) == list(range(len(world["scores"])))
