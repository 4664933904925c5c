"""The terrain where visits earn: which of its arcs a chain may take, where chains begin and what that costs."""

from dataclasses import replace

import numpy as np
import pytest

from storage.records import EdgeKind
from tasks.ask_settings import RoutingSettings
from tasks.prize_terrain import entry_of, prize_terrain, route_prizes
from tests.tasks.routing_worlds import a_graph, asked, scored

SETTINGS = RoutingSettings()


def laid_out(scores, edges=(), text="Why did the pump fail?", settings=SETTINGS):
    return prize_terrain(asked(text), a_graph(edges), scores, settings)


def chains(terrain, step=SETTINGS.step):
    return sorted(chain.nodes for chain in route_prizes(terrain, step=step, paths=60)[1])


def with_arc(terrain, tail, head, *, trust, usable):
    return replace(
        terrain,
        tails=np.append(terrain.tails, tail),
        heads=np.append(terrain.heads, head),
        similarities=np.append(terrain.similarities, trust),
        usable=np.append(terrain.usable, usable),
    )


def test_only_relations_that_run_downhill_are_usable_beside_reading_on():
    edges = [(0, 12, EdgeKind.REFERS_TO, 0.8), (12, 0, EdgeKind.REFERS_TO, 0.8), (0, 9, EdgeKind.SEMANTIC, 0.9)]
    terrain = laid_out(scored(n0=0.8, n1=0.5, n4=0.3, n12=0.4), edges)
    arcs = list(zip(terrain.tails.tolist(), terrain.heads.tolist(), terrain.usable.tolist(), strict=True))
    assert arcs[:3] == [(0, 12, True), (12, 0, False), (0, 9, False)]
    # More of the same page, and the next page; not from a weak page to a strong one behind it.
    assert {(0, 1, True), (1, 2, True), (0, 4, True), (9, 12, False)} <= set(arcs[3:])


def test_chains_begin_at_the_best_node_of_each_page():
    assert laid_out(scored(n1=0.8, n4=0.3, n6=0.5)).sources.tolist() == [1, 6, 4, 9, 12]


def test_it_costs_less_to_begin_where_a_question_counts_all_over_the_document():
    assert entry_of(asked(), SETTINGS) == laid_out(scored(n0=0.8)).entry == SETTINGS.entry
    assert entry_of(asked("How many charts show pumps?"), SETTINGS) == SETTINGS.entry_surveying
    assert entry_of(asked("How many pumps failed?"), SETTINGS) == SETTINGS.entry


def test_it_costs_less_to_begin_where_a_question_has_several_parts():
    assert entry_of(asked("What did the pump cost, and how many people mended it?"), SETTINGS) == SETTINGS.entry_surveying


def test_a_question_of_the_document_itself_reaches_its_first_page():
    scores = scored(n1=0.12, n6=0.8)
    assert chains(laid_out(scores, text="Who wrote this report?")) == [(6, 1)]
    assert chains(laid_out(scores)) == [(6,)]
    assert chains(laid_out(scores, text="How many pumps does the report name?")) == [(6,)]
    assert chains(laid_out(scores, text="Who wrote this report?", settings=RoutingSettings(title_page=0.0))) == [(6,)]


def test_from_a_strong_passage_a_weaker_next_page_is_read_than_from_a_weak_one():
    assert chains(laid_out(scored(n0=0.8, n3=0.2))) == [(0, 3)]
    # From node 0 the step costs 1 - 0.8 * 0.6 / 0.8 = 0.4, and node 3 earns 0.2 / 0.8.
    assert chains(laid_out(scored(n0=0.6, n3=0.2, n12=0.8))) == [(0,), (12,)]


def test_an_arc_that_is_added_carries_a_chain_where_it_is_usable():
    terrain = laid_out(scored(n0=0.8, n6=0.3, n12=0.2))
    assert chains(terrain) == [(0,)]
    assert chains(with_arc(terrain, 0, 6, trust=0.9, usable=True)) == [(0, 6)]
    assert chains(with_arc(terrain, 0, 6, trust=0.9, usable=False)) == [(0,)]


def test_a_source_that_is_added_is_begun_at_only_where_it_is_worth_the_entry():
    terrain = laid_out(scored(n0=0.8, n7=0.4, n6=0.5))
    grown = replace(terrain, sources=np.append(terrain.sources, 7), usable=np.zeros_like(terrain.usable))
    assert chains(grown) == [(0,)]
    assert chains(replace(grown, entry=0.45)) == [(0,), (6,), (7,)]


def test_a_passage_that_was_quoted_is_still_reached_where_it_was_lifted_over_the_one_before_it():
    terrain = laid_out(scored(n0=0.8, n1=0.75))
    lifted = terrain.scores + 0.1 * (np.arange(len(terrain.scores)) == 1)
    assert chains(terrain) == chains(replace(terrain, scores=lifted)) == [(0, 1)]


@pytest.mark.parametrize("paths", [0, 1])
def test_no_more_chains_are_made_than_allowed(paths):
    assert len(route_prizes(laid_out(scored(n0=0.8, n6=0.8)), step=SETTINGS.step, paths=paths)[1]) == paths
