"""The model judges links among candidates only, and is not asked the same twice."""

from dataclasses import replace

import pytest

from tasks.link_judgements import Judge, NamedLink, NoteJudgement, NoteJudgements, wrong_judgement
from tasks.settings import ModelEvolutionSettings
from tests.chat_server import Misbehaviour
from tests.scripted_reader import judged, pieces_of, reads_well
from tests.tasks.describing_worlds import DOCUMENT, model, passages

NODES = passages(8)
CANDIDATES = {0: (1, 2), 1: (0, 2, 3), 5: (4, 6)}


def judge(chat, heard=None, **settings):
    told = (lambda *_told: None) if heard is None else lambda *told: heard.append(told)
    return Judge(DOCUMENT, "report.pdf", ModelEvolutionSettings(**settings), chat, told, total=9)


def note(name="n1", links=(), update=False, summary=""):
    named = [NamedLink(to=to, relation="cause") for to in links]
    return NoteJudgement(id=name, links=named, update=update, summary=summary, keywords=[])


def test_a_note_is_judged_among_its_candidates_and_sees_their_summaries_only(tmp_path):
    with model(tmp_path) as (server, chat):
        judgements, errors = judge(chat).judge(NODES, CANDIDATES)
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
        judge(chat).judge(NODES, CANDIDATES)
        judge(chat, content_characters=30).judge(NODES, CANDIDATES)
    plain, with_text = (pieces_of(request.prompt)["n1"][1] for request in server.requests)
    assert plain == f"{NODES[1].summary}\nKeywords: The; turbine; of"
    assert with_text == f"{plain}\nText: The turbine of station 1 was [... 35 characters left out]"


def test_neighbours_share_calls_of_so_many_notes(tmp_path):
    candidates = {place: tuple(other for other in range(8) if other != place) for place in range(8)}
    with model(tmp_path) as (server, chat):
        judge(chat, nodes_per_call=3).judge(NODES, candidates)
        assert server.calls == 3
        judge(chat, characters_per_call=600).judge(passages(8)[::-1], candidates)
        assert server.calls > 6


def test_what_sees_the_same_as_before_is_not_asked_again(tmp_path):
    heard = []
    with model(tmp_path) as (server, chat):
        judging = judge(chat, heard)
        first, _ = judging.judge(NODES, CANDIDATES)
        again, _ = judging.judge(NODES, CANDIDATES)
        assert again == first and server.calls == 1
        other = [replace(one, summary="Changed.") if place == 6 else one for place, one in enumerate(NODES)]
        judging.judge(other, CANDIDATES)
    assert server.calls == 2 and [
        name for name, (heading, _) in pieces_of(server.requests[1].prompt).items() if "cand" in heading
    ] == ["n5"]
    assert heard[-1] == (9, 9)


def test_a_link_with_a_note_shown_for_another_is_left_out(tmp_path):
    def reply(request):
        told = reads_well(request)
        return {"nodes": [one | {"links": [{"to": "n4", "relation": "part"}]} for one in told["nodes"]]}

    with model(tmp_path, reply) as (_, chat):
        judgements, errors = judge(chat).judge(NODES, CANDIDATES)
    assert not errors and judgements[0].links == {} and judgements[5].links == {4: "part"}


def test_a_note_whose_call_fails_has_no_judgement_and_the_others_do(tmp_path):
    def misbehave(request):
        asked = [name for name, (heading, _) in pieces_of(request.prompt).items() if "candidates" in heading]
        return Misbehaviour.INVALID_JSON if "n1" in asked else None

    with model(tmp_path, misbehave=misbehave) as (_, chat):
        judgements, errors = judge(chat).judge(NODES, CANDIDATES)
    assert set(judgements) == {0, 5} and list(errors) == [1] and "links of node 1 of report.pdf" in str(errors[1])


def test_a_note_that_was_judged_before_and_fails_now_has_no_judgement(tmp_path):
    failing = []
    with model(tmp_path, misbehave=lambda _request: Misbehaviour.REFUSAL if failing else None) as (_, chat):
        judging = judge(chat)
        judging.judge(NODES, CANDIDATES)
        failing.append(True)
        judgements, errors = judging.judge([replace(one, summary=f"New {one.summary}") for one in NODES], CANDIDATES)
    assert judgements == {} and sorted(errors) == [0, 1, 5]


@pytest.mark.parametrize(
    ("told", "said"),
    [
        ([note()], ""),
        ([note(links=["n2"], update=True, summary="New.")], ""),
        ([note("n7")], "an id stands there that is none of the ids"),
        ([note(links=["n9"])], "n1 is linked with an id that is none of its candidates"),
        ([note(links=["n1"])], "n1 is linked with an id that is none of its candidates"),
        ([note(update=True)], "the new summary of n1 is empty"),
        ([], "n1 is missing"),
    ],
)
def test_a_judgement_names_only_what_was_shown(told, said):
    wrong = wrong_judgement(NoteJudgements(nodes=told), ("n1",), frozenset({"n1", "n2"}))
    assert wrong == "" if not said else said in wrong


def test_the_scripted_reader_rewrites_once():
    assert not judged("n1", "n1, candidates: n2", "Rewritten: It grows.\nKeywords: a")["update"]
