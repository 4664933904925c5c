"""Rounds that a model judges: what is linked and rewritten, what a note is shown, and what is asked again."""

import random
import threading
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from storage.artifacts import ArtifactStore
from storage.records.documents import EdgeKind, NodeKind
from tasks.content_graph.analysis import embedding_text
from tasks.content_graph.links import Judge, NamedLink, NoteJudgement, NoteJudgements, wrong_judgement
from tasks.content_graph.model_evolution import before_the_first, edges_of_rounds, judge_round
from tasks.settings.ingest import EvolutionSettings, ModelEvolutionSettings
from tests.chat_server import Misbehaviour, well
from tests.scripted_reader import pieces_of, reads_well
from tests.tasks.describing_worlds import DOCUMENT, model, node, passages, picture, unit_vectors

TITLE = node(5, "A title of its own", NodeKind.TITLE)


FIGURE = node(
    7, "", NodeKind.FIGURE, caption="Figure 1: tide and turbine", picture_text="MW Jan Feb", summary="Figure 1 - of station 1"
)


def world():
    """Eleven nodes: a title that is not judged, a figure that nothing links at first, a paragraph without meaning."""
    nodes = passages(11)
    nodes[5] = TITLE
    nodes[7] = node(
        7, "", NodeKind.FIGURE, caption="Figure 1: tide and turbine", summary="Figure 1 - tide and turbine of station 1"
    )
    nodes[9] = replace(nodes[9], meaningless=True)
    return nodes


def judged_by(folder, nodes, reply=reads_well, subjects=None, misbehave=well, **changes):
    settings = EvolutionSettings.model_validate({"mode": "model", **changes})
    asked = [place for place in range(len(nodes)) if place not in (5, 9)] if subjects is None else subjects
    with model(folder, reply, misbehave=misbehave) as (server, chat):
        judging = Judge(
            DOCUMENT, "report.pdf", settings.model, None, chat, lambda *_done: None, len(asked), ArtifactStore(folder), {}
        )
        evolved = before_the_first(nodes, unit_vectors([embedding_text(one, "paper") for one in nodes]), settings)
        for number in range(1, settings.rounds + 1):
            judged = judge_round(evolved, number, subjects=asked, settings=settings, judge=judging)
            evolved = replace(judged, vectors=unit_vectors(judged.texts))
    return evolved, edges_of_rounds(evolved, settings), server


def links_everything(request):
    """Link with all candidates, rewrite nothing."""
    replied = reads_well(request)
    pieces = pieces_of(request.prompt)
    for one in replied["nodes"]:
        others = [name for name in pieces[one["id"]][0].replace(",", "").split()[2:]]
        one |= {
            "links": [{"to": other, "relation": "contrast"} for other in others],
            "update": False,
            "summary": "",
            "keywords": [],
        }
    return replied


def links_nothing(request):
    replied = reads_well(request)
    return {"nodes": [one | {"links": [], "update": False, "summary": "", "keywords": []} for one in replied["nodes"]]}


def test_what_the_model_named_is_linked_both_ways_with_its_relation_and_weighs_the_cosine(tmp_path):
    evolved, edges, _ = judged_by(tmp_path, world(), links_everything)
    arcs = {(edge.source, edge.target): edge for edge in edges}
    assert len(arcs) == len(edges) > 20
    for edge in edges:
        one, other = (
            next(place for place, each in enumerate(evolved.nodes) if each.id == name) for name in (edge.source, edge.target)
        )
        assert edge.weight == pytest.approx(float(evolved.vectors[one] @ evolved.vectors[other]), abs=1e-3) and edge.weight >= 0.22
        back = arcs[edge.target, edge.source]
        assert (back.weight, back.kind, back.round, back.relation) == (edge.weight, edge.kind, edge.round, edge.relation)
    assert {edge.relation for edge in edges} == {"contrast", ""}
    figure = [edge for edge in edges if edge.source == "id7"]
    assert figure and all(edge.kind is EdgeKind.SEMANTIC and edge.round == 3 for edge in figure)


