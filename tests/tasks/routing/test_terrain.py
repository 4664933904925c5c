from dataclasses import replace

import numpy as np
import pytest

from storage.graph.candidates import MODALITIES
from storage.records.documents import EdgeKind, Modality
from tasks.algorithms.flow.refinement import Trigger
from tasks.asking.records import PathReading, Quote
from tasks.routing.refinement import joined_both_ways, laid_downhill, let_in, new_pages
from tasks.routing.routing import route
from tasks.routing.terrain import entry_of, kept_arcs, paper_terrain, prize_terrain, route_prizes
from tasks.settings.ask import RoutingSettings
from tests.asking_worlds import Passage, at_context, published, run_of, written
from tests.tasks.refining_worlds import ISLANDS, edits_of, scene
from tests.tasks.routing_worlds import COUNT, a_graph, asked, scored

SETTINGS = RoutingSettings(formulation="paper", sources=2, sinks=2, diversity=1)
EDGES = [(0, 4, EdgeKind.SEMANTIC, 0.9), (4, 0, EdgeKind.SEMANTIC, 0.2), (0, 3, EdgeKind.PART_OF, 0.1)]


def test_the_arcs_are_the_graphs_own_and_all_usable():
    terrain = paper_terrain(a_graph(EDGES), scored(n0=0.8, n4=0.7), SETTINGS)
    assert list(zip(terrain.tails.tolist(), terrain.heads.tolist(), strict=True)) == [(0, 4), (0, 3)]
    assert (terrain.similarities.tolist(), terrain.usable.tolist()) == ([0.9, 0.1], [True, True])
    assert (terrain.sources.tolist(), terrain.sinks.tolist()) == ([0, 4], [0, 4])


def test_a_weak_similarity_is_pruned_and_a_weak_relation_of_the_layout_is_not():
    assert kept_arcs(a_graph(EDGES), SETTINGS).tolist() == [True, False, True]
    assert kept_arcs(a_graph(EDGES), RoutingSettings(minimum_similarity=0.95)).tolist() == [False, False, True]


def test_a_figure_answers_better_than_a_text_of_the_same_score():
    graph = a_graph()
    figures = graph.modalities.copy()
    figures[7] = MODALITIES.index(Modality.FIGURE)
    terrain = paper_terrain(replace(graph, modalities=figures), scored(n2=0.5, n7=0.5), SETTINGS)
    assert terrain.sinks.tolist() == [7, 2]


@pytest.mark.parametrize("formulation", ["paper", "prizes"])
@pytest.mark.parametrize("trigger", list(Trigger))
def test_an_edit_keeps_the_terrain_whole_and_names_nodes_of_the_snapshot(context, formulation, trigger):
    before = scene(context, formulation=formulation)
    after = before.refined(trigger).terrain
    nodes, arcs = len(before.graph), len(before.terrain.tails)
    assert len(after.tails) == len(after.heads) == len(after.similarities) >= arcs
    assert np.array_equal(after.tails[:arcs], before.terrain.tails) and after.heads.max(initial=0) < nodes
    assert ((after.similarities >= 0) & (after.similarities <= 1)).all() and len(after.scores) == nodes
    assert np.array_equal(after.sources[: len(before.terrain.sources)], before.terrain.sources)
    known = {*before.graph.ids, ""}
    edits = before.refined(trigger).edits
    assert edits and all({edit.source, edit.target} <= known and edit.before != edit.after for edit in edits)


def test_nodes_that_readers_quoted_are_lifted_and_none_beyond_one(context):
    before = scene(context, cited_boost=0.9)
    node = before.context.snapshot.view.nodes_by_id([before.graph.ids[before.place(5)]])[0]
    quote = Quote(**{**dict.fromkeys(Quote.__dataclass_fields__), "node": node})
    after = before.refined(Trigger.LOW_CONSISTENCY, (PathReading("a harbour", (quote,)),)).terrain
    changed = np.flatnonzero(after.scores != before.terrain.scores).tolist()
    assert changed == [before.place(5)] and after.scores.max() <= 1.0
    assert after.scores[before.place(5)] == pytest.approx(min(1.0, before.terrain.scores[before.place(5)] + 0.9))


