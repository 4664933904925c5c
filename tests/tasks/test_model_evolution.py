"""Rounds by a model: each reads the round before, and what comes out hangs on no timing."""

import random
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

from storage.records import EdgeKind, NodeKind
from tasks.analysis import embedding_text
from tasks.link_judgements import Judge
from tasks.model_evolution import evolve_by_model
from tasks.settings import EvolutionSettings
from tests.chat_server import Misbehaviour, well
from tests.scripted_reader import pieces_of, reads_well
from tests.tasks.describing_worlds import DOCUMENT, model, node, passages, unit_vectors

TITLE = node(5, "A title of its own", NodeKind.TITLE)


def world():
    """Eleven nodes: a title that is not judged, a figure that nothing links at first, a paragraph without meaning."""
    nodes = passages(11)
    nodes[5] = TITLE
    nodes[7] = node(
        7, "", NodeKind.FIGURE, caption="Figure 1: tide and turbine", summary="Figure 1 - tide and turbine of station 1"
    )
    nodes[9] = replace(nodes[9], meaningless=True)
    return nodes


def evolve(folder, nodes, reply=reads_well, subjects=None, misbehave=well, **changes):
    settings = EvolutionSettings.model_validate({"mode": "model", **changes})
    asked = [place for place in range(len(nodes)) if place not in (5, 9)] if subjects is None else subjects
    with model(folder, reply, misbehave=misbehave) as (server, chat):
        evolved = evolve_by_model(
            nodes=nodes,
            initial_vectors=unit_vectors([embedding_text(one, "paper") for one in nodes]),
            subjects=asked,
            settings=settings,
            judge=Judge(DOCUMENT, "report.pdf", settings.model, chat, lambda *_told: None, len(asked)),
            embed=unit_vectors,
        )
    return evolved, server


def links_everything(request):
    """Link with all candidates, rewrite nothing."""
    told = reads_well(request)
    pieces = pieces_of(request.prompt)
    for one in told["nodes"]:
        others = [name for name in pieces[one["id"]][0].replace(",", "").split()[2:]]
        one |= {
            "links": [{"to": other, "relation": "contrast"} for other in others],
            "update": False,
            "summary": "",
            "keywords": [],
        }
    return told


def links_nothing(request):
    told = reads_well(request)
    return {"nodes": [one | {"links": [], "update": False, "summary": "", "keywords": []} for one in told["nodes"]]}


def test_what_the_model_named_is_linked_both_ways_with_its_relation_and_weighs_the_cosine(tmp_path):
    evolved, _ = evolve(tmp_path, world(), links_everything)
    arcs = {(edge.source, edge.target): edge for edge in evolved.edges}
    assert len(arcs) == len(evolved.edges) > 20
    for edge in evolved.edges:
        one, other = (
            next(place for place, each in enumerate(evolved.nodes) if each.id == name) for name in (edge.source, edge.target)
        )
        assert edge.weight == pytest.approx(float(evolved.vectors[one] @ evolved.vectors[other]), abs=1e-3) and edge.weight >= 0.22
        back = arcs[edge.target, edge.source]
        assert (back.weight, back.kind, back.round, back.relation) == (edge.weight, edge.kind, edge.round, edge.relation)
    assert {edge.relation for edge in evolved.edges} == {"contrast", ""}
    figure = [edge for edge in evolved.edges if edge.source == "id7"]
    assert figure and all(edge.kind is EdgeKind.SEMANTIC and edge.round == 3 for edge in figure)


def test_what_the_model_does_not_name_goes_and_what_it_was_not_asked_about_stays(tmp_path):
    evolved, server = evolve(tmp_path, world(), links_nothing, minimum_edge=0.0)
    # the paragraph without meaning is nobody's candidate: its window stays
    assert {(edge.source, edge.target) for edge in evolved.edges if edge.source < edge.target} <= {
        *(tuple(sorted((f"id{one}", "id9"))) for one in range(11))
    }
    assert all(edge.kind is EdgeKind.WINDOW and edge.round == 0 for edge in evolved.edges)
    assert server.calls == 2, "one round leaves other candidates, and from then on nothing changes"