def test_what_the_model_does_not_name_goes_and_what_it_was_not_asked_about_stays(tmp_path):
    _, edges, server = judged_by(tmp_path, world(), links_nothing, minimum_edge=0.0)
    # the paragraph without meaning is no candidate: its window stays
    assert {(edge.source, edge.target) for edge in edges if edge.source < edge.target} <= {
        *(tuple(sorted((f"id{one}", "id9"))) for one in range(11))
    }
    assert all(edge.kind is EdgeKind.WINDOW and edge.round == 0 for edge in edges)
    assert server.calls == 5, "two rounds of groups: the first leaves other candidates, and from then on nothing changes"


def test_directed_a_node_has_the_arcs_that_it_named_and_is_asked_about_no_others(tmp_path):
    def names_those_behind(request):
        replied = links_everything(request)
        return {
            "nodes": [
                one | {"links": [link for link in one["links"] if int(link["to"][1:]) > int(one["id"][1:])]}
                for one in replied["nodes"]
            ]
        }

    asked = {"subjects": range(11), "neighbours": 0, "minimum_edge": 0.0, "rounds": 2}
    _, edges, server = judged_by(tmp_path, passages(11), names_those_behind, model={"directed": True}, **asked)
    assert edges and all(int(edge.source[2:]) < int(edge.target[2:]) and edge.relation == "contrast" for edge in edges)
    headings = [heading for request in server.requests for heading, _text in pieces_of(request.prompt).values()]
    of_two = [[heading for heading in headings if heading.startswith(f"{name}, ")] for name in ("n4", "n10")]
    assert of_two == [["n4, candidates: n1 n2 n3 n5 n6 n7", "n4, candidates: n5 n6 n7"], ["n10, candidates: n7 n8 n9"]]
    _, both, _ = judged_by(tmp_path, passages(11), names_those_behind, **asked)
    assert len(both) == 2 * len(edges)


def test_a_rewritten_node_has_its_new_words_its_round_and_a_vector_of_them(tmp_path):
    evolved, *_ = judged_by(tmp_path, world())
    nodes = evolved.nodes
    assert nodes[0].summary.startswith("Rewritten: The tide") and nodes[0].round == 1
    assert set(nodes[0].keywords) <= {"The", "tide", "of"} and nodes[0].content == world()[0].content
    assert nodes[7].summary.startswith("Figure 1 - Rewritten"), "a figure's summary still begins with its index"
    assert (nodes[5], nodes[9]) == (world()[5], world()[9])
    np.testing.assert_array_equal(evolved.vectors, unit_vectors([embedding_text(one, "paper") for one in nodes]))


def test_a_new_summary_is_no_longer_than_asked_and_keywords_are_the_nodes_own(tmp_path):
    def reply(request):
        replied = reads_well(request)
        return {"nodes": [one | {"update": True, "summary": "word " * 50, "keywords": ["invented"]} for one in replied["nodes"]]}

    evolved, *_ = judged_by(tmp_path, world(), reply, rounds=1)
    assert len(evolved.nodes[0].summary.split()) == 31 and evolved.nodes[0].keywords == world()[0].keywords


def test_each_round_reads_the_round_before_and_nothing_of_its_own(tmp_path):
    def reply(request):
        replied = reads_well(request)
        old = {
            name: int(text.split()[1]) if text.startswith("Round") else 0 for name, (_, text) in pieces_of(request.prompt).items()
        }
        assert len(set(old.values())) == 1, "all notes of a call are of one round"
        number = next(iter(old.values())) + 1
        return {"nodes": [one | {"update": True, "summary": f"Round {number} of {one['id']}"} for one in replied["nodes"]]}

    nodes = [replace(one, summary=f"Round 0 of {one.id}") for one in passages(30)]
    evolved, _, server = judged_by(tmp_path, nodes, reply, subjects=range(30), model={"nodes_per_call": 4})
    assert server.calls == 3 * 8
    assert [one.summary for one in evolved.nodes] == [f"Round 3 of n{place}" for place in range(30)]


