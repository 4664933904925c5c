"""The calls of a question are counted before they are made, stage by stage, and heard wherever they end."""

import asyncio

import pytest

from tasks.asking.calls import CallBook, CallBoundError, Stage, call_bounds, counting_calls, record_call
from tasks.models.chat.call import ModelCall
from tasks.models.chat.errors import Outcome
from tasks.settings.ask import AskSettings
from tests.asking_worlds import Passage, at_context, published, run_of, written
from tests.scripted_answers import model_settings


def ended(purpose="worker", attempts=1, outcome=Outcome.OK, prompt_hash="h"):
    return ModelCall(purpose, "", "path 1", "m", prompt_hash, "", 7, 3, 0.5, 0.1, attempts, outcome, "")


def test_the_defaults_are_21_calls_25_more_and_one_and_the_paper_asks_for_keywords_besides():
    bounds = call_bounds(model_settings(), gated=True)
    assert [bounds[stage] for stage in Stage] == [21, 25, 1] and sum(bounds.values()) == 47
    assert [call_bounds(model_settings(keywords=True), gated=True)[stage] for stage in Stage] == [22, 25, 1]


def test_rules_make_no_call_and_the_baseline_compares_and_refines_nothing():
    assert set(call_bounds(AskSettings(), gated=True).values()) == {0}
    assert [call_bounds(model_settings(), gated=False)[stage] for stage in Stage] == [11, 0, 1]
    assert call_bounds(model_settings(gate={"enabled": False}), gated=True)[Stage.REFINED] == 0


def test_the_bounds_follow_the_settings():
    settings = model_settings(selection={"read": 3}, reading={"model": {"compared_pairs": 2, "rating_calls": 2}})
    assert [call_bounds(settings, gated=True)[stage] for stage in Stage] == [5, 7, 1]


def test_a_call_too_many_is_refused_before_it_is_made_and_nothing_is_handed_on():
    book = CallBook("a", {Stage.FIRST: 3, Stage.REFINED: 2, Stage.LAST: 1})
    book.count(["keywords"])
    book.count(["path 1", "path 2"])
    book.count(["path 1", "path 2"])
    with pytest.raises(CallBoundError, match="4 calls in the first stage of a question, 3 are allowed"):
        book.count(["path 3"])
    book.stage = Stage.REFINED
    book.count(["path 1", "path 2"])
    with pytest.raises(CallBoundError, match="refined"):
        book.count(["path 3"])
    book.stage = Stage.LAST
    book.count(["answer"])


def test_two_questions_at_once_have_a_book_each(tmp_path):
    with at_context(published(tmp_path, written("report", Passage("the tide")))) as context:

        async def question(name, calls):
            with counting_calls(name, {}) as book:
                for _ in range(calls):
                    await asyncio.sleep(0)
                    await asyncio.to_thread(record_call, ended())
                return book

        async def both():
            return await asyncio.gather(question("one", 2), question("two", 3))

        one, two = asyncio.run(both())
        assert (len(one.made), len(two.made)) == (2, 3)
        entries = [entry for entry in run_of(context.snapshot.location).entries if entry["kind"] == "call"]
    assert sorted(entry["answer_id"] for entry in entries) == ["one"] * 2 + ["two"] * 3
    assert entries[0]["prompt_hash"] == "h" and entries[0]["input_tokens"] == 7 and entries[0]["outcome"] == "ok"
