"""Rules judge, or a model that is asked once about each answer that may be right or wrong."""

from contextlib import contextmanager
from dataclasses import replace

import pytest

from storage.call_cache import CallCache, questions_owner
from storage.evaluation_records import Asked, BenchmarkQuestion
from storage.locations import calls_folder
from tasks.algorithms.answer_matching import MatchKind
from tasks.answer_judging import is_judgeable, judge_answers
from tasks.judge_model import open_judge
from tasks.model_settings import ModelSettings
from tasks.models.chat_errors import BudgetReachedError
from tasks.models.endpoints import ChatEndpoint
from tests.chat_server import Misbehaviour, chat_server
from tests.scripted_answers import IMPATIENT, pieces_of

OWNER = questions_owner("exam")
SYNONYMS = {"the automobile": "car"}


def question(name, *answers, **more):
    return BenchmarkQuestion(name, f"What is {name}?", ("report.pdf",), answers=answers, answerable=bool(answers), **more)


def answered(asked, text, *, status="answered", reader="flow"):
    return asked, Asked(f"key of {asked.id}", asked.id, reader, (), (), 1.0, text, status)


CAR, TRUCK, NOTHING = question("one", "car"), question("two", "truck"), question("three")
EXAM = [
    answered(CAR, "the automobile"),
    answered(TRUCK, "truck"),
    answered(CAR, "not found in these documents", status="not_found"),
    answered(NOTHING, "not found in these documents", status="not_found"),
    answered(NOTHING, "a bus"),
]


def knowing(request):
    """The rule of a server: it knows synonyms."""
    pieces = dict(pieces_of(request))
    known, told = pieces["an answer that is known to be right"], pieces["the candidate's answer"]
    return {"reason": f"{told} against {known}", "correct": SYNONYMS.get(told, told) == known}


@contextmanager
def judging(reply=knowing, settings=None, **server):
    with (
        chat_server(reply, **server) as served,
        open_judge(
            ChatEndpoint(served.base_url),
            ModelSettings.model_validate(IMPATIENT | (settings or {})),
            owner=OWNER,
            listener=lambda _call: None,
        ) as judge,
    ):
        yield judge, served


def test_rules_judge_alone_where_there_is_no_model():
    judged = judge_answers(EXAM, None)
    assert [each.correct for each in judged] == [False, True, False, True, False]
    assert [each.kind for each in judged] == [*map(MatchKind, ["wrong", "exact", "abstained", "abstained", "wrong"])]
    assert [each.question_id for each in judged] == ["one", "two", "one", "three", "three"]
    assert all(each.by == "rules" and each.calls == each.input_tokens == each.cost == 0 and each.reason == "" for each in judged)


def test_a_question_that_nobody_answered_cannot_be_judged():
    unknown = replace(CAR, answers=())
    assert is_judgeable(CAR) and is_judgeable(NOTHING) and not is_judgeable(unknown)
    with pytest.raises(ValueError, match="judge only questions whose answer is known"):
        judge_answers([answered(unknown, "car")], None)


def test_a_model_judges_what_is_an_answer_and_rules_judge_what_abstains(home):
    with judging(settings={"prices": {"input_per_million": 2.0, "output_per_million": 8.0}}) as (judge, server):
        judged = judge_answers(EXAM, judge)
        usage = judge.model.usage()["judge_answer"]
    assert server.calls == 2
    assert [(each.correct, each.by) for each in judged] == [
        (True, "scripted"),
        (True, "scripted"),
        (False, "rules"),
        (True, "rules"),
        (False, "rules"),
    ]
    assert judged[0].kind is MatchKind.WRONG and judged[0].reason == "the automobile against car"
    assert sum(each.calls for each in judged) == usage.calls == 2
    assert sum(each.input_tokens for each in judged) == usage.input_tokens > 0
    assert sum(each.output_tokens for each in judged) == usage.output_tokens > 0
    assert sum(each.cost for each in judged) == pytest.approx(usage.cost) and usage.cost > 0


def test_all_answers_are_asked_about_together(home):
    exam = [answered(question(f"q{number}", "car"), "the automobile") for number in range(20)]
    with judging(seconds=0.1, settings={"limits": {"in_flight": 8}}) as (judge, server):
        assert all(each.correct for each in judge_answers(exam, judge))
        assert server.most_at_once == 8 and server.calls == 20


def test_what_was_judged_is_not_paid_again_until_the_corpus_is_asked_to_forget(home):
    with judging() as (judge, server):
        first = judge_answers(EXAM, judge)
        again = judge_answers([answered(CAR, "the automobile", reader="top-k"), *EXAM[1:]], judge)
        assert server.calls == 2
        assert [(each.correct, each.by, each.reason) for each in again] == [(each.correct, each.by, each.reason) for each in first]
        assert all(each.calls == each.input_tokens == each.output_tokens == each.cost == 0 for each in again)
        CallCache(calls_folder()).forget(OWNER)
        judge_answers(EXAM, judge)
        assert server.calls == 4


def test_equal_answers_of_a_batch_are_asked_about_once(home):
    with judging() as (judge, server):
        judged = judge_answers([answered(CAR, "the automobile", reader=name) for name in ("flow", "top-k")], judge)
    assert server.calls == 1 and [each.calls for each in judged] == [1, 0]
    assert [(each.correct, each.by) for each in judged] == [(True, "scripted")] * 2
    assert judged[1].input_tokens == 0 < judged[0].input_tokens


def test_where_the_model_fails_the_rules_have_the_word_and_the_reason_says_so(home):
    def misbehave(request):
        return Misbehaviour.WRONG_SCHEMA if "What is two?" in request.text else None

    with judging(misbehave=misbehave) as (judge, _):
        judged = judge_answers([*EXAM, EXAM[1]], judge)
    assert [each.by for each in judged] == ["scripted", *["rules"] * 5]
    assert (judged[1].correct, judged[1].kind) == (True, MatchKind.EXACT)
    assert "judged by rules, because the model did not help with answer 2, of flow to question 'two'" in judged[1].reason
    assert judged[1].calls == 1 and judged[1].input_tokens > 0 == judged[5].input_tokens and judged[5].reason == judged[1].reason


def test_a_budget_ends_it_and_what_is_judged_stays(home):
    exam = [answered(question(f"q{number}", "car"), "the automobile") for number in range(6)]
    with judging(settings={"budget": {"calls": 4}}) as (judge, _), pytest.raises(BudgetReachedError):
        judge_answers(exam, judge)
    with judging() as (judge, server):
        assert all(each.correct for each in judge_answers(exam, judge))
    assert server.calls == 2
