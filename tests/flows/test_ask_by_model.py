"""Questions answered by a chat model behind a real socket: one flow, its gate, its bounds, and what who waits hears meanwhile."""

from collections import Counter
from dataclasses import replace
from itertools import pairwise

from storage.locations import calls_folder
from storage.records.answers import AnswerStatus
from storage.records.documents import EdgeKind
from storage.runs.replies import CallCache, questions_owner
from tasks.events import DraftGrown, Followed, QuestionBegan, StageReached, subscribe
from tasks.models.chat import stream
from tasks.prompts.prompt import load_prompt
from tests.asking_worlds import Passage, answer_at, at_context, lasting, run_of, written
from tests.library import alone
from tests.scripted_answers import (
    EVERY_PAGE,
    ONE_PAGE,
    STRAIT,
    Reader,
    forms,
    model_settings,
    path_answer,
    read_by,
    whole_answer,
)

SIMILAR = EdgeKind.SEMANTIC
QUESTION = "How deep is the harbour?"
HARBOUR = written(
    "harbour",
    Passage("The harbour is 20 metres deep.", arcs=((1, SIMILAR, 0.6),)),
    Passage("Ships wait for the tide in the harbour.", page=2, arcs=((0, SIMILAR, 0.6),)),
)
ISLANDS = written(
    "islands",
    *[
        Passage(f"The harbour of island {n} is {n + 20} metres deep at low tide.", page=n, arcs=((n % 12, SIMILAR, 0.5),))
        for n in range(1, 13)
    ],
)
ROCKS = written(
    "rocks",
    *[
        Passage(
            f"The harbour at rock {n} is {n + 20} metres deep.",
            page=n,
            arcs=tuple(
                (other - 1, SIMILAR, 0.3 + other / 1000) for other in range(1, 41) if other != n and (other > 20) == (n > 20)
            ),
        )
        for n in range(1, 41)
    ],
)
"""Forty answers, in two groups that no arc joins."""
POOLS = written(
    "pools",
    *[Passage(f"The harbour at pool {n} is {n + 20} metres deep.", page=1 + (n - 1) // 4) for n in range(1, 49)],
)
"""Four answers on each of twelve pages."""
DEPTHS = {f"{depth} metres deep": f"{depth} metres" for depth in range(20, 70)}


WORLD = (HARBOUR, ISLANDS, POOLS, ROCKS, STRAIT)


def of_document(context, name):
    return replace(context, scope=alone(name))


def test_an_answer_that_all_agree_on_behind_a_quiet_gate_is_given_as_it_is(context):
    with read_by(of_document(context, "harbour"), Reader(DEPTHS)) as (place, server):
        answer = answer_at(place, QUESTION)
    assert (answer.answer, answer.status, answer.gate.triggered) == ("20 metres", AnswerStatus.ANSWERED, "")
    assert [(cited.quote, cited.page) for cited in answer.citations] == [("20 metres deep", 1)]
    assert set(forms(server)) == {"PathAnswer"} and forms(server)["PathAnswer"] == len(answer.paths)
    assert (answer.usage.calls, answer.usage.most_calls) == (server.calls, 47) and answer.usage.input_tokens > 0


def test_a_second_ask_makes_no_call_costs_nothing_and_says_the_same(context):
    settings = model_settings(models={"prices": {"input_per_million": 2.0, "output_per_million": 6.0}})
    with read_by(of_document(context, "islands"), Reader(DEPTHS), settings=settings) as (place, server):
        first = answer_at(place, QUESTION)
        made = server.calls
        second = answer_at(place, QUESTION)
    assert made == server.calls == first.usage.calls > 10 and first.usage.cost > 0
    assert (second.usage.calls, second.usage.cost, second.usage.input_tokens, second.usage.output_tokens) == (0, 0.0, 0, 0)
    assert second.usage.cached == first.usage.calls + first.usage.cached <= 47
    told, again = lasting(first), lasting(second)
    assert {**told, "usage": None} == {**again, "usage": None}


def test_answers_that_contradict_each_other_fire_the_gate_within_the_bounds(context):
    with read_by(of_document(context, "pools"), Reader(DEPTHS)) as (place, server):
        answer = answer_at(place, QUESTION)
    assert (answer.gate.triggered, answer.gate.consistency, answer.gate.saturation) == ("low_consistency", 0.0, None)
    assert {edit.kind for edit in answer.gate.edits} == {"re-weight"}
    asked = forms(server)
    assert 2 <= asked["PathAnswer"] <= 22 and asked["Comparison"] <= 20 and "Keywords" not in asked
    assert 1 <= asked["RatedSteps"] <= 4 and asked["WholeAnswer"] == 1 and server.calls <= 47
    assert answer.status is AnswerStatus.ANSWERED and answer.citations


def test_a_strained_flow_of_the_paper_is_bridged_by_what_the_model_rates(context):
    settings = model_settings(gate={"saturation": 0.95}, routing={"network": "paper", "sources": 2})
    with read_by(of_document(context, "strait"), Reader(DEPTHS, rate=0.75), settings=settings) as (place, server):
        answer = answer_at(place, "How deep is the harbour at low tide?")
    assert answer.gate.triggered == "low_saturation" and answer.status is AnswerStatus.ANSWERED
    assert any(edit.kind == "bridge" for edit in answer.gate.edits)
    asked = forms(server)
    assert asked["RatedBridges"] >= 1 and asked["RatedBridges"] + asked["RatedSteps"] <= 4 and server.calls <= 47


def test_without_support_more_is_read_and_the_model_has_the_last_word(context):
    with read_by(replace(of_document(context, "islands"), weights=ONE_PAGE), Reader({})) as (place, server):
        answer = answer_at(place, "Where do zebras live beside the tide?")
    assert answer.gate.triggered == "no_support" and {edit.kind for edit in answer.gate.edits} == {"source"}
    assert (answer.status, answer.citations) == (AnswerStatus.NOT_FOUND, ()) and "found no answer" in answer.why
    assert forms(server)["WholeAnswer"] == 1 and forms(server)["Comparison"] == 0


def test_what_every_reader_overlooked_the_last_one_may_find(context):
    blind = {"PathAnswer": path_answer("", status="not_reported")}
    with read_by(of_document(context, "harbour"), Reader(DEPTHS, instead=blind)) as (place, _):
        answer = answer_at(place, QUESTION)
    assert (answer.answer, answer.status) == ("20 metres", AnswerStatus.ANSWERED)
    assert [cited.quote for cited in answer.citations] == ["20 metres deep"]


def test_the_papers_worst_case_is_48_calls(context):
    routing = {"network": "paper", "sinks": 12, "sources": 12}
    settings = model_settings(gate={"saturation": 1.0}, routing=routing, selection={"extinction": 0.0}, keywords=True)
    with read_by(of_document(context, "rocks"), Reader(DEPTHS, rate=1.0), settings=settings) as (place, _):
        answer = answer_at(place, QUESTION)
    by_purpose = Counter(call["purpose"] for call in calls_of(context, answer))
    assert answer.gate.triggered == "low_saturation" and answer.usage.calls + answer.usage.cached == answer.usage.most_calls == 48
    assert by_purpose == {"keywords": 1, "worker": 22, "consistency": 20, "bridge": 2, "step": 2, "synthesis": 1}


def test_only_what_the_model_names_of_the_question_is_looked_for(context):
    named = Reader(DEPTHS, instead={"Keywords": {"keywords": ["tide", "a word of its own"]}})
    words_alone = {"lexical_share": 1.0, "pair_share": 0.0, "page_share": 0.0}
    settings = model_settings(keywords=True, relevance=words_alone)
    with read_by(of_document(context, "harbour"), named, settings=settings) as (place, server):
        answer = answer_at(place, "How deep is the harbour at low tide?", reader="top-k")
    assert "Question: How deep is the harbour at low tide?" in server.requests[0].prompt and server.requests[0].form == "Keywords"
    assert {page.page: page.score > 0 for page in answer.pages} == {1: False, 2: True}


def test_a_small_model_is_asked_once_by_the_papers_method_too(context):
    settings = model_settings(routing={"network": "paper"}, keywords=True, reading={"model": {"forms": "small"}})
    wrong = Reader({}, instead={"ShortAnswer": '"99 miles"'})
    with read_by(of_document(context, "harbour"), wrong, settings=settings) as (place, server):
        answer = answer_at(place, QUESTION)
    assert forms(server) == {"ShortAnswer": 1} and answer.gate is None and answer.status is AnswerStatus.EVIDENCE
    assert answer.models["reader"] == "model in small form"


def calls_of(context, answer):
    """Return the lineage of the answer's calls."""
    entries = run_of(context.snapshot.location).entries
    return [entry for entry in entries if entry["kind"] == "call" and entry["answer_id"] == answer.answer_id]


def test_the_worst_case_of_the_default_is_47_calls(context):
    with read_by(replace(of_document(context, "pools"), weights=EVERY_PAGE), Reader(DEPTHS, rate=1.0)) as (place, _):
        answer = answer_at(place, QUESTION)
    by_purpose = Counter(call["purpose"] for call in calls_of(context, answer))
    assert by_purpose == {"worker": 22, "consistency": 20, "step": 4, "synthesis": 1}
    assert answer.usage.calls + answer.usage.cached == answer.usage.most_calls == 47


def test_the_baseline_asks_for_paths_and_an_answer(context):
    with read_by(of_document(context, "islands"), Reader(DEPTHS)) as (place, server):
        answer = answer_at(place, QUESTION, reader="top-k")
    assert set(forms(server)) == {"PathAnswer", "WholeAnswer"} and server.calls == 12
    assert answer.usage.most_calls == 12 and answer.gate is None and answer.citations


def test_the_lineage_records_every_call_and_the_answer_names_model_and_prompts(context):
    with read_by(of_document(context, "islands"), Reader(DEPTHS)) as (place, _):
        answer = answer_at(place, QUESTION)
    calls = calls_of(context, answer)
    assert len(calls) == answer.usage.calls + answer.usage.cached
    assert all(call["model"] == "scripted" and call["prompt_hash"] and call["key"] for call in calls)
    assert sum(call["input_tokens"] for call in calls) == answer.usage.input_tokens > 0
    prompts = {f"prompt {purpose}": load_prompt(purpose).hash for purpose in {call["purpose"] for call in calls}}
    assert answer.models == {"embedder": context.embedder.identity.key, "reader": "model", "chat": "scripted"} | prompts
    assert CallCache(calls_folder()).subjects() == [questions_owner(context.snapshot.location.name)]


ANSWER = "It is {}\u00a0deep, \x1bas\n\u202eit is."
CLEANED = "It is {} deep, as it is."


def wordy(request):
    found = Reader(DEPTHS).found(request)
    return whole_answer(ANSWER.format(found[0][0]), [found[0][1]])


def test_the_stages_come_in_order_and_the_draft_grows_to_the_answer(location, home, monkeypatch):
    monkeypatch.setattr(stream, "DRAFT_SECONDS", 0.0)
    heard, reader = [], Reader(DEPTHS, instead={"WholeAnswer": wordy})
    with (
        at_context(location) as context,
        subscribe(heard.append),
        read_by(of_document(context, "pools"), reader, piece_length=5) as (place, _),
    ):
        answer = answer_at(place, QUESTION)
    (began,) = [event for event in heard if isinstance(event, QuestionBegan)]
    followed = [event for event in heard if isinstance(event, Followed)]
    assert {event.answer for event in followed} == {began.answer} == {answer.answer_id}
    stages = [event for event in followed if isinstance(event, StageReached)]
    words = [event.words for event in stages]
    assert words[0] == "found 5 pages" and words[-1] == "putting together" and words.count("putting together") == 1
    readings = [(event.done, event.of) for event in stages if event.words.startswith("reading")]
    most = readings[0][1]
    assert readings[: most + 1] == [(done, most) for done in range(most + 1)] and f"reading 5 of {most}" in words
    assert (
        words.index(f"reading {most} of {most}")
        < next(place for place, said in enumerate(words) if said.startswith("checking 0 of "))
        < words.index("looking again 0 of 2")
    ), words
    drafts = [event.text for event in followed if isinstance(event, DraftGrown)]
    cleaned = CLEANED.format(answer.citations[0].quote.removesuffix(" deep"))
    assert len(drafts) > 3 and drafts[-1] == answer.answer == cleaned
    assert all(later.startswith(earlier) for earlier, later in pairwise(drafts))
    assert followed[-1] == DraftGrown(answer.answer_id, cleaned)