def test_the_result_depends_neither_on_the_order_of_replies_nor_on_interruptions(tmp_path):
    nodes = passages(40)
    lock, dice = threading.Lock(), random.Random(3)

    def slowly(request):
        with lock:
            time.sleep(dice.random() / 200)
        return reads_well(request)

    many = {"subjects": range(40), "model": {"nodes_per_call": 3}}
    first, edges, server = judged_by(tmp_path / "one", nodes, **many)
    second, edges_again, _ = judged_by(tmp_path / "two", nodes, slowly, **many)
    assert server.most_at_once > 1
    assert (first.nodes, edges) == (second.nodes, edges_again)
    np.testing.assert_array_equal(first.vectors, second.vectors)


def test_no_rounds_leave_the_window_and_make_no_call(tmp_path):
    nodes = world()
    evolved, edges, server = judged_by(tmp_path, nodes, rounds=0)
    assert server.calls == 0 and evolved.nodes == tuple(nodes)
    assert edges and all(edge.kind is EdgeKind.WINDOW and not edge.relation for edge in edges)


def test_a_node_that_cannot_be_judged_keeps_its_words_and_links(tmp_path):
    def misbehave(request):
        asked = [name for name, (heading, _) in pieces_of(request.prompt).items() if "candidates" in heading]
        return Misbehaviour.REFUSAL if "n3" in asked else None

    nodes = passages(11)
    evolved, *_ = judged_by(tmp_path, nodes, subjects=range(11), misbehave=misbehave)
    assert (
        list(evolved.errors) == [3] and "links of node 3 of report.pdf" in str(evolved.errors[3]) and evolved.nodes[3] == nodes[3]
    )
    assert (evolved.nodes[2].round, evolved.nodes[3]) == (1, nodes[3])


NODES = passages(8)
CANDIDATES = {0: (1, 2), 1: (0, 2, 3), 5: (4, 6)}


def judge(chat, nodes=NODES, candidates=CANDIDATES, known=None, on_nodes=lambda *_done: None, seen=None, **settings):
    """Return what is known after a round, the judgements in it by place, and what failed."""
    asks, (store, pictures) = ModelEvolutionSettings(**settings), seen or (ArtifactStore(Path()), {})
    done = 3 if known else 0
    judging = Judge(DOCUMENT, "report.pdf", asks, None, chat, on_nodes, total=9, artifacts=store, pictures=pictures, done=done)
    after, errors = judging.judge(nodes, candidates, known or {})
    return after, {place: after[place][1] for place in candidates if place in after}, errors


def note(name="n1", links=(), update=False, summary=""):
    named = [NamedLink(to=to, relation="cause") for to in links]
    return NoteJudgement(id=name, links=named, update=update, summary=summary, keywords=[])


def test_a_note_is_judged_among_its_candidates_and_sees_their_summaries_only(tmp_path):
    with model(tmp_path) as (server, chat):
        _, judgements, errors = judge(chat)
    assert not errors and set(judgements) == {0, 1, 5}
    assert judgements[1].links == {0: "elaboration", 3: "cause"}
    assert judgements[0].summary.startswith("Rewritten: The tide") and judgements[0].keywords == ("The", "tide", "of")
    (request,) = server.requests
    pieces = pieces_of(request.prompt)
    assert list(pieces) == ["n0", "n1", "n5", "n2", "n3", "n4", "n6"], "each note is shown once, however many it may be linked with"
    assert pieces["n1"][0] == "n1, candidates: n0 n2 n3"
    assert pieces["n4"] == ("n4", NODES[4].summary)


def test_a_judgement_rests_on_summaries_alone_unless_content_is_asked_for(tmp_path):
    with model(tmp_path) as (server, chat):
        judge(chat)
        judge(chat, content_characters=30)
    plain, with_text = (pieces_of(request.prompt)["n1"][1] for request in server.requests)
    assert plain == f"{NODES[1].summary}\nKeywords: The; turbine; of"
    assert with_text == f"{plain}\nText: The turbine of station 1 was [... 35 characters left out]"


