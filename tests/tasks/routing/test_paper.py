"""The paper's routing: arcs between sources and sinks, what fits of the flow, its chains, the choice of them, and three edits."""

from dataclasses import dataclass, replace

import numpy as np
import pytest

from storage.graph.candidates import MODALITIES, CandidateGraph
from storage.records.documents import EdgeKind, Modality
from tasks.algorithms.flow.refinement import Trigger
from tasks.asking.question import AskContext
from tasks.asking.records import NodeScores, PathReading, Question, Quote
from tasks.routing.paper import RoutedTerrain, Terrain, lay_out, route, select
from tasks.routing.paper_refinement import refine
from tests.asking_worlds import at_context, published
from tests.library import NOTE
from tests.tasks import routing_worlds
from tests.tasks.refining_worlds import ISLANDS, TEXT, begun, edits_of
from tests.tasks.routing_worlds import COUNT, a_graph, asked, scored

EDGES = [(0, 4, EdgeKind.SEMANTIC, 0.9), (4, 0, EdgeKind.SEMANTIC, 0.2), (0, 3, EdgeKind.WINDOW, 0.3)]
LINE = [(0, 6, EdgeKind.SEMANTIC, 0.9), (6, 9, EdgeKind.SEMANTIC, 0.9), (0, 9, EdgeKind.SEMANTIC, 0.5)]
LINED = scored(n0=0.8, n6=0.6, n9=0.5)
WORLD = (ISLANDS,)
TWO = {"sources": 2, "sinks": 2, "diversity": 1.0}


pytestmark = pytest.mark.usefixtures("context")


def follow(scores, edges=(), graph=None, **settings):
    given, question = routing_worlds.at_context(**settings), asked()
    terrain = lay_out(question, graph or a_graph(edges), scores, given)
    routed = route(question, terrain, given)
    return terrain, routed, select(question, terrain, routed, given)


def nodes_of(paths):
    return sorted(path.nodes for path in paths)


def test_arcs_that_are_alike_enough_lead_from_sources_to_sinks():
    terrain = follow(scored(n0=0.8, n4=0.7), EDGES, routing=TWO)[0]
    assert list(zip(terrain.tails.tolist(), terrain.heads.tolist(), strict=True)) == [(0, 4), (0, 3)]
    assert terrain.similarities.tolist() == [0.9, 0.3]
    assert (terrain.sources.tolist(), terrain.sinks.tolist()) == ([0, 4], [0, 4])
    assert follow(scored(n0=0.8), EDGES, routing={"minimum_similarity": 0.95})[0].tails.tolist() == []


def test_a_figure_answers_better_than_a_text_of_the_same_score():
    graph = a_graph()
    figures = graph.modalities.copy()
    figures[7] = MODALITIES.index(Modality.FIGURE)
    terrain = follow(scored(n2=0.5, n7=0.5), graph=replace(graph, modalities=figures), routing=TWO)[0]
    assert terrain.sinks.tolist() == [7, 2]


def test_no_more_is_routed_than_fits_and_saturation_says_how_much_that_is():
    _, routed, paths = follow(scored(n0=0.8, n4=0.7), EDGES, routing=TWO)
    # Not the demand of 6 but what fits.
    assert sum(chain.flow for chain in routed.chains) == pytest.approx(0.8 + 0.7, abs=1e-6)
    assert nodes_of(paths) == [(0,), (4,)] and routed.saturation == pytest.approx(1.5 / 6)


def test_the_flow_of_the_terrains_own_arcs_comes_first():
    graph = a_graph(LINE)
    # The source says too little to be a sink itself.
    words = np.where(np.arange(COUNT) == 0, 1, graph.summary_words)
    terrain, routed, _ = follow(LINED, graph=replace(graph, summary_words=words), routing={"sources": 1, "sinks": 2})
    carried = np.flatnonzero(routed.flow[: len(terrain.tails)])
    assert [(int(terrain.tails[arc]), int(terrain.heads[arc])) for arc in carried] == [(0, 6), (0, 9)]
    assert sorted(chain.nodes for chain in routed.chains) == [(0, 6), (0, 9)]


def test_a_graph_without_scores_has_no_paths():
    nothing = NodeScores(*(np.zeros(COUNT),) * 3, rarity={}, present=frozenset(), named=frozenset())
    _, routed, paths = follow(nothing)
    assert (routed.chains, paths) == ((), ())


def test_no_more_paths_are_read_than_allowed_and_the_largest_share_comes_first():
    scores = scored(n0=0.8, n4=0.4, n6=0.75, n9=0.2, n12=0.7)
    _, routed, paths = follow(scores, selection={"read": 2})
    shares = [path.share for path in paths]
    assert len(routed.chains) > 2 == len(paths) and shares == sorted(shares, reverse=True)


def test_paths_of_too_small_a_share_are_not_read():
    # The smallest of the four shares is 0.157.
    scores = scored(n0=0.8, n4=0.4, n6=0.75, n12=0.1)
    every = {"sinks": 4, "sources": 4, "diversity": 1.0}
    shares = [path.share for path in follow(scores, routing=every)[2]]
    assert len(shares) == 4 and min(shares) < max(shares)
    middle = (shares[-1] + shares[-2]) / 2
    assert [path.share for path in follow(scores, routing=every, selection={"extinction": middle})[2]] == shares[:-1]


def test_greedy_reads_what_carries_most_and_does_not_ask_how_the_paths_differ():
    _, routed, paths = follow(LINED, LINE, selection={"rule": "greedy"})
    assert len(routed.chains) > 1
    assert [path.nodes for path in paths] == [chain.nodes for chain in routed.chains]


