"""Routing over a small hand-made graph: which chains are made of it, how full the network is, and what is read."""

from dataclasses import replace

import numpy as np
import pytest

from storage.artifacts import ArtifactStore
from storage.memo import StepMemo
from storage.records.documents import EdgeKind
from storage.runs.log import RunLog
from tasks.algorithms.questions.terms import question_terms
from tasks.asking.records import NodeScores
from tasks.routing.routing import best_passages, demand_of, lay_out, route, select
from tasks.settings.ask import GateSettings, RoutingSettings, SelectionSettings
from tasks.step import Workplace, workplace
from tests.tasks.routing_worlds import COUNT, a_graph, asked, at_context, scored


@pytest.fixture(autouse=True)
def place(tmp_path):
    artifacts = ArtifactStore(tmp_path / "artifacts")
    token = workplace.set(Workplace(artifacts, StepMemo(tmp_path / "steps", artifacts), RunLog(tmp_path / "run.jsonl"), "run"))
    yield
    workplace.reset(token)


def follow(scores, edges=(), text="Why did the pump fail?", **settings):
    context, question = at_context(**settings), asked(text)
    terrain = lay_out(question, a_graph(edges), scores, context)
    routed = route(question, terrain, context)
    return terrain, routed, select(question, terrain, routed, context)


def nodes_of(paths):
    return sorted(path.nodes for path in paths)


def test_only_a_passage_near_the_best_is_evidence_by_itself():
    _, _, paths = follow(scored(n0=0.8, n6=0.6, n12=0.5))
    assert nodes_of(paths) == [(0,), (6,)]


def test_a_chain_takes_more_of_the_same_page_along_and_turns_the_page():
    _, _, paths = follow(scored(n0=0.8, n1=0.4, n4=0.3))
    assert nodes_of(paths) == [(0, 1), (0, 4)]


def test_a_page_before_the_best_is_not_taken_along():
    assert nodes_of(follow(scored(n3=0.8, n0=0.3))[2]) == [(3,)]


def test_a_reference_leads_to_its_figure_and_likeness_does_not():
    scores = scored(n0=0.8, n12=0.3)
    assert nodes_of(follow(scores, [(0, 12, EdgeKind.REFERS_TO, 0.8)])[2]) == [(0, 12)]
    assert nodes_of(follow(scores, [(0, 12, EdgeKind.SEMANTIC, 0.8)])[2]) == [(0,)]


def test_a_question_that_counts_all_over_the_document_is_given_more_places():
    scores = scored(n0=0.8, n6=0.45)
    assert nodes_of(follow(scores)[2]) == [(0,)]
    assert nodes_of(follow(scores, text="How many charts show pumps?")[2]) == [(0,), (6,)]


def test_chains_begin_on_so_many_pages_at_most():
    scores = scored(n0=0.8, n6=0.8, n12=0.8)
    _, _, paths = follow(scores, routing=RoutingSettings(start_pages=2))
    assert nodes_of(paths) == [(0,), (6,)]


def test_the_flow_of_the_terrains_own_arcs_comes_first():
    terrain, routed, _ = follow(scored(n0=0.8, n12=0.3), [(0, 12, EdgeKind.REFERS_TO, 0.8)])
    carried = np.flatnonzero(routed.flow[: len(terrain.tails)])
    assert [(int(terrain.tails[arc]), int(terrain.heads[arc])) for arc in carried] == [(0, 12)]


PAPER = RoutingSettings(formulation="paper", sources=2, sinks=2, diversity=1)


def test_the_papers_formulation_routes_no_more_than_fits():
    edges = [(0, 4, EdgeKind.SEMANTIC, 0.9), (4, 0, EdgeKind.SEMANTIC, 0.2), (0, 3, EdgeKind.PART_OF, 0.1)]
    _, routed, paths = follow(scored(n0=0.8, n4=0.7), edges, routing=PAPER)
    # Not the demand of 6 but what fits.
    assert sum(chain.flow for chain in routed.chains) == pytest.approx(0.8 + 0.7, abs=1e-6)
    assert nodes_of(paths) == [(0,), (4,)]


