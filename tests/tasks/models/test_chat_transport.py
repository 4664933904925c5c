import asyncio
import json
import socket
import ssl
from contextlib import asynccontextmanager

import pytest

from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_request import Request, first_messages, request_of
from tasks.models.chat_transport import ChatTransport, Connection, ConnectionBrokenError, ConnectionFailedError
from tasks.models.endpoints import ChatEndpoint
from tests.chat_server import Misbehaviour, always, chat_server
from tests.tasks.models.certificates import self_signed
from tests.tasks.models.chat_worlds import call, listening, settings, summarise


@asynccontextmanager
async def answering(*answers):
    """A server that answers each request with the next bytes, and closes at None; gives its address and what it was sent."""
    heard, left = [], list(answers)

    async def serve(reader, writer):
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0])
            heard.append(head + await reader.readexactly(length))
            if left[0] is not None:
                writer.write(left.pop(0))
            if left[:1] == [None]:
                break

    async with listening(serve) as url:
        yield url, heard


async def exchange(connection, url, body=b"{}"):
    head = await connection.send("POST", f"{url}/chat", {"Authorization": "Bearer x"}, body)
    return head.status, head.headers, b"".join([piece async for piece in connection.body()])


WHOLE = b"HTTP/1.1 200 OK\r\nContent-Type: a/b\r\nContent-Length: 3\r\n\r\nyes"
CHUNKED = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nye\r\n1\r\ns\r\n0\r\n\r\n"


def test_a_connection_serves_one_request_after_the_other():
    async def work():
        async with answering(
            WHOLE, b"HTTP/1.1 100 Continue\r\n\r\n" + CHUNKED, b"HTTP/1.1 404 No\r\nContent-Length: 0\r\n\r\n"
        ) as (url, heard):
            connection = await Connection.open(url, seconds=5)
            found = [await exchange(connection, url, b"x" * size) for size in (0, 5, 10**6)]
            assert connection.reusable
            connection.close()
            return found, heard

    found, heard = asyncio.run(work())
    assert [(status, body) for status, _, body in found] == [(200, b"yes"), (200, b"yes"), (404, b"")]
    assert found[0][1]["content-type"] == "a/b"
    assert heard[0].startswith(b"POST /v1/chat HTTP/1.1\r\nHost: 127.0.0.1:") and b"Authorization: Bearer x\r\n" in heard[0]
    assert [len(sent.partition(b"\r\n\r\n")[2]) for sent in heard] == [0, 5, 10**6]


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (None, "closed the connection without an answer|broke the connection"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nyes", "broke the connection"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "broke the connection"),
        (b"SSH-2.0-OpenSSH_9.6\r\n\r\n", "broke the connection"),
        (b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000, "broke the connection"),
    ],
)
def test_what_is_cut_or_no_http_is_said(answer, says):
    async def work():
        async with answering(answer, None) as (url, _):
            connection = await Connection.open(url, seconds=5)
            with pytest.raises(ConnectionBrokenError, match=says):
                await exchange(connection, url)
                await exchange(connection, url)
            assert not connection.reusable
            connection.close()

    asyncio.run(work())


