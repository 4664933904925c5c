"""The front door: what comes in is checked and counted, and every refusal says what, the value and the remedy."""

import asyncio
import json
import socket
import time
from contextlib import aclosing
from types import SimpleNamespace
from uuid import uuid4

import httpx
import pytest
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import Abort, PrefectHTTPStatusError
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from starlette.testclient import TestClient

from flows.ask import ask
from flows.ask_deployed import ask_pages, current_request, find_still_shown
from flows.service.app import web_app
from flows.service.intake import AT_A_TIME, Intake, PagesToMake
from tasks.asking.request import AskRequest
from tasks.events import QuestionRefused, QueueSeen, RefusalReason, subscribe
from tasks.views.errors import RefusedError
from tasks.watching.json_log import logging_to
from tests.flows.service.worlds import ASK, ASKED, client, error, intake
from tests.hung_corpus import HungCorpus

WAYS = (ASK, "/ask/stream")
QUESTION = {"json": {"questions": ["How deep is the xylophone?"]}}


@pytest.mark.parametrize(
    ("path", "asked", "service", "reason", "status"),
    [
        *((path, QUESTION, {"room": 0}, "full", 503) for path in WAYS),
        *((path, QUESTION, {"host": "evil.example"}, "host", 400) for path in WAYS),
        *((path, {"json": {**QUESTION["json"], "colour": "xylophone"}}, {}, "request", 400) for path in WAYS),
        *((path, {"content": b"xylophone"}, {}, "request", 400) for path in WAYS),
        ("/ask/stream", {"json": {"questions": ["Xylophone?", "How deep?"]}}, {}, "request", 400),
        (ASK, QUESTION, {}, "request", 404),
    ],
)
def test_each_refusal_is_an_event_with_its_reason_and_without_a_word(home, tmp_path, path, asked, service, reason, status):
    happened, log = [], tmp_path / "log"
    with logging_to(str(log)), subscribe(happened.append):
        reply = client(**service).post(path, **asked)
        client(**service).get("/answers/00000000/report?corpus=small")
    assert error(reply, status)["remedy"] and reply.headers.get("Retry-After") == ("5" if reason == "full" else None)
    assert [each for each in happened if not isinstance(each, QueueSeen)] == [QuestionRefused(RefusalReason(reason))]
    (line,) = log.read_text().splitlines()
    assert json.loads(line) == {**json.loads(line), "level": "warning", "event": "question-refused", "reason": reason}
    assert "xylophone" not in line and set(json.loads(line)) == {"time", "level", "event", "reason", "requests"}


