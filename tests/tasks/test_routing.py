"""Routing over a small hand-made graph: pages of three passages each, a reference and similarity edges."""

from dataclasses import fields

import numpy as np
import pytest

from storage.artifacts import ArtifactStore, hash_bytes
from storage.candidate_graph import EDGE_KINDS, MODALITIES, NODE_KINDS, CandidateGraph
from storage.memo import StepMemo
from storage.records import EdgeKind, Modality, NodeKind
from storage.runs import RunLog
from tasks.ask_settings import AskSettings, GateSettings, RoutingSettings, SelectionSettings
from tasks.question import AskDesk, Question
from tasks.retrieval import NodeScores
from tasks.routing import best_passages, lay_out, route, select
from tasks.step import Workplace, workplace

PAGES = 5
ON_EACH = 3
COUNT = PAGES * ON_EACH


@pytest.fixture(autouse=True)
def place(tmp_path):
    artifacts = ArtifactStore(tmp_path / "artifacts")
    token = workplace.set(Workplace(artifacts, StepMemo(tmp_path / "steps", artifacts), RunLog(tmp_path / "run.jsonl"), "run"))
    yield
    workplace.reset(token)


def asked(text="Why did the pump fail?"):
    return Question(**{**dict.fromkeys(field.name for field in fields(Question)), "id": "q", "text": text})


def at_desk(**settings):
    """Return a desk with nothing on it but settings: routing looks at no more."""
    return AskDesk(**{**dict.fromkeys(field.name for field in fields(AskDesk)), "settings": AskSettings(**settings)})


def a_graph(edges=()):
    """Return a document of five pages; edges are (tail, head, kind, weight)."""
    vectors = np.random.default_rng(5).normal(size=(COUNT, 8)).astype(np.float32)
    texts = np.full(COUNT, MODALITIES.index(Modality.TEXT))
    return CandidateGraph(
        ids=tuple(f"{place:04x}" for place in range(COUNT)),
        document_ids=("d",),
        documents=np.zeros(COUNT, dtype=np.int64),
        pages=1 + np.arange(COUNT) // ON_EACH,
        ordinals=np.arange(COUNT),
        kinds=np.full(COUNT, NODE_KINDS.index(NodeKind.PARAGRAPH)),
        modalities=texts,
        meaningless=np.zeros(COUNT, dtype=np.bool_),
        summary_words=np.full(COUNT, 20),
        hops=np.zeros(COUNT, dtype=np.int64),
        vectors=vectors / np.linalg.norm(vectors, axis=1, keepdims=True),
        initial_vectors=None,
        columns={},
        tails=np.array([edge[0] for edge in edges], dtype=np.int64),
        heads=np.array([edge[1] for edge in edges], dtype=np.int64),
        arc_kinds=np.array([EDGE_KINDS.index(edge[2]) for edge in edges], dtype=np.int64),
        weights=np.array([edge[3] for edge in edges], dtype=np.float64),
    )


def scored(**best):
    """Return scores of 0.05 but for the nodes named, as n3=0.8."""
    values = np.full(COUNT, 0.05)
    for name, value in best.items():
        values[int(name[1:])] = value
    return NodeScores(relevance=values, propagated=values, combined=values, rarity={})


def follow(scores, edges=(), text="Why did the pump fail?", **settings):
    desk, question = at_desk(**settings), asked(text)
    terrain = lay_out(question, a_graph(edges), scores, desk)
    routed = route(question, terrain, desk)
    return terrain, routed, select(question, terrain, routed, desk)


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


def test_a_question_that_counts_is_given_more_places():
    scores = scored(n0=0.8, n6=0.45)
    assert nodes_of(follow(scores)[2]) == [(0,)]
    assert nodes_of(follow(scores, text="How many pumps failed?")[2]) == [(0,), (6,)]


def test_chains_begin_on_so_many_pages_at_most():
    scores = scored(n0=0.8, n6=0.8, n12=0.8)
    _, _, paths = follow(scores, routing=RoutingSettings(start_pages=2))
    assert nodes_of(paths) == [(0,), (6,)]


