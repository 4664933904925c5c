"""Who waits for an answer hears how far it is and reads a draft of it; the answer, its replies and its lineage stay the same."""

from dataclasses import replace
from itertools import pairwise

import pytest

from storage.graph.search import Scope
from storage.locations import calls_folder
from storage.runs.log import EntryKind
from tasks.events import DraftGrown, Followed, QuestionBegan, StageReached, subscribed
from tasks.models.chat import stream
from tasks.reading.model_calls import ModelContext
from tests.asking_worlds import answer_at, at_context, lasting, run_of
from tests.flows.test_ask_by_model import DEPTHS, HARBOUR, POOLS, QUESTION
from tests.scripted_answers import Reader, read_by, whole_answer
from tests.storage.worlds import document_id

ANSWER = "It is 20 metres\u00a0deep \x1b[31mat\n\u202elow tide."
LASTING = ("purpose", "item", "key", "prompt_hash", "input_tokens", "output_tokens", "attempts", "outcome", "error")
CLEANED = "It is 20 metres deep [31mat low tide."


WORLD = (HARBOUR, POOLS)


@pytest.fixture(autouse=True)
def looks_always(home, monkeypatch):
    monkeypatch.setattr(stream, "DRAFT_SECONDS", 0.0)


def wordy(request):
    found = Reader(DEPTHS).found(request)
    return whole_answer(ANSWER, [found[0][1]])


def heard_at(location, name, reader):
    """Ask of a document of the world; return the answer, what was heard, and what is kept of the run and its replies."""
    heard = []
    with at_context(location) as context, subscribed(heard.append):
        of_one = replace(context, scope=Scope(documents=(document_id(name),)))
        with read_by(of_one, reader, piece_length=5) as (place, _server):
            answer = answer_at(place, QUESTION)
    run = run_of(location)
    calls = [entry for entry in run.of(EntryKind.CALL) if entry["answer_id"] == answer.answer_id]
    steps = [(step.step, step.outputs, step.error) for step in run.steps() if step.subject == answer.answer_id]
    lineage = steps, sorted(([entry[name] for name in LASTING] for entry in calls), key=str)
    kept = {path.name: path.read_bytes() for path in calls_folder().rglob("*") if path.is_file()}
    return answer, heard, (lineage, kept)


def test_the_stages_come_in_order_and_the_draft_grows_to_the_answer(location):
    answer, heard, _ = heard_at(location, "pools", Reader(DEPTHS, instead={"WholeAnswer": wordy}))
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
    assert len(drafts) > 3 and drafts[-1] == answer.answer == CLEANED
    assert all(later.startswith(earlier) for earlier, later in pairwise(drafts))
    assert followed[-1] == DraftGrown(answer.answer_id, CLEANED)


def test_rules_find_pages_and_draft_nothing(location):
    heard = []
    with at_context(location) as context, subscribed(heard.append):
        answer_at(context, QUESTION)
    assert next(event.words for event in heard if isinstance(event, Followed)).startswith("found ")
    assert not any(isinstance(event, DraftGrown) for event in heard)


def test_answer_calls_and_replies_are_the_same_with_a_draft_and_without(location, tmp_path, monkeypatch):
    reader = Reader(DEPTHS, instead={"WholeAnswer": wordy})
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "with"))
    answer, heard, left = heard_at(location, "pools", reader)
    call = ModelContext.call
    monkeypatch.setattr(ModelContext, "call", lambda *given, **more: call(*given, **{**more, "draft": ""}))
    monkeypatch.setenv("FLOWREADER_HOME", str(tmp_path / "without"))
    plain, plainly_heard, plainly_left = heard_at(location, "pools", reader)
    assert any(isinstance(event, DraftGrown) for event in heard) > any(isinstance(event, DraftGrown) for event in plainly_heard)
    assert lasting(answer) == lasting(plain) and left[0] == plainly_left[0]
    assert left[1].keys() == plainly_left[1].keys() and left[1]
    assert all(sorted(data.splitlines()) == sorted(plainly_left[1][name].splitlines()) for name, data in left[1].items())