def test_a_rewritten_node_has_its_new_words_its_round_and_a_vector_of_them(tmp_path):
    evolved, _ = evolve(tmp_path, world())
    nodes = evolved.nodes
    assert nodes[0].summary.startswith("Rewritten: The tide") and nodes[0].round == 1
    assert set(nodes[0].keywords) <= {"The", "tide", "of"} and nodes[0].content == world()[0].content
    assert nodes[7].summary.startswith("Figure 1 - Rewritten"), "a figure's summary still begins with its index"
    assert (nodes[5], nodes[9]) == (world()[5], world()[9])
    np.testing.assert_array_equal(evolved.vectors, unit_vectors([embedding_text(one, "paper") for one in nodes]))


def test_a_new_summary_is_no_longer_than_asked_and_keywords_are_the_nodes_own(tmp_path):
    def reply(request):
        told = reads_well(request)
        return {"nodes": [one | {"update": True, "summary": "word " * 50, "keywords": ["invented"]} for one in told["nodes"]]}

    evolved, _ = evolve(tmp_path, world(), reply, rounds=1)
    assert len(evolved.nodes[0].summary.split()) == 31 and evolved.nodes[0].keywords == world()[0].keywords


def test_each_round_reads_the_round_before_and_nothing_of_its_own(tmp_path):
    def reply(request):
        told = reads_well(request)
        old = {
            name: int(text.split()[1]) if text.startswith("Round") else 0 for name, (_, text) in pieces_of(request.prompt).items()
        }
        assert len(set(old.values())) == 1, "all notes of a call are of one round"
        number = next(iter(old.values())) + 1
        return {"nodes": [one | {"update": True, "summary": f"Round {number} of {one['id']}"} for one in told["nodes"]]}

    nodes = [replace(one, summary=f"Round 0 of {one.id}") for one in passages(30)]
    evolved, server = evolve(tmp_path, nodes, reply, subjects=range(30), model={"nodes_per_call": 4})
    assert server.calls == 3 * 8
    assert [one.summary for one in evolved.nodes] == [f"Round 3 of n{place}" for place in range(30)]


def test_the_result_hangs_neither_on_who_replies_first_nor_on_what_was_interrupted(tmp_path):
    nodes = passages(40)
    lock, dice = threading.Lock(), random.Random(3)

    def slowly(request):
        with lock:
            time.sleep(dice.random() / 200)
        return reads_well(request)

    many = {"subjects": range(40), "model": {"nodes_per_call": 3}}
    first, server = evolve(tmp_path / "one", nodes, **many)
    second, _ = evolve(tmp_path / "two", nodes, slowly, **many)
    assert server.most_at_once > 1
    assert (first.nodes, first.edges) == (second.nodes, second.edges)
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_no_rounds_leave_the_window_and_ask_nobody(tmp_path):
    nodes = world()
    evolved, server = evolve(tmp_path, nodes, rounds=0)
    assert server.calls == 0 and evolved.nodes == tuple(nodes)
    assert evolved.edges and all(edge.kind is EdgeKind.WINDOW and not edge.relation for edge in evolved.edges)


def test_a_node_that_cannot_be_judged_keeps_its_words_and_links(tmp_path):
    def misbehave(request):
        asked = [name for name, (heading, _) in pieces_of(request.prompt).items() if "candidates" in heading]
        return Misbehaviour.REFUSAL if "n3" in asked else None

    nodes = passages(11)
    evolved, _ = evolve(tmp_path, nodes, subjects=range(11), misbehave=misbehave)
    assert list(evolved.errors) == [3] and evolved.nodes[3] == nodes[3] and evolved.asked == 11
    assert evolved.nodes[2].round == 1


def test_a_document_of_one_node_has_nothing_to_judge(tmp_path):
    evolved, server = evolve(tmp_path, passages(1), subjects=[0])
    assert server.calls == 0 and evolved.edges == () and not evolved.errors