def test_the_first_shares_follow_quality_or_flow_or_both():
    # So little demand that one of the chains is not filled: their flows differ.
    shares = {
        start: [path.share for path in follow(LINED, LINE, routing={"demand": 1.1}, selection={"start": start, "steps": 1})[2]]
        for start in ("quality", "flow", "both")
    }
    assert len({tuple(found) for found in shares.values()}) == len(shares)


@dataclass(frozen=True)
class Scene:
    """A question half way: its candidates, their scores, the terrain and what was routed over it."""

    question: Question
    graph: CandidateGraph
    scores: NodeScores
    terrain: Terrain
    routed: RoutedTerrain
    context: AskContext
    ordinals: list[int]

    def refined(self, trigger, readings=()):
        return refine(self.question, self.graph, self.scores, self.terrain, self.routed, readings, trigger, self.context)


def scene(context, text=TEXT, *, rate=1.0, sources=3, sinks=6, **gate):
    first = begun(context, text, rate=rate, routing={"network": "paper", "sources": sources, "sinks": sinks}, gate=gate)
    terrain = lay_out(first.question, first.graph, first.scores, first.context)
    routed = route(first.question, terrain, first.context)
    ordinals = [first.place(ordinal) for ordinal in range(len(first.graph))]
    return Scene(first.question, first.graph, first.scores, terrain, routed, first.context, ordinals)


@pytest.mark.parametrize("trigger", list(Trigger))
def test_an_edit_keeps_the_terrain_whole_and_names_nodes_of_the_snapshot(context, trigger):
    before = scene(context)
    refined = before.refined(trigger)
    after, edits = refined.terrain, refined.edits
    nodes, arcs = len(before.graph), len(before.terrain.tails)
    assert len(after.tails) == len(after.heads) == len(after.similarities) >= arcs
    assert np.array_equal(after.tails[:arcs], before.terrain.tails) and after.heads.max(initial=0) < nodes
    assert ((after.similarities >= 0) & (after.similarities <= 1)).all() and len(after.scores) == nodes
    assert np.array_equal(after.sources[: len(before.terrain.sources)], before.terrain.sources)
    known = {*before.graph.ids, ""}
    assert edits and all({edit.source, edit.target} <= known and edit.before != edit.after for edit in edits)


def test_nodes_that_readers_quoted_are_lifted_and_none_beyond_one(context):
    before = scene(context, cited_boost=0.9)
    place = before.ordinals[5]
    node = context.snapshot.find_nodes([before.graph.ids[place]])[0]
    quote = Quote(**{**dict.fromkeys(Quote.__dataclass_fields__), "node": node})
    after = before.refined(Trigger.LOW_CONSISTENCY, (PathReading("a harbour", (quote,)),)).terrain
    assert np.flatnonzero(after.scores != before.terrain.scores).tolist() == [place] and after.scores.max() <= 1.0
    assert after.scores[place] == pytest.approx(min(1.0, before.terrain.scores[place] + 0.9))


@pytest.mark.parametrize("trigger", list(Trigger))
def test_where_there_is_nothing_to_edit_nothing_is(tmp_path, trigger):
    with at_context(published(tmp_path, NOTE)) as context:
        refined = scene(context, "which cable?").refined(trigger)
        assert refined.edits == () and len(refined.terrain.tails) == 0 and len(refined.terrain.sources) == 1


def test_bridges_cross_the_cut_where_the_rating_is_above_the_bound(context):
    before = scene(context)
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
    before = scene(context)
    bridges = edits_of(before.refined(Trigger.LOW_SATURATION), "bridge")
    reader = before.context.reader
    assert set(reader.bridges) == {(edit.source, edit.target) for edit in bridges} and len(reader.shown) > len(reader.bridges)
    for trigger in (Trigger.NO_SUPPORT, Trigger.LOW_CONSISTENCY):
        other = scene(context)
        other.refined(trigger)
        assert other.context.reader.shown and not other.context.reader.bridges


def test_a_bridge_that_says_nothing_is_not_built(context):
    before = scene(context, rate=0.1, bridge_above=0.1)
    assert not edits_of(before.refined(Trigger.LOW_SATURATION), "bridge") and before.context.reader.bridges


def test_new_sources_are_found_near_the_old_ones(context):
    before = scene(context)
    refined = before.refined(Trigger.NO_SUPPORT)
    found = edits_of(refined, "source")
    assert found and all(edit.target == "" for edit in found)
    grown = refined.terrain.sources[len(before.terrain.sources) :].tolist()
    assert [before.graph.ids.index(edit.source) for edit in found] == grown
    assert not set(grown) & set(before.terrain.sources.tolist()) and before.ordinals[5] not in grown


def test_only_the_arcs_that_carry_most_are_weighed_anew_where_answers_disagree(context):
    before = scene(context, rate=0.0)
    changed = edits_of(before.refined(Trigger.LOW_CONSISTENCY), "re-weight")
    flow = before.routed.flow[: len(before.terrain.tails)]
    assert len(changed) == max(1, -(-np.count_nonzero(flow > 1e-6) // 10))
    assert changed[0].source == before.graph.ids[before.terrain.tails[int(np.argmax(flow))]]


@pytest.mark.parametrize("trigger", list(Trigger))
@pytest.mark.parametrize("pairs", [1, 2, 6])
def test_no_more_pairs_are_rated_than_allowed(context, trigger, pairs):
    before = scene(context, pairs=pairs)
    before.refined(trigger)
    assert len(before.context.reader.shown) <= pairs
