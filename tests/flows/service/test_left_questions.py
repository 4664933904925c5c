"""A question whose client is gone: it goes on behind what somebody waits for, and ends where it costs too much."""

import asyncio
import json
import socket
from contextlib import closing
from urllib.parse import urlsplit

import httpx
import pytest

from flows import ask_deployed
from flows.ask_deployed import AwaitedRequest, answer_all, current_request
from flows.service import resident
from flows.service.resident import PromptHead
from tasks.asking.request import AskRequest
from tests.flows.service.worlds import ASK, ASKED, client, error, model_reads, served, weighed
from tests.waiting import wait_until

REQUEST = AskRequest(**ASKED)


pytestmark = pytest.mark.usefixtures("own_home")


def connected(address):
    host = urlsplit(address)
    return socket.create_connection((host.hostname, host.port))


def sent(address, path, body, kind="application/json"):
    """Send a request, and return its connection without waiting for the reply."""
    connection = connected(address)
    head = f"POST {path} HTTP/1.1\r\nHost: {urlsplit(address).netloc}\r\nContent-Type: {kind}\r\nContent-Length: {len(body)}"
    accepts = "Accept: application/json, text/event-stream\r\nMCP-Protocol-Version: 2025-06-18"
    connection.sendall(f"{head}\r\n{accepts}\r\n\r\n".encode() + body)
    return connection


def by_rest(request):
    return ASK, json.dumps(request).encode()


def by_stream(request):
    return "/ask/stream", json.dumps(request).encode()


def by_openai(request, *, stream=False):
    asked = {"role": "user", "content": request["questions"][0]}
    more = {"stream": stream, "flowreader": {"settings": request["settings"]}}
    return "/v1/chat/completions", json.dumps({"model": request["corpus"], "messages": [asked]} | more).encode()


def by_openai_stream(request):
    return by_openai(request, stream=True)


def by_form(request):
    return "/", f"corpus=small&by=model&question={request['questions'][0]}".encode(), "application/x-www-form-urlencoded"


@pytest.mark.parametrize("asked", [by_rest, by_stream, by_openai, by_openai_stream, by_form])
def test_whatever_way_it_came_it_is_left_once_its_client_is_gone_and_its_answer_is_kept(monkeypatch, asked):
    with model_reads(monkeypatch, weighed, seconds=0.3) as request, served() as (address, service):
        with closing(sent(address, *asked(request))):
            (question,) = wait_until(lambda: list(service.waiting.values()))
            wait_until(lambda: question.waiting)
            assert not question.is_left
        wait_until(lambda: question.is_left or question.answers.done())
        wait_until(lambda: not service.waiting)
        assert question.nobody_waits and question.given[0].answer_by == "model"


def test_it_waits_for_all_that_somebody_waits_for_and_has_no_seat_meanwhile():
    async def world():
        others = []
        left, wanted = (
            AwaitedRequest(REQUEST, others),
            AwaitedRequest(REQUEST.model_copy(update={"questions": ("How deep is it?",)}), others),
        )
        others += [left, wanted]
        with left.count_waiter():
            assert not left.is_left
        current_request.set(left)
        async with wanted.seat():
            with wanted.count_waiter():
                answering = asyncio.ensure_future(answer_all(REQUEST))
                async with asyncio.timeout(60):
                    while not left.at_work or left.seated:
                        await asyncio.sleep(0.01)
                await asyncio.sleep(3 * ask_deployed.LOOK_SECONDS)
                assert not left.given and not left.seated
            (answer,) = await answering
        assert answer["citations"] and not left.seated

    asyncio.run(world())


def test_a_step_that_waits_for_its_turn_takes_no_seat_from_a_question_that_ended_meanwhile():
    async def world():
        others, free = [], ask_deployed.seats._value
        left, wanted = AwaitedRequest(REQUEST, others), AwaitedRequest(REQUEST.model_copy(update={"corpus": "far"}), others)
        others += [left, wanted]
        with left.count_waiter():
            pass
        with wanted.count_waiter():
            async with wanted.seat(), left.seat():
                step = asyncio.ensure_future(left.wait_for_turn())
                async with asyncio.timeout(60):
                    while left.seated:
                        await asyncio.sleep(0.01)
                taken = [await ask_deployed.seats.acquire() for _ in range(ask_deployed.seats._value)]
        while not left.moving.locked():
            await asyncio.sleep(0.01)
        for _each in taken:
            ask_deployed.seats.release()
        await step
        assert ask_deployed.seats._value == free

    asyncio.run(world())


def test_it_is_not_left_where_somebody_asks_the_same():
    async def world():
        others = []
        first, second = AwaitedRequest(REQUEST, others), AwaitedRequest(REQUEST.model_copy(), others)
        others += [first, second]
        with second.count_waiter():
            with first.count_waiter():
                pass
            assert not first.is_left
        assert first.is_left

    asyncio.run(world())


def test_it_ends_after_so_much_work(monkeypatch):
    monkeypatch.setattr(ask_deployed, "UNWANTED_SECONDS", 0.3)
    with model_reads(monkeypatch, weighed, seconds=60) as request, served() as (address, service):
        with closing(sent(address, *by_rest(request))):
            (question,) = wait_until(lambda: list(service.waiting.values()))
            wait_until(lambda: question.waiting)
        wait_until(lambda: not service.waiting, seconds=30)
        assert "stopped" in str(question.answers.exception())


def test_it_ends_where_its_room_is_needed(monkeypatch):
    with model_reads(monkeypatch, weighed, seconds=60) as request, served(room=1) as (address, service):
        by_rules = {"questions": ["How heavy is an MT-3?"], "corpus": "small", "settings": {"reading": {"by": "rules"}}}
        with closing(sent(address, *by_stream(request))):
            (question,) = wait_until(lambda: list(service.waiting.values()))
            wait_until(lambda: question.waiting)
            assert "full" in error(httpx.post(f"{address}{ASK}", json=by_rules, timeout=60), 503)["what"]
        wait_until(lambda: question.is_left)
        (answer,) = httpx.post(f"{address}{ASK}", json=by_rules, timeout=60).json()["answers"]
        assert answer["citations"] and "stopped" in str(question.answers.exception())


def test_a_search_takes_the_place_of_a_question():
    path = "/api/v1/corpora/small/search?query=weight"
    full = client(room=0).get(path)
    assert "full" in error(full, 503)["what"] and full.headers["Retry-After"] == "5"
    door = client(room=1)
    assert door.get(path).json()["passages"] and door.get(path).json()["passages"]
    assert door.get("/health").json() == {"waiting": 0, "room": 1}


@pytest.mark.torture
def test_a_connection_whose_request_does_not_come_is_ended_and_one_that_waits_for_its_answer_is_not(monkeypatch):
    monkeypatch.setattr(resident, "HEAD_SECONDS", 0.3)
    with model_reads(monkeypatch, weighed, seconds=0.5) as request, served(http=PromptHead) as (address, _service):
        with closing(connected(address)) as silent, closing(connected(address)) as half, closing(connected(address)) as second:
            half.sendall(b"GET /health HTTP/1.1\r\nHost: loc")
            second.sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\nGET /health")
            for connection in (silent, half, second):
                connection.settimeout(30)
            said = b"".join(iter(lambda: second.recv(4096), b""))
            assert silent.recv(1) == half.recv(1) == b"" and said.count(b'{"waiting":0,"room":8}') == 1
        (answer,) = httpx.post(f"{address}{ASK}", json=request, timeout=60).json()["answers"]
        assert answer["answer_by"] == "model"