def test_a_connection_that_the_server_gives_up_is_not_used_again():
    async def work():
        async with answering(WHOLE.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n"), WHOLE, None) as (url, _):
            for _ in range(2):
                connection = await Connection.open(url, seconds=5)
                assert (await exchange(connection, url))[2] == b"yes"
                if connection.reusable:
                    with pytest.raises(ConnectionBrokenError):
                        await exchange(connection, url)
                assert not connection.reusable
                connection.close()

    asyncio.run(work())


def test_an_answer_that_is_half_read_spoils_the_connection():
    async def work():
        async with answering(CHUNKED) as (url, _):
            connection = await Connection.open(url, seconds=5)
            await connection.send("POST", f"{url}/chat", {}, b"")
            assert not connection.reusable
            connection.close()

    asyncio.run(work())


def test_nobody_there_and_nobody_answering_are_told_apart_from_the_rest():
    async def refused():
        with socket.socket() as closed:
            closed.bind(("127.0.0.1", 0))
            with pytest.raises(ConnectionFailedError, match=r"takes no connection \(.*[Rr]efused|Connect call failed"):
                await Connection.open(f"http://127.0.0.1:{closed.getsockname()[1]}/v1", seconds=5)

    async def unanswered():
        async with answering() as (url, _):
            # The server never answers the greeting of TLS.
            with pytest.raises(ConnectionFailedError, match=r"takes no connection in 0\.2 s"):
                await Connection.open(url.replace("http:", "https:"), seconds=0.2)

    asyncio.run(refused())
    asyncio.run(unanswered())


def test_the_certificate_of_the_server_is_checked(tmp_path):
    certificate, key = self_signed(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def silent(_reader, _writer):
        pass

    async def work():
        async with listening(silent, ssl=context) as url:
            with pytest.raises(ConnectionFailedError, match="certificate"):
                await Connection.open(url.replace("http:", "https:"), seconds=5)

    asyncio.run(work())


def test_a_host_name_that_no_host_can_have_is_said():
    for name in ("a..b", "a" * 64):
        with pytest.raises(ConnectionFailedError, match="host name that cannot be looked up"):
            asyncio.run(Connection.open(f"http://{name}/v1", seconds=5))


HASTY = {"deadlines": {"first_token_seconds": 0.3, "idle_seconds": 0.2, "total_seconds": 0.8, "models_seconds": 0.3}}

SECRET = "sk-0123456789-secret"


def complete(server, count=1, *, body=None, together=False, **groups):
    """Ask over one transport; return the completions or the errors."""
    asked = call()
    request = request_of(asked, first_messages(asked, pixels=5000), model="scripted", settings=settings())
    if body is not None:
        request = type(request)(json.dumps(json.loads(request.body) | body).encode(), request.input_tokens, request.output_tokens)

    async def work():
        transport = ChatTransport(ChatEndpoint(server.base_url), settings(**groups))
        try:
            if together:
                return await asyncio.gather(*(transport.complete(request, limit_tokens=0) for _ in range(count)))
            return [await transport.complete(request, limit_tokens=0) for _ in range(count)]
        finally:
            transport.close()

    return asyncio.run(work())


def test_a_completion_comes_with_its_usage_streamed_or_in_one_piece():
    with chat_server(summarise) as server:
        (streamed,) = complete(server)
        (whole,) = complete(server, body={"stream": False})
    assert streamed == whole
    assert json.loads(streamed.text)["summary"] == "ti yas" and (streamed.input_tokens, streamed.output_tokens) == (1, 9)


def test_one_connection_serves_one_call_after_the_other():
    with chat_server(summarise) as server:
        complete(server, 20)
        assert server.connections == 1
        complete(server, 10, together=True)
        assert server.connections == 11


@pytest.mark.parametrize(
    ("how", "says", "began"),
    [
        (Misbehaviour.HANG, "wrote no word in 0.3 s", False),
        (Misbehaviour.DRIP, "wrote no word in 0.3 s", True),
        (Misbehaviour.HANG_LATER, "or no word in 0.2 s", True),
    ],
)
def test_a_server_that_hangs_is_left_within_its_deadline(how, says, began):
    with (
        chat_server(summarise, misbehave=always(how), drip_seconds=0.05) as server,
        pytest.raises(FaultError, match=says) as fault,
    ):
        complete(server, **HASTY)
    assert fault.value.kind == FaultKind.SILENT and (fault.value.output_tokens is not None) == began


def test_words_that_never_end_are_left_within_the_whole_deadline():
    endless = {"deadlines": HASTY["deadlines"], "limits": {"reply_megabytes": 100.0}}
    with (
        chat_server(lambda _request: "x" * 3000, piece_seconds=0.1, piece_length=10) as server,
        pytest.raises(FaultError, match=r"wrote for more than 0\.8 s") as fault,
    ):
        complete(server, **endless)
    assert fault.value.kind == FaultKind.SILENT and fault.value.output_tokens > 0


def test_slow_words_are_waited_for():
    with chat_server(lambda _request: "x" * 60, piece_seconds=0.05, piece_length=10) as server:
        (completion,) = complete(server, **HASTY)
    assert completion.text == "x" * 60


def test_a_reply_that_was_whole_before_the_connection_broke_is_taken():
    with chat_server(summarise, breaks_after_done=True) as server:
        assert len(complete(server, 3)) == 3
        assert server.connections == 3


def test_a_server_that_lists_nothing_in_time_is_not_there():
    async def work(url):
        transport = ChatTransport(ChatEndpoint(url), settings(**HASTY))
        with pytest.raises(FaultError, match=r"said nothing for 0\.3 s") as fault:
            await transport.models()
        transport.close()
        return fault.value.kind

    async def silent(reader, _writer):
        await reader.read()

    async def main():
        async with listening(silent) as url:
            return await work(url)

    assert asyncio.run(main()) == FaultKind.SILENT


@pytest.mark.parametrize(
    "event",
    ['data: {"error": "%s"}', "data: {%s", "data: [[%s", "%s", 'data: ["%s"]'],
)
@pytest.mark.parametrize("before", [70, 190, 295])
def test_the_key_does_not_stand_by_its_beginning_in_a_broken_reply(event, before):
    fault = asyncio.run(said_by_a_server(event % ("x" * before + SECRET)))
    assert "gave a broken reply" in str(fault) and len(str(fault)) < 500
    assert not any("sk-" in f"{error!r}{error}" for error in (fault, fault.__cause__))


def test_the_key_does_not_stand_in_a_refusal():
    event = {"choices": [{"delta": {"refusal": f"not for {SECRET}"}, "finish_reason": "stop"}]}
    completion = asyncio.run(said_by_a_server(f"data: {json.dumps(event)}\n\ndata: [DONE]\n"))
    assert completion.refusal == "not for (the key)"


async def said_by_a_server(event):
    """Ask a server that answers with the event; return the completion or the fault."""

    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        body = f"{event}\n".encode()
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: %d\r\n\r\n" % len(body) + body)

    async with listening(serve) as url:
        transport = ChatTransport(ChatEndpoint(url, api_key=SECRET), settings())
        try:
            return await transport.complete(Request(b"{}", 1, 1), limit_tokens=0)
        except FaultError as fault:
            return fault
        finally:
            transport.close()