def test_what_system_2_adds_is_used_and_begun_at():
    desk, question = at_desk(), asked()
    terrain = lay_out(question, a_graph(), scored(n0=0.8, n6=0.3, n12=0.2), desk)
    grown = type(terrain)(
        tails=np.append(terrain.tails, 0),
        heads=np.append(terrain.heads, 6),
        similarities=np.append(terrain.similarities, 0.9),
        scores=terrain.scores,
        answerability=terrain.answerability,
        sources=np.append(terrain.sources, 13),
        sinks=terrain.sinks,
        related=terrain.related,
        begun=terrain.begun,
    )
    assert nodes_of(select(question, terrain, route(question, terrain, desk), desk)) == [(0,)]
    assert nodes_of(select(question, grown, route(question, grown, desk), desk)) == [(0, 6), (13,)]


def test_the_flow_of_the_terrains_own_arcs_comes_first():
    terrain, routed, _ = follow(scored(n0=0.8, n12=0.3), [(0, 12, EdgeKind.REFERS_TO, 0.8)])
    carried = np.flatnonzero(routed.flow.flow[: len(terrain.tails)])
    assert [(int(terrain.tails[arc]), int(terrain.heads[arc])) for arc in carried] == [(0, 12)]


PAPER = RoutingSettings(formulation="paper", sources=2, sinks=2, diversity=1)


def test_the_papers_formulation_uses_the_graphs_own_arcs_only():
    edges = [(0, 4, EdgeKind.SEMANTIC, 0.9), (4, 0, EdgeKind.SEMANTIC, 0.2), (0, 3, EdgeKind.PART_OF, 0.1)]
    terrain, routed, paths = follow(scored(n0=0.8, n4=0.7), edges, routing=PAPER)
    # Below r_min a similarity is pruned, a relation of the layout is not.
    assert list(zip(terrain.tails.tolist(), terrain.heads.tolist(), strict=True)) == [(0, 4), (0, 3)]
    assert (terrain.sources.tolist(), terrain.sinks.tolist()) == ([0, 4], [0, 4])
    # Not the demand of 6 but what fits.
    assert routed.flow.amount == pytest.approx(0.8 + 0.7, abs=1e-6)
    assert nodes_of(paths) == [(0,), (4,)]


def test_saturation_is_that_of_the_connection_or_the_papers():
    scores = scored(n0=0.8, n4=0.7)
    assert follow(scores, routing=PAPER)[1].saturation == 1.0
    assert follow(scores, routing=PAPER, gate=GateSettings(saturation_of="paper"))[1].saturation == pytest.approx(1.5 / 6)


@pytest.mark.parametrize("formulation", ["prizes", "paper"])
def test_a_graph_without_scores_has_no_paths(formulation):
    nothing = NodeScores(*(np.zeros(COUNT),) * 3, rarity={})
    _, routed, paths = follow(nothing, routing=RoutingSettings(formulation=formulation))
    assert (routed.chains, paths) == ((), ())


def test_no_more_paths_are_read_than_allowed_and_the_largest_share_comes_first():
    scores = scored(n0=0.8, n4=0.4, n6=0.75, n9=0.2, n12=0.7)
    _, _, paths = follow(scores, selection=SelectionSettings(read=2))
    assert len(paths) == 2
    assert [path.share for path in paths] == sorted((path.share for path in paths), reverse=True)


@pytest.mark.parametrize("before_mixing", [True, False])
def test_extinction_is_judged_before_mixing_or_after(before_mixing):
    # Mixing lifts the smallest of four shares to a twentieth at least.
    selection = SelectionSettings(
        extinction=0.049, steps=200, extinct_before_mixing=before_mixing, diagonal_power=4, peak_exponent=5
    )
    edges = [(0, 1, EdgeKind.REFERS_TO, 0.9), (0, 2, EdgeKind.REFERS_TO, 0.9), (0, 4, EdgeKind.REFERS_TO, 0.9)]
    _, routed, paths = follow(scored(n0=0.8, n1=0.4, n2=0.4, n4=0.4, n9=0.56), edges, selection=selection)
    assert len(paths) == len(routed.chains) or before_mixing


def test_the_baseline_takes_the_best_nodes_each_by_itself():
    paths = best_passages(asked(), scored(n3=0.8, n7=0.9), at_desk(selection=SelectionSettings(read=2)))
    assert [(path.nodes, path.flow, path.quality) for path in paths] == [((7,), 0.0, 0.9), ((3,), 0.0, 0.8)]


def test_the_same_question_is_routed_the_same_way_again():
    scores = scored(n0=0.8, n3=0.8, n6=0.8, n1=0.5)
    first, second = (follow(scores)[2] for _ in range(2))
    assert hash_bytes(repr(first).encode()) == hash_bytes(repr(second).encode())