def test_saturation_is_that_of_the_connection_or_the_papers():
    scores = scored(n0=0.8, n4=0.7)
    assert follow(scores, routing=PAPER)[1].saturation == 1.0
    assert follow(scores, routing=PAPER, gate=GateSettings(saturation_of="paper"))[1].saturation == pytest.approx(1.5 / 6)


@pytest.mark.parametrize("formulation", ["prizes", "paper"])
def test_a_graph_without_scores_has_no_paths(formulation):
    nothing = NodeScores(*(np.zeros(COUNT),) * 3, rarity={}, present=frozenset(), named=frozenset())
    _, routed, paths = follow(nothing, routing=RoutingSettings(formulation=formulation))
    assert (routed.chains, paths) == ((), ())


def test_no_more_paths_are_read_than_allowed_and_the_largest_share_comes_first():
    scores = scored(n0=0.8, n4=0.4, n6=0.75, n9=0.2, n12=0.7)
    _, _, paths = follow(scores, selection=SelectionSettings(read=2))
    assert len(paths) == 2
    assert [path.share for path in paths] == sorted((path.share for path in paths), reverse=True)


@pytest.mark.parametrize("before_mixing", [True, False])
def test_extinction_is_judged_before_mixing_or_after(before_mixing):
    # The smallest of the four shares is 0.114 before mixing and 0.141 after it.
    selection = SelectionSettings(
        extinction=0.12, steps=200, extinct_before_mixing=before_mixing, diagonal_power=4, peak_exponent=5
    )
    edges = [(0, 1, EdgeKind.REFERS_TO, 0.9), (0, 2, EdgeKind.REFERS_TO, 0.9), (0, 4, EdgeKind.REFERS_TO, 0.9)]
    _, routed, paths = follow(scored(n0=0.8, n1=0.4, n2=0.4, n4=0.4, n9=0.56), edges, selection=selection)
    assert (len(paths) < len(routed.chains)) == before_mixing


def test_the_baseline_takes_the_best_nodes_each_by_itself():
    paths = best_passages(asked(), scored(n3=0.8, n7=0.9), at_context(selection=SelectionSettings(read=2)))
    assert [(path.nodes, path.flow, path.quality) for path in paths] == [((7,), 0.0, 0.9), ((3,), 0.0, 0.8)]


def test_greedy_reads_what_carries_most_and_does_not_ask_how_the_paths_differ():
    edges = [(0, 6, EdgeKind.SEMANTIC, 0.9), (6, 9, EdgeKind.SEMANTIC, 0.9), (0, 9, EdgeKind.SEMANTIC, 0.5)]
    paper, scores = RoutingSettings(formulation="paper"), scored(n0=0.8, n6=0.6, n9=0.5)
    _, routed, paths = follow(scores, edges, routing=paper, selection=SelectionSettings(rule="greedy"))
    assert len(routed.chains) > 1
    assert [path.nodes for path in paths] == [chain.nodes for chain in routed.chains]


def test_the_first_shares_follow_quality_or_flow_or_both():
    # So little demand that one of the chains is not filled: their flows differ.
    edges = [(0, 6, EdgeKind.SEMANTIC, 0.9), (6, 9, EdgeKind.SEMANTIC, 0.9), (0, 9, EdgeKind.SEMANTIC, 0.5)]
    paper, scores = RoutingSettings(formulation="paper", demand=1.1), scored(n0=0.8, n6=0.6, n9=0.5)
    shares = {
        start: [path.share for path in follow(scores, edges, routing=paper, selection=SelectionSettings(start=start, steps=1))[2]]
        for start in ("quality", "flow", "both")
    }
    assert len({tuple(found) for found in shares.values()}) == len(shares)


def test_a_question_of_few_terms_demands_less_where_the_demand_goes_by_the_question():
    by_question = RoutingSettings(demand_by="question")
    for text, demand in {"Why did the pump fail?": 1.2, "a b c d e f g h i j k l?": 6.0, "?": 0.6}.items():
        question = replace(asked(text), terms=question_terms(text))
        assert demand_of(question, by_question) == pytest.approx(demand)
        assert demand_of(question, RoutingSettings()) == 6.0