def test_with_its_content_a_model_that_sees_judges_a_figure_alone_by_its_picture(tmp_path):
    store = ArtifactStore(tmp_path)
    figure = replace(FIGURE, picture=picture(store))
    shown = {"seen": (store, {1: figure.picture}), "content_characters": 90}
    with model(tmp_path) as (server, chat):
        _, judgements, errors = judge(chat, [NODES[0], figure, *NODES[2:]], **shown)
    assert not errors and set(judgements) == {0, 1, 5}
    of_figure = next(request for request in server.requests if request.images)
    heading, text = pieces_of(of_figure.prompt)["n1"]
    assert heading.startswith("n1, seen in the picture") and heading.endswith("candidates: n0 n2 n3")
    assert text.endswith("Text: Figure 1: tide and turbine MW Jan Feb") and len(of_figure.images) == 1
    assert [len(request.images) for request in server.requests].count(1) == 1
    others = [pieces_of(request.prompt) for request in server.requests if not request.images]
    assert {name for one in others for name, (heading, _) in one.items() if "candidates" in heading} == {"n0", "n5"}
    with model(tmp_path / "rejecting") as (server, chat):
        server.sees = False
        _, judgements, errors = judge(chat, [NODES[0], figure, *NODES[2:]], **shown)
    assert not errors and set(judgements) == {0, 1, 5}
    assert all("seen in the picture" not in request.prompt for request in server.requests)


def test_a_summary_rests_on_the_note_alone_or_is_completed_from_its_neighbours(tmp_path):
    with model(tmp_path) as (server, chat):
        judge(chat)
        judge(chat, summary="enriched")
    alone, enriched = (request.prompt for request in server.requests)
    assert "rests on this note alone" in alone and "completed by what its related notes say" in enriched
    assert list(pieces_of(alone)) == list(pieces_of(enriched)) and "alone and can be" not in enriched


def test_neighbours_share_calls_of_so_many_notes(tmp_path):
    candidates = {place: tuple(other for other in range(8) if other != place) for place in range(8)}
    with model(tmp_path) as (server, chat):
        judge(chat, candidates=candidates, nodes_per_call=3)
        assert server.calls == 3
        judge(chat, passages(8)[::-1], candidates, characters_per_call=600)
        assert server.calls > 6


def test_what_sees_the_same_as_before_is_not_asked_again(tmp_path):
    progress = []
    with model(tmp_path) as (server, chat):
        known, first, _ = judge(chat)
        again, judgements, _ = judge(chat, known=known)
        assert (again, judgements) == (known, first) and server.calls == 1
        other = [replace(one, summary="Changed.") if place == 6 else one for place, one in enumerate(NODES)]
        judge(chat, other, known=known, on_nodes=lambda *done: progress.append(done))
    assert server.calls == 2 and [
        name for name, (heading, _) in pieces_of(server.requests[1].prompt).items() if "cand" in heading
    ] == ["n5"]
    assert progress == [(5, 9), (6, 9)]


def test_a_link_with_a_note_shown_for_another_is_left_out(tmp_path):
    def reply(request):
        replied = reads_well(request)
        return {"nodes": [one | {"links": [{"to": "n4", "relation": "part"}]} for one in replied["nodes"]]}

    with model(tmp_path, reply) as (_, chat):
        _, judgements, errors = judge(chat)
    assert not errors and judgements[0].links == {} and judgements[5].links == {4: "part"}


def test_a_note_that_was_judged_before_and_fails_now_has_no_judgement(tmp_path):
    failing = []
    with model(tmp_path, misbehave=lambda _request: Misbehaviour.REFUSAL if failing else None) as (_, chat):
        known, *_ = judge(chat)
        failing.append(True)
        after, judgements, errors = judge(chat, [replace(one, summary=f"New {one.summary}") for one in NODES], known=known)
    assert after == judgements == {} and sorted(errors) == [0, 1, 5]


@pytest.mark.parametrize(
    ("replied", "expected"),
    [
        ([note()], ""),
        ([note(links=["n2"], update=True, summary="New.")], ""),
        ([note("n7")], "one of the ids was not asked for"),
        ([note(links=["n9"])], "n1 is linked to an id that is not one of its candidates"),
        ([note(links=["n1"])], "n1 is linked to an id that is not one of its candidates"),
        ([note(update=True)], "the new summary of n1 is empty"),
        ([], "n1 is missing"),
    ],
)
def test_a_judgement_names_only_what_was_shown(replied, expected):
    wrong = wrong_judgement(NoteJudgements(nodes=replied), ("n1",), frozenset({"n1", "n2"}))
    assert wrong == "" if not expected else expected in wrong