@pytest.mark.parametrize("trigger", list(Trigger))
def test_where_there_is_nothing_to_edit_nothing_is(tmp_path, trigger):
    with at_context(published(tmp_path, written("note", Passage("a cable")))) as context:
        before = scene(context, "which cable?")
        refined = before.refined(trigger)
        assert refined.edits == () and len(refined.terrain.tails) == 0 and len(refined.terrain.sources) == 1


def test_an_edit_leaves_its_record_and_repeats_to_the_last_bit(context):
    before = scene(context)
    one, two = before.refined(Trigger.LOW_SATURATION), before.refined(Trigger.LOW_SATURATION)
    assert one.edits == two.edits and np.array_equal(one.terrain.similarities, two.terrain.similarities)
    first, second = run_of(context.snapshot.location).steps()[-2:]
    assert first.step == second.step == "refine" and first.outputs == second.outputs and set(first.outputs) == {"edits"}


PRIZED = [(0, 12, EdgeKind.REFERS_TO, 0.8), (0, 9, EdgeKind.SEMANTIC, 0.9)]


def laid_out(scores, **settings):
    return prize_terrain(asked(), a_graph(PRIZED), scores, RoutingSettings(**settings))


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


@pytest.fixture(scope="module")
def context(tmp_path_factory):
    with at_context(published(tmp_path_factory.mktemp("world"), ISLANDS)) as context:
        yield context


def test_bridges_cross_the_cut_where_the_rating_is_above_the_bound(context):
    before = scene(context, rate=1.0)
    refined = before.refined(Trigger.LOW_SATURATION)
    bridges = edits_of(refined, "bridge")
    cut, ids = before.routed.cut, before.graph.ids
    old = {(ids[tail], ids[head]) for tail, head in zip(before.terrain.tails, before.terrain.heads, strict=True)}
    assert bridges and not {(edit.source, edit.target) for edit in bridges} & old
    for edit in bridges:
        assert cut.source_side[ids.index(edit.source)] and cut.sink_side[ids.index(edit.target)]
        assert edit.before == 0.0 < edit.after <= 1.0
    assert len(refined.terrain.tails) == len(before.terrain.tails) + len(bridges)


def test_the_reader_is_asked_about_pairs_that_no_arc_joins_yet(context):
    before = scene(context, rate=1.0)
    bridges = edits_of(before.refined(Trigger.LOW_SATURATION), "bridge")
    reader = before.context.reader
    assert set(reader.bridges) == {(edit.source, edit.target) for edit in bridges} and len(reader.shown) > len(reader.bridges)
    for trigger in (Trigger.NO_SUPPORT, Trigger.LOW_CONSISTENCY):
        other = scene(context, rate=1.0)
        other.refined(trigger)
        assert other.context.reader.shown and not other.context.reader.bridges


def test_a_bridge_that_says_nothing_is_not_built(context):
    refined = scene(context, rate=0.1, bridge_above=0.1).refined(Trigger.LOW_SATURATION)
    assert not edits_of(refined, "bridge")


def test_new_sources_are_found_near_the_old_ones(context):
    before = scene(context, sources=1)
    refined = before.refined(Trigger.NO_SUPPORT)
    found = edits_of(refined, "source")
    assert found and all(edit.target == "" for edit in found)
    grown = refined.terrain.sources[len(before.terrain.sources) :].tolist()
    assert [before.graph.ids.index(edit.source) for edit in found] == grown
    assert not set(grown) & set(before.terrain.sources.tolist()) and before.place(5) not in grown


def test_arcs_are_weighed_anew_no_further_than_damping_and_bound_let_them(context):
    before = scene(context, rate=1.0, damping=0.5, bound=0.1)
    changed = edits_of(before.refined(Trigger.LOW_CONSISTENCY), "re-weight")
    assert changed
    for edit in changed:
        assert edit.after == pytest.approx(min(edit.before + 0.1, edit.before + 0.5 * (1.0 - edit.before)))


