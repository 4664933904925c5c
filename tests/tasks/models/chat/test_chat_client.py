"""One connection to a server: its deadlines, streams that are cut or break, how much is read, and the key."""

import asyncio
import json
import random
from contextlib import aclosing

import pytest

from tasks.models import client
from tasks.models.chat.request import Request
from tasks.models.chat.stream import Completion
from tasks.models.client import ServerClient
from tasks.models.endpoints import Endpoint
from tasks.models.faults import FaultError, FaultKind
from tests.chat_server import Misbehaviour, always, chat_server
from tests.tasks.models.chat_worlds import call, listening, request_for, settings, summarise

NO_HTTP = [
    b"",
    b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nyes",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
    b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000,
]


@pytest.mark.parametrize("answer", NO_HTTP)
def test_what_is_cut_or_no_http_may_be_sent_again(answer):
    fault = asyncio.run(reply_of_bytes(answer))
    assert fault.kind == FaultKind.UNWELL and "connection" in str(fault)


SECRET = "sk-0123456789-secret"


def client_of(url, key="", **groups):
    return aclosing(ServerClient(Endpoint(url, api_key=key), settings(**groups)))


def complete(server, count=1, *, body=None, together=False, **groups):
    """Ask over one client; return the completions or the errors."""
    request = request_for(call())
    if body is not None:
        request = type(request)(json.dumps(json.loads(request.body) | body).encode(), request.input_tokens, request.output_tokens)

    async def work():
        async with client_of(server.base_url, **groups) as client:
            if together:
                return await asyncio.gather(*(client.complete(request) for _ in range(count)))
            return [await client.complete(request) for _ in range(count)]

    return asyncio.run(work())


def test_a_completion_comes_with_its_usage_streamed_or_in_one_piece():
    with chat_server(summarise) as server:
        (streamed,) = complete(server)
        (whole,) = complete(server, body={"stream": False})
    assert streamed == whole
    assert json.loads(streamed.text)["summary"] == "ti yas" and (streamed.input_tokens, streamed.output_tokens) == (1, 9)


def test_one_connection_serves_one_call_after_the_other(monkeypatch):
    monkeypatch.setattr(client, "AFTER_DONE_SECONDS", 30.0)
    with chat_server(summarise) as server:
        complete(server, 20)
        assert server.connections == 1
        complete(server, 10, together=True)
        assert server.connections == 11


@pytest.mark.parametrize(
    ("how", "first", "says", "began"),
    [
        (Misbehaviour.HANG, 0.3, "wrote no word in 0.3 s", False),
        (Misbehaviour.DRIP, 3.0, "wrote no word in 3 s", True),
        (Misbehaviour.HANG_LATER, 5.0, "or no word in 0.2 s", True),
    ],
)
def test_a_server_that_hangs_is_left_within_its_deadline(how, first, says, began):
    with (
        chat_server(summarise, misbehave=always(how), drip_seconds=0.05) as server,
        pytest.raises(FaultError, match=says) as fault,
    ):
        complete(server, deadlines={"first_token_seconds": first, "idle_seconds": 0.2, "total_seconds": 30.0})
    assert fault.value.kind == FaultKind.SILENT and (fault.value.output_tokens is not None) == began


def test_words_that_never_end_are_left_within_the_whole_deadline():
    brief = {"first_token_seconds": 5.0, "idle_seconds": 5.0, "total_seconds": 3.0}
    with (
        chat_server(lambda _request: "x" * 3000, piece_seconds=0.1, piece_length=10) as server,
        pytest.raises(FaultError, match=r"wrote for more than 3 s") as fault,
    ):
        complete(server, deadlines=brief, limits={"reply_megabytes": 100.0})
    assert fault.value.kind == FaultKind.SILENT and fault.value.output_tokens > 0


def test_slow_words_are_waited_for():
    with chat_server(lambda _request: "x" * 300, piece_seconds=0.05, piece_length=10) as server:
        (completion,) = complete(server, deadlines={"first_token_seconds": 30.0, "idle_seconds": 30.0, "total_seconds": 60.0})
    assert completion.text == "x" * 300


