"""Answers are judged twenty to a step, by rules or by a model behind a real socket, whose verdicts are paid once."""

from contextlib import contextmanager

import pytest

from storage.call_cache import CallCache, questions_owner
from storage.evaluation_records import BenchmarkQuestion
from storage.locations import calls_folder
from storage.runs import EntryKind
from storage.snapshot import open_for_reading
from tasks.ask_settings import AllSettings
from tasks.evaluation_request import EvaluationRequest
from tasks.exam_judging import judge_batch, judging_key, opened_judge
from tasks.models.chat_errors import ChatServerDownError
from tasks.models.endpoints import EndpointError
from tasks.step import workplace
from tests.asking_worlds import Passage, at_work, published, run_of, written
from tests.chat_server import chat_server
from tests.exams import answered
from tests.scripted_answers import IMPATIENT, pieces_of

CORPUS_NAME = "exam"
CAR = BenchmarkQuestion("car", "What drives?", ("tides.pdf",), answers=("a car",))
BUS = BenchmarkQuestion("bus", "What stops?", ("tides.pdf",), answers=("a bus",))
NOTHING = BenchmarkQuestion("nothing", "What flies?", ("tides.pdf",), answerable=False)
BATCH = [
    (CAR, answered(CAR, answer="an automobile")),
    (BUS, answered(BUS, answer="a bus")),
    (NOTHING, answered(NOTHING, answer="not found in these documents", status="not_found")),
]
BY_MODEL = {"what": "answers", "judge": "strict"}


def generous(request):
    told = dict(pieces_of(request))["the candidate's answer"]
    return {"reason": f"{told} will do", "correct": True}


@pytest.fixture
def location(tmp_path, home):
    return published(tmp_path, written("tides", Passage("The tide turns.")))


@pytest.fixture
def server(monkeypatch):
    with chat_server(generous, model="strict", models=("scripted", "strict")) as served:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", served.base_url)
        monkeypatch.setenv("FLOWREADER_CHAT_MODEL", "scripted")
        yield served


@contextmanager
def judging(location, *, models=IMPATIENT, **asked):
    """Give who judges, within a run."""
    request = EvaluationRequest(settings=AllSettings.model_validate({"ask": {"models": models}}), **asked)
    with (
        open_for_reading(location) as snapshot,
        at_work(location, snapshot),
        opened_judge(request, CORPUS_NAME, workplace.get()) as judge,
    ):
        yield judge


def test_without_a_model_rules_judge_and_no_server_is_needed(location, monkeypatch):
    monkeypatch.delenv("FLOWREADER_CHAT_BASE_URL", raising=False)
    with judging(location, what="answers") as judge:
        assert judge is None
        judged = judge_batch(BATCH, judge)
    assert [(one.question_id, one.correct, one.by) for one in judged] == [
        ("car", False, "rules"),
        ("bus", True, "rules"),
        ("nothing", True, "rules"),
    ]


@pytest.mark.parametrize("what", ["retrieval", "ablations", "probe"])
def test_where_no_answers_are_judged_no_model_is_looked_for(location, monkeypatch, what):
    monkeypatch.delenv("FLOWREADER_CHAT_BASE_URL", raising=False)
    with judging(location, what=what, judge="strict") as judge:
        assert judge is None


def test_a_judge_that_is_served_nowhere_is_said_before_anything_is_judged(location, monkeypatch):
    monkeypatch.delenv("FLOWREADER_CHAT_BASE_URL", raising=False)
    with pytest.raises(EndpointError, match="'strict' is to judge"), judging(location, **BY_MODEL):
        pass
    monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(ChatServerDownError), judging(location, **BY_MODEL):
        pass


def test_the_model_named_judges_in_the_order_of_the_answers(location, server):
    with judging(location, **BY_MODEL) as judge:
        judged = judge_batch(BATCH, judge)
    assert [(one.question_id, one.correct, one.by) for one in judged] == [
        ("car", True, "strict"),
        ("bus", True, "strict"),
        ("nothing", True, "rules"),
    ]
    assert judged[0].reason == "an automobile will do"
    assert server.calls == 2 and {request.body["model"] for request in server.requests} == {"strict"}


def test_a_verdict_costs_nothing_the_second_time_and_goes_with_the_corpus(location, server):
    with judging(location, **BY_MODEL) as judge:
        first = judge_batch(BATCH, judge)
    with judging(location, **BY_MODEL) as judge:
        again = judge_batch(BATCH, judge)
    assert server.calls == 2 and sum(one.calls for one in first) == 2
    assert [(one.correct, one.by, one.reason) for one in again] == [(one.correct, one.by, one.reason) for one in first]
    assert all(one.calls == one.input_tokens == one.output_tokens == one.cost == 0 for one in again)
    assert CallCache(calls_folder()).subjects() == [questions_owner(CORPUS_NAME)]
    CallCache(calls_folder()).forget(questions_owner(CORPUS_NAME))
    with judging(location, **BY_MODEL) as judge:
        assert sum(one.calls for one in judge_batch(BATCH, judge)) == 2


def test_an_answer_that_changed_is_judged_anew_and_the_others_are_not(location, server):
    with judging(location, **BY_MODEL) as judge:
        judge_batch(BATCH, judge)
        judge_batch([(CAR, answered(CAR, answer="a lorry")), *BATCH[1:]], judge)
    assert server.calls == 3


def test_batches_and_calls_are_in_the_lineage(location, server):
    with judging(location, **BY_MODEL) as judge:
        judge_batch(BATCH, judge)
    run = run_of(location)
    (record,) = [step for step in run.steps() if step.step == "judge-answers"]
    assert record.outputs["judged"] and not record.error
    calls = [entry for entry in run.entries if entry["kind"] == EntryKind.CALL]
    assert [(call["purpose"], call["model"]) for call in calls] == [("judge_answer", "strict")] * 2


def test_a_step_is_named_by_what_was_answered_and_by_who_judges(location, server):
    with judging(location, **BY_MODEL) as judge:
        by_model = judging_key(BATCH, judge)
        again = judging_key(BATCH, judge)
        other = judging_key([(CAR, answered(CAR, key="f" * 64)), *BATCH[1:]], judge)
    by_rules = judging_key(BATCH, None)
    assert by_model == again
    assert len({by_model.inputs, other.inputs, by_rules.inputs}) == 3
    assert (by_model.name, by_rules.name) == ("car and 2 more by strict", "car and 2 more by rules")


def test_verdicts_are_paid_at_the_prices_of_the_settings(location, server):
    with judging(location, models=IMPATIENT | {"prices": {"input_per_million": 2.0}}, **BY_MODEL) as judge:
        judged = judge_batch(BATCH, judge)
    assert [one.cost > 0 for one in judged] == [True, True, False]
    assert judged[0].cost == pytest.approx(judged[0].input_tokens * 2.0 / 1_000_000)
