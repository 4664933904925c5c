"""What System 2 changes where visits earn, on the small hand-made graph."""

from dataclasses import replace

import numpy as np

from storage.records import EdgeKind
from tasks.ask_settings import RoutingSettings
from tasks.prize_edits import joined_both_ways, laid_downhill, let_in, new_pages
from tasks.prize_terrain import prize_terrain
from tests.tasks.routing_worlds import COUNT, a_graph, asked, scored

EDGES = [(0, 12, EdgeKind.REFERS_TO, 0.8), (0, 9, EdgeKind.SEMANTIC, 0.9)]


def laid_out(scores, **settings):
    return prize_terrain(asked(), a_graph(EDGES), scores, RoutingSettings(**settings))


def test_the_ends_of_a_usable_arc_need_no_bridge_either_way():
    tails, heads = joined_both_ways(laid_out(scored(n0=0.8, n12=0.3)))
    pairs = set(zip(tails.tolist(), heads.tolist(), strict=True))
    assert {(0, 12), (12, 0), (0, 1), (1, 0)} <= pairs
    # What is alike is no arc of prizes.
    assert not {(0, 9), (9, 0)} & pairs


def test_a_bridge_leads_from_the_stronger_to_the_weaker_end():
    pairs = np.array([[0, 6], [6, 0], [7, 8], [8, 7]])
    assert laid_downhill(laid_out(scored(n0=0.8, n6=0.3)), pairs).tolist() == [[0, 6], [0, 6], [7, 8], [7, 8]]
    assert laid_downhill(laid_out(scored()), np.zeros((0, 2), dtype=np.int64)).shape == (0, 2)


def test_new_pages_are_those_near_by_where_nothing_begins_the_largest_phi_first():
    terrain = laid_out(scored(n0=0.8, n6=0.7), start_pages=2)
    propagated = np.linspace(0.1, 0.9, COUNT)
    graph, near = a_graph(), np.array([1, 3, 4, 7, 9, 12, 13])
    assert new_pages(graph, terrain, near=near, propagated=propagated, count=8).tolist() == [13, 9, 4]
    assert new_pages(graph, terrain, near=near, propagated=propagated, count=1).tolist() == [13]
    assert new_pages(graph, terrain, near=np.array([1, 7]), propagated=propagated, count=8).tolist() == []
    assert new_pages(graph, terrain, near=near, propagated=np.zeros(COUNT), count=8).tolist() == []


def test_a_lower_entry_lets_those_sources_in_that_it_was_too_high_for():
    terrain = laid_out(scored(n0=0.8, n6=0.4, n12=0.3))
    assert let_in(terrain, entry=0.7).tolist() == []
    assert let_in(terrain, entry=0.5).tolist() == [6]
    assert let_in(terrain, entry=0.37).tolist() == [6, 12]
    nothing = replace(terrain, scores=np.zeros(COUNT))
    assert let_in(nothing, entry=0.5).tolist() == []