def test_only_the_arcs_that_carry_most_are_weighed_anew_where_answers_disagree(context):
    before = scene(context, rate=0.0)
    changed = edits_of(before.refined(Trigger.LOW_CONSISTENCY), "re-weight")
    flow = before.routed.flow[: len(before.terrain.tails)]
    strongest = int(np.argmax(flow))
    assert len(changed) == max(1, -(-np.count_nonzero(flow > 1e-6) // 10))
    assert changed[0].source == before.graph.ids[before.terrain.tails[strongest]]


@pytest.mark.parametrize("trigger", list(Trigger))
@pytest.mark.parametrize("pairs", [1, 2, 6])
def test_no_more_pairs_are_rated_than_allowed(context, trigger, pairs):
    before = scene(context, pairs=pairs)
    before.refined(trigger)
    assert len(before.context.reader.shown) <= pairs


def test_bridges_of_prizes_run_downhill_carry_what_they_are_rated_and_lead_to_new_pages(context):
    before = scene(context, rate=0.9, formulation="prizes")
    arcs, refined = len(before.terrain.tails), before.refined(Trigger.LOW_SATURATION)
    after, bridges = refined.terrain, edits_of(refined, "bridge")
    tails, heads = after.tails[arcs:], after.heads[arcs:]
    assert len(bridges) == len(tails) > 0 and after.usable[arcs:].all()
    assert (before.terrain.scores[tails] >= before.terrain.scores[heads]).all()
    assert after.similarities[arcs:].tolist() == [edit.after for edit in bridges] == [0.9] * len(bridges)
    cut = before.routed.cut
    assert all({cut.source_side[tail], cut.source_side[head]} == {True, False} for tail, head in zip(tails, heads, strict=True))
    first, second = (route(before.question, terrain, before.context) for terrain in (before.terrain, after))
    crossed = second.flow[arcs : len(after.tails)] > 0
    read = [{node for chain in routed.chains for node in chain.nodes} for routed in (first, second)]
    assert crossed.any() and read[0] < read[1]


@pytest.mark.parametrize("trigger", list(Trigger))
def test_no_rating_is_spent_on_arcs_that_chains_of_prizes_cannot_take(context, trigger):
    before = scene(context, rate=1.0, formulation="prizes")
    ids, terrain, refined = before.graph.ids, before.terrain, before.refined(trigger)
    arcs = zip(terrain.tails.tolist(), terrain.heads.tolist(), terrain.usable.tolist(), strict=True)
    usable = {(ids[tail], ids[head]) for tail, head, taken in arcs if taken}
    bridged, changed = ({(edit.source, edit.target) for edit in edits_of(refined, kind)} for kind in ("bridge", "re-weight"))
    assert not terrain.usable.all() and changed and changed <= usable
    assert set(before.context.reader.shown) <= usable | bridged


def test_without_support_chains_of_prizes_begin_on_more_pages_and_at_less(context):
    before = scene(context, formulation="prizes", entry_share=0.5)
    refined = before.refined(Trigger.NO_SUPPORT)
    assert refined.terrain.entry == 0.5 * before.terrain.entry
    begun = {before.graph.ids.index(edit.source) for edit in edits_of(refined, "source")}
    routed = route(before.question, refined.terrain, before.context)
    first, second = ({chain.nodes[0] for chain in flow.chains} for flow in (before.routed, routed))
    assert second - first and second - first <= begun


def test_new_sources_of_prizes_do_not_begin_for_nothing(context):
    before = scene(context, formulation="prizes", entry_share=1.0)
    refined = before.refined(Trigger.NO_SUPPORT)
    after = refined.terrain
    assert after.entry == before.terrain.entry
    routed = route(before.question, after, before.context)
    assert {chain.nodes[0] for chain in routed.chains} == {chain.nodes[0] for chain in before.routed.chains}


PRIZES = RoutingSettings()


def hills(scores, edges=(), text="Why did the pump fail?", settings=PRIZES):
    return prize_terrain(asked(text), a_graph(edges), scores, settings)


def chains(terrain, step=PRIZES.step):
    return sorted(chain.nodes for chain in route_prizes(terrain, step=step, paths=60)[1])


def with_arc(terrain, tail, head, *, trust, usable):
    return replace(
        terrain,
        tails=np.append(terrain.tails, tail),
        heads=np.append(terrain.heads, head),
        similarities=np.append(terrain.similarities, trust),
        usable=np.append(terrain.usable, usable),
    )


def test_only_relations_that_run_downhill_are_usable_apart_from_reading_on():
    edges = [(0, 12, EdgeKind.REFERS_TO, 0.8), (12, 0, EdgeKind.REFERS_TO, 0.8), (0, 9, EdgeKind.SEMANTIC, 0.9)]
    terrain = hills(scored(n0=0.8, n1=0.5, n4=0.3, n12=0.4), edges)
    arcs = list(zip(terrain.tails.tolist(), terrain.heads.tolist(), terrain.usable.tolist(), strict=True))
    assert arcs[:3] == [(0, 12, True), (12, 0, False), (0, 9, False)]
    # More of the same page, and the next page; not from a weak page to a strong one behind it.
    assert {(0, 1, True), (1, 2, True), (0, 4, True), (9, 12, False)} <= set(arcs[3:])


def test_chains_begin_at_the_best_node_of_each_page():
    assert hills(scored(n1=0.8, n4=0.3, n6=0.5)).sources.tolist() == [1, 6, 4, 9, 12]


def test_it_costs_less_to_begin_where_a_question_counts_all_over_the_document():
    assert entry_of(asked(), PRIZES) == hills(scored(n0=0.8)).entry == PRIZES.entry
    assert entry_of(asked("How many charts show pumps?"), PRIZES) == PRIZES.entry_surveying
    assert entry_of(asked("How many pumps failed?"), PRIZES) == PRIZES.entry


def test_it_costs_less_to_begin_where_a_question_has_several_parts():
    assert entry_of(asked("What did the pump cost, and how many people mended it?"), PRIZES) == PRIZES.entry_surveying


def test_a_question_of_the_document_itself_reaches_its_first_page():
    scores = scored(n1=0.12, n6=0.8)
    assert chains(hills(scores, text="Who wrote this report?")) == [(6, 1)]
    assert chains(hills(scores)) == [(6,)]
    assert chains(hills(scores, text="How many pumps does the report name?")) == [(6,)]
    assert chains(hills(scores, text="Who wrote this report?", settings=RoutingSettings(title_page=0.0))) == [(6,)]


def test_from_a_strong_passage_a_weaker_next_page_is_read_than_from_a_weak_one():
    assert chains(hills(scored(n0=0.8, n3=0.2))) == [(0, 3)]
    # From node 0 the step costs 1 - 0.8 * 0.6 / 0.8 = 0.4, and node 3 earns 0.2 / 0.8.
    assert chains(hills(scored(n0=0.6, n3=0.2, n12=0.8))) == [(0,), (12,)]


def test_an_arc_that_is_added_carries_a_chain_where_it_is_usable():
    terrain = hills(scored(n0=0.8, n6=0.3, n12=0.2))
    assert chains(terrain) == [(0,)]
    assert chains(with_arc(terrain, 0, 6, trust=0.9, usable=True)) == [(0, 6)]
    assert chains(with_arc(terrain, 0, 6, trust=0.9, usable=False)) == [(0,)]


def test_a_source_that_is_added_is_begun_at_only_where_it_is_worth_the_entry():
    terrain = hills(scored(n0=0.8, n7=0.4, n6=0.5))
    grown = replace(terrain, sources=np.append(terrain.sources, 7), usable=np.zeros_like(terrain.usable))
    assert chains(grown) == [(0,)]
    assert chains(replace(grown, entry=0.45)) == [(0,), (6,), (7,)]


def test_a_passage_that_was_quoted_is_still_reached_where_it_was_lifted_over_the_one_before_it():
    terrain = hills(scored(n0=0.8, n1=0.75))
    lifted = terrain.scores + 0.1 * (np.arange(len(terrain.scores)) == 1)
    assert chains(terrain) == chains(replace(terrain, scores=lifted)) == [(0, 1)]


@pytest.mark.parametrize("paths", [0, 1])
def test_no_more_chains_are_made_than_allowed(paths):
    assert len(route_prizes(hills(scored(n0=0.8, n6=0.8)), step=PRIZES.step, paths=paths)[1]) == paths
