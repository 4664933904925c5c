"""POST /ask/stream: how a question goes, as server-sent events, and the same answer as by the other route."""

import asyncio
import json
import time
from contextvars import copy_context

import httpx
import pytest

from flows.ask_deployed import AwaitedRequest, current_request
from flows.service import news
from flows.service.news import LatestEvents
from tasks.events import DraftGrown, StageReached, emit
from tasks.models.chat import stream
from tasks.watching.json_log import logging_to
from tests.flows.service.worlds import ASK, ASKED, client, model_reads, served, unproven, weighed


@pytest.fixture(autouse=True)
def looked_at_often(own_home, monkeypatch):
    """A reply is looked at whenever a word comes; nobody is said to wait."""
    monkeypatch.setattr(stream, "DRAFT_SECONDS", 0.0)
    monkeypatch.setattr(news, "FIRST_SECONDS", 60.0)


def events_in(text):
    """Return the names and values of the events of a stream."""
    told = [dict(line.split(": ", 1) for line in block.split("\n")) for block in text.split("\n\n") if block.startswith("event")]
    return [(event["event"], json.loads(event["data"])) for event in told]


def fleeting_apart(answer):
    lasting = {
        name: value for name, value in answer.items() if name not in ("answer_id", "thread", "asked", "usage", "cached", "link")
    }
    return lasting | {"citations": [{**cited, "link": ""} for cited in answer["citations"]]}


def test_stages_then_a_draft_then_the_answer_of_the_other_route(monkeypatch, tmp_path):
    with model_reads(monkeypatch, weighed, piece_seconds=0.015) as request, logging_to(str(tmp_path / "log")):
        reply = client().post("/ask/stream", json=request)
        (by_the_other,) = client().post(ASK, json={**request, "fresh": True}).json()["answers"]
        (again,) = events_in(client().post("/ask/stream", json=request).text)
    assert reply.status_code == 200 and reply.headers["Content-Type"].startswith("text/event-stream")
    told = events_in(reply.text)
    names = [name for name, _ in told]
    assert names == sorted(names, key=["stage", "draft", "answer"].index), "no event comes after one of a later kind"
    stages = [value for name, value in told if name == "stage"]
    assert stages[0]["words"].startswith("found ") and stages[-1] == {"words": "putting together"}
    drafts = [value["text"] for name, value in told if name == "draft"]
    assert told[-1][1]["answer"] == "It weighs 163 t without its base." and len(drafts) > 1
    assert all(told[-1][1]["answer"].startswith(draft) for draft in drafts)
    assert fleeting_apart(told[-1][1]) == fleeting_apart(by_the_other) and by_the_other["answer_by"] == "model"
    logged = (tmp_path / "log").read_text()
    assert "call-ended" in logged and not any(words in logged for words in ("163 t", "putting", "draft", "stage"))
    assert again[0] == "answer" and again[1]["cached"] and again[1]["answer"] == told[-1][1]["answer"]


def test_a_draft_that_nothing_proves_is_withdrawn_before_the_answer(monkeypatch):
    with model_reads(monkeypatch, unproven, piece_seconds=0.025) as request:
        request = {**request, "reader": "top-k", "settings": {"reading": {"by": "model", "unproven": False}}}
        told = events_in(client().post("/ask/stream", json=request).text)
    parts = [value for name, value in told if name == "stage" and "of" in value]
    assert parts and all(value["words"] == f"reading {value['done']} of 11" and value["of"] == 11 for value in parts)
    assert [name for name, _ in told[-3:]] == ["draft", "withdrawn", "answer"] and told[-2][1] == {}
    assert told[-3][1]["text"] == "It weighs 99 tonnes." and "99 tonnes" not in told[-1][1]["answer"]


def test_what_rules_find_comes_without_a_draft():
    told = events_in(client().post("/ask/stream", json=ASKED).text)
    assert {name for name, _ in told} == {"stage", "answer"} and told[-1][1]["status"] == "evidence"
    assert "took no run" in told[-1][1]["notes"][-1]


def test_an_error_of_a_question_that_was_taken_in_is_an_event():
    (told,) = events_in(client().post("/ask/stream", json={**ASKED, "corpus": "smal"}).text)
    assert told[0] == "error" and set(told[1]) == {"what", "value", "remedy"} and told[1]["value"] == "smal"


def test_who_goes_away_or_does_not_read_ends_nothing_and_a_stream_that_is_silent_stays_open(monkeypatch):
    monkeypatch.setattr("fastapi.routing._PING_INTERVAL", 0.05)
    with model_reads(monkeypatch, weighed, seconds=0.15) as request, served() as (address, service):
        with httpx.stream("POST", f"{address}/ask/stream", json=request, timeout=60) as gone:
            next(gone.iter_lines())
        with httpx.stream("POST", f"{address}/ask/stream", json={**request, "questions": ["How heavy is an MT-3?"]}) as idle:
            told = httpx.post(f"{address}/ask/stream", json={**request, "reader": "top-k"}, timeout=60).text
            assert events_in(told)[-1][0] == "answer" and ": ping" in told.split("\n")
            while service.waiting:
                time.sleep(0.02)
            assert events_in(idle.read().decode())[-1][0] == "answer"
        (kept,) = events_in(httpx.post(f"{address}/ask/stream", json=request, timeout=60).text)
        assert kept[1]["cached"]


def test_a_question_is_stopped_by_what_its_reply_names(monkeypatch):
    with model_reads(monkeypatch, weighed, seconds=30) as request, served() as (address, service):
        with httpx.stream("POST", f"{address}/ask/stream", json=request, timeout=60) as asking:
            rest = asking.iter_text()
            next(rest)
            place = address + asking.headers["Location"]
            assert httpx.delete(f"{address}/ask/stream/{'0' * 32}", timeout=60).status_code == 204 and len(service.waiting) == 1
            assert httpx.delete(place, timeout=60).status_code == 204
            name, told = events_in("".join(rest))[-1]
        assert name == "error" and told["what"].startswith("the question was stopped") and told["remedy"] == "ask it again"
        assert not service.waiting and httpx.delete(place, timeout=60).status_code == 204


def test_who_reads_slowly_gets_the_newest_and_only_of_his_own_question():
    def tell(asked, event):
        current_request.set(asked)
        emit(event)

    async def world():
        mine, another = AwaitedRequest(), AwaitedRequest()
        news = LatestEvents(mine)
        for number in range(100):
            copy_context().run(tell, mine, DraftGrown("a", "x" * number))
            copy_context().run(tell, another, DraftGrown("b", "y"))
        copy_context().run(tell, mine, StageReached("a", "putting together"))
        reading = news.follow()
        assert [await anext(reading), await anext(reading)] == [DraftGrown("a", "x" * 99), StageReached("a", "putting together")]
        mine.answers.set_result([])
        assert [event async for event in reading] == []

    asyncio.run(world())