def test_a_reply_that_was_whole_before_the_connection_broke_is_taken():
    with chat_server(summarise, breaks_after_done=True) as server:
        assert len(complete(server, 3)) == 3
        assert server.connections == 3


@pytest.mark.parametrize(
    "event",
    ['data: {"error": "%s"}', "data: {%s", "data: [[%s", "%s", 'data: ["%s"]'],
)
@pytest.mark.parametrize("before", [70, 190, 295])
def test_the_key_does_not_stand_by_its_beginning_in_a_broken_reply(event, before):
    fault = asyncio.run(reply_of_bytes(streamed(event % ("x" * before + SECRET))))
    assert "gave a broken reply" in str(fault) and len(str(fault)) < 500
    assert not any("sk-" in f"{error!r}{error}" for error in (fault, fault.__cause__))


def test_a_stream_is_read_however_it_is_cut():
    events = (
        ': a comment\nevent: message\nid: 1\nretry: 5\ndata: {"choices": [{"delta": {"content": "Grü\u2028n"}}]}\n\n'
        'data: {"choices": [{"delta": {}, "finish_reason": "stop"}], "model": "m"}\r\n\r\n'
        'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\ndata: [DONE]\n'
    )
    for size in (1, 7, 1000):
        found = asyncio.run(reply_of_bytes(streamed(events), size))
        assert (found.text, found.finish_reason, found.model, found.input_tokens) == ("Grü\u2028n", "stop", "m", 7)


def test_mutated_streams_are_completions_or_faults():
    dice, ends = random.Random(5), []
    whole = json.dumps({"model": "m", "choices": [{"index": 0, "delta": {"content": "Grün"}, "finish_reason": "stop"}]})

    def mutated():
        spoilt = bytearray(f"data: {whole}\n\ndata: [DONE]\n\n".encode())
        for _ in range(dice.randrange(1, 4)):
            where = dice.randrange(len(spoilt))
            spoilt[where : where + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        return b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n" % len(spoilt) + spoilt

    async def serve(reader, writer):
        while await reader.readuntil(b"\r\n\r\n"):
            await reader.readexactly(2)
            writer.write(mutated())

    async def work():
        async with listening(serve) as url, client_of(url) as client:
            for _ in range(1000):
                try:
                    ends.append(await client.complete(Request(b"{}", 1, 1)))
                except FaultError as fault:
                    ends.append(fault.kind)

    asyncio.run(work())
    assert 100 < ends.count(FaultKind.UNWELL) < 900 and {type(end) for end in ends} == {FaultKind, Completion}


def test_no_more_is_read_than_a_reply_may_have():
    event = 'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % ("x" * 100_000)
    for endless in (event * 30, "x" * 3_000_000):
        found = asyncio.run(reply_of_bytes(streamed(endless)))
        assert found.problem == "it is longer than 1 MB" and len(found.text) < 1_200_000


def test_another_machine_is_asked_through_the_proxy_of_the_environment(monkeypatch):
    asked = []

    async def proxy(reader, writer):
        asked.append((await reader.readuntil(b"\r\n\r\n")).split()[:2])
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}")

    async def work():
        async with listening(proxy) as url:
            monkeypatch.setenv("http_proxy", url.removesuffix("/v1"))
            async with client_of("http://model.example/v1") as client:
                assert await client.models() == b"{}"

    asyncio.run(work())
    assert asked == [[b"GET", b"http://model.example/v1/models"]]


def test_the_key_does_not_stand_in_a_refusal():
    event = {"choices": [{"delta": {"refusal": f"not for {SECRET}"}, "finish_reason": "stop"}]}
    completion = asyncio.run(reply_of_bytes(streamed(f"data: {json.dumps(event)}\n\ndata: [DONE]\n")))
    assert completion.refusal == "not for (the key)"


def streamed(events):
    body = f"{events}\n".encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body


async def reply_of_bytes(answer, size=10**9):
    """Ask a server that answers with these bytes, so many at a time; return the completion or the fault."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        for start in range(0, len(answer), size):
            writer.write(answer[start : start + size])
            await writer.drain()

    async with listening(serve) as url, client_of(url, SECRET) as client:
        try:
            return await client.complete(Request(b"{}", 1, 1))
        except FaultError as fault:
            return fault