def test_without_a_prefect_server_a_question_is_answered_all_the_same_with_a_note(own_home, capsys):
    door = client()
    (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    assert answer["status"] == "evidence"
    assert "server at http://127.0.0.1:1/api/ took no run (ConnectError)" in answer["notes"][-1]
    assert answer["notes"][-1] in capsys.readouterr().out and door.get("/health").json()["waiting"] == 0
    assert door.get(f"/answers/{answer['answer_id']}/report?corpus=small").status_code == 200


def test_a_server_that_hangs_keeps_a_question_waiting_for_seconds_only(own_home, monkeypatch):
    monkeypatch.setattr("flows.service.intake.BEGIN_SECONDS", 0.3)
    with socket.create_server(("127.0.0.1", 0)) as hung:
        door = TestClient(web_app(intake(1, f"http://127.0.0.1:{hung.getsockname()[1]}/api")), base_url="http://localhost")
        (answer,) = door.post(ASK, json=ASKED).json()["answers"]
    assert "did not let its run begin" in answer["notes"][-1] and door.get("/health").json() == {"waiting": 0, "room": 1}


def test_a_model_that_hangs_keeps_a_question_waiting_for_its_seconds_only(own_home, monkeypatch):
    by_model = {"settings": {"seconds": 1.0, "reading": {"by": "model"}}, "fresh": True}
    with socket.create_server(("127.0.0.1", 0)) as hung:
        monkeypatch.setenv("FLOWREADER_CHAT_BASE_URL", f"http://127.0.0.1:{hung.getsockname()[1]}/v1")
        began = time.monotonic()
        (answer,) = client().post(ASK, json=ASKED | by_model).json()["answers"]
        said = error(client().post(ASK, json=ASKED | by_model | {"require_model": True}), 503)
        assert time.monotonic() - began < 2 * (1 + 5)
    assert answer["status"] == "evidence" and "because the model could not be asked: no chat server" in answer["notes"][0]
    assert "did not list its models" in said["what"]


def test_a_client_that_is_gone_loses_no_answer_and_a_service_that_ends_leaves_nobody_waiting(own_home):
    async def world():
        service, heard = intake(), []
        request = AskRequest.model_validate(ASKED)
        with subscribe(heard.append):
            leaving = asyncio.create_task(service.ask(request))
            await asyncio.sleep(0)
            leaving.cancel()
            while service.waiting:
                await asyncio.sleep(0.01)
        assert [each for each in heard if isinstance(each, QueueSeen)] == [QueueSeen(1), QueueSeen(0)]
        ((corpus, _name, ids, _run),) = service.unmade
        assert find_still_shown(corpus, ids)[0].citations
        staying = [asyncio.create_task(service.ask(request)) for _ in range(2)]
        await asyncio.sleep(0)
        await asyncio.wait_for(service.runs.end(), 30)
        for each in staying:
            with pytest.raises(RefusedError, match="the service is shutting down"):
                await each
        with pytest.raises(RefusedError, match="takes no more questions"):
            await service.ask(request)

    asyncio.run(world())


def test_a_question_that_is_stopped_before_its_first_step_is_an_error_in_words(own_home):
    async def world():
        service = intake()
        asking = asyncio.create_task(service.ask(AskRequest.model_validate(ASKED)))
        await asyncio.sleep(0)
        for task in service.runs.tasks:
            task.cancel()
        with pytest.raises(RefusedError, match="the service is shutting down"):
            await asyncio.wait_for(asking, 30)

    asyncio.run(world())


def test_answers_in_a_row_have_their_pages_made_one_after_another(home, monkeypatch):
    made = []

    async def page_of(one):
        made.append(one.name)

    async def world():
        service = intake()
        monkeypatch.setattr(service, "_make_pages", page_of)
        service.unmade.extend(PagesToMake("small", name, [], None) for name in ("How deep?", "How high?"))
        service.answered.set()
        making = asyncio.create_task(service.make_pages())
        while service.unmade:
            await asyncio.sleep(0.01)
        making.cancel()
        assert made == ["How deep?", "How high?"]

    monkeypatch.setattr("flows.service.intake.QUIET_SECONDS", 0.0)
    asyncio.run(world())


def test_a_run_that_the_server_makes_after_the_question_was_answered_without_it_is_settled(own_home, monkeypatch):
    monkeypatch.setattr("flows.service.intake.BEGIN_SECONDS", 0.1)
    service, run, made, settled = intake(), uuid4(), asyncio.Event(), []

    async def create(*_given, **_more):
        await made.wait()
        return SimpleNamespace(id=run)

    monkeypatch.setattr(service.runs, "create_run", create)
    monkeypatch.setattr(service.runs, "settle", lambda *ended: settled.append(ended))

    async def world():
        (answer,) = await service.ask(AskRequest.model_validate(ASKED))
        assert "did not let its run begin" in answer["notes"][-1] and not settled and len(service.unmade) == 1
        made.set()
        while service.runs.tasks:
            await asyncio.sleep(0.01)
        ((of, state),) = settled
        assert of == run and state.is_cancelled() and state.message.startswith("answered without Prefect")
        assert len(service.unmade) == 1, "its pages are made once"

    asyncio.run(world())


class SlowServer:
    """Stands for the runs of the service at a server that lets one begin after so many seconds; `asked` counts what it was sent."""

    def __init__(self, seconds):
        self.seconds, self.asked, self.ending, self.prefect = seconds, 0, False, SimpleNamespace(api_url="http://slow")

    def begin(self, work):
        return asyncio.get_running_loop().create_task(work)

    async def create_run(self, *_given, **_more):
        self.asked += 1
        await asyncio.sleep(self.seconds)
        return SimpleNamespace(id=uuid4())

    async def run(self, _flow, _run, _parameters, asked):
        asked.begun.set_result(None)
        asked.answers.set_result([{"notes": []}])


def notes_of_asking(server, monkeypatch, *, patience, together):
    """Ask so many questions at once; return the notes of each answer."""

    async def without_prefect(_request):
        current_request.get().answers.set_result([{"notes": []}])

    async def world():
        service = Intake(server, uuid4(), together)
        return await asyncio.gather(*(service.ask(AskRequest(questions=(f"{number}?",))) for number in range(together)))

    monkeypatch.setattr("flows.service.intake.BEGIN_SECONDS", patience)
    monkeypatch.setattr("flows.service.intake.answer_all", without_prefect)
    return [answer["notes"] for (answer,) in asyncio.run(world())]


def test_a_question_is_waited_for_as_long_as_others_begin(monkeypatch):
    assert notes_of_asking(SlowServer(0.5), monkeypatch, patience=2.0, together=12) == [[]] * 12


def test_a_server_that_hangs_is_asked_by_two_questions_and_keeps_none_of_the_others_waiting_longer(monkeypatch):
    server, began = SlowServer(3600), time.monotonic()
    notes = notes_of_asking(server, monkeypatch, patience=0.5, together=64)
    assert all("did not let its run begin" in note for (note,) in notes)
    assert server.asked == AT_A_TIME and time.monotonic() - began < 15


def test_what_the_server_refuses_for_good_is_not_sent_again(own_home, monkeypatch):
    refused, sent = httpx.Response(422, request=httpx.Request("POST", "http://127.0.0.1:1/api")), []

    async def create(*_given, **_more):
        sent.append(1)
        raise PrefectHTTPStatusError("no", request=refused.request, response=refused)

    service = intake()
    monkeypatch.setattr(service.runs, "create_run", create)
    (answer,) = asyncio.run(service.ask(AskRequest.model_validate(ASKED)))
    assert sent == [1] and "took no run (PrefectHTTPStatusError)" in answer["notes"][-1]


def test_a_run_that_cannot_begin_is_settled_in_words_and_none_ends_what_waits_for_it(home, monkeypatch):
    async def aborted(*_given, **_more):
        raise Abort("the server said so")

    async def world():
        service, run, settled = intake(), FlowRun(flow_id=uuid4()), []
        monkeypatch.setattr(service.runs, "settle", lambda _run, state: settled.append((state.name, state.message)))
        with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
            await service.answer_run(run)
        monkeypatch.setattr("flows.service.runs_here.run_flow_async", aborted)
        assert await service.runs.run(ask_pages, run, {}) is None
        return settled

    (unlabelled, after_abort) = asyncio.run(world())
    assert unlabelled[0] == "Crashed" and "could not begin this run: ConnectError" in unlabelled[1]
    assert after_abort == ("Crashed", "Abort: the server said so")


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ({"questions": []}, "questions: "),
        ({"questions": ["a"], "reader": "magic"}, "reader: "),
        ({"questions": ["a"], "colour": 3}, "colour: "),
        ([], "the request: "),
        ({"questions": ["How deep?"] * 65}, "too many questions"),
    ],
)
def test_a_wrong_request_is_refused_by_its_field(body, what):
    assert error(client().post(ASK, json=body), 400)["what"].startswith(what)


def test_a_corpus_whose_disk_hangs_keeps_nobody_else_waiting(own_home):
    seats, disk = asyncio.Semaphore(1), HungCorpus("far")

    async def asked(corpus):
        request = AskRequest(questions=("What is the weight of an MT-3 without its base?",), corpus=corpus)
        async with aclosing(ask(request, lambda: seats)) as answers:
            return [answer async for answer in answers]

    async def world():
        far = [asyncio.create_task(asked("far")) for _ in range(3)]
        for _each in far:
            await asyncio.wait_for(disk.asked(), 30)
        near = asyncio.create_task(asked("small"))
        door = httpx.ASGITransport(web_app(intake()))
        async with httpx.AsyncClient(transport=door, base_url="http://localhost") as web:
            health = await asyncio.wait_for(web.get("/health"), 20)
        (answer,) = await asyncio.wait_for(near, 30)
        assert health.status_code == 200 and answer.citations and not any(each.done() for each in far)
        for each in far:
            each.cancel()
        disk.end()

    asyncio.run(world())
