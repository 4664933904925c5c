"""One connection to a server: headers, proxies, deadlines, streams that are cut or break, how much is read, and the key."""

import asyncio
import json
import ssl
import time
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tasks.models import client
from tasks.models.chat.errors import ChatEndedError
from tasks.models.chat.request import Request
from tasks.models.chat.service import ChatService
from tasks.models.client import ServerClient
from tasks.models.endpoints import Endpoint
from tasks.models.faults import FaultError, FaultKind
from tests.chat_server import Misbehaviour, always, chat_server
from tests.tasks.models.chat_worlds import call, listening, request_for, settings, summarise

SECRET = "sk-0123456789-secret"
WORD = 'data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}'
ASK = Request(b"{}", 1, 1)


def client_of(url, key="", **groups):
    return aclosing(ServerClient(Endpoint(url, api_key=key), settings(**groups)))


def complete(server, count=1, *, body=None, together=False, **groups):
    """Ask over one client; return the completions."""
    request = request_for(call())
    if body is not None:
        request = type(request)(json.dumps(json.loads(request.body) | body).encode(), request.input_tokens, request.output_tokens)

    async def work():
        async with client_of(server.base_url, **groups) as client:
            if together:
                return await asyncio.gather(*(client.complete(request) for _ in range(count)))
            return [await client.complete(request) for _ in range(count)]

    return asyncio.run(work())


def answer(body, *headers, status="200 OK", length=None):
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def streamed(events):
    return answer(f"{events}\n".encode(), "Content-Type: text/event-stream")


def reply_to(answered, received=None, key=SECRET, size=10**9):
    """Ask a server that answers with these bytes, so many at a time; return the completion or the error."""

    async def serve(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        if received is not None:
            received.update(line.split(": ", 1) for line in head.decode().lower().splitlines()[1:] if line)
        for start in range(0, len(answered), size):
            writer.write(answered[start : start + size])
            await writer.drain()

    async def work():
        async with listening(serve) as url, client_of(url, key) as client:
            try:
                return await client.complete(ASK)
            except FaultError as error:
                return error

    return asyncio.run(work())


def test_a_completion_comes_with_its_usage_streamed_or_in_one_piece():
    with chat_server(summarise) as server:
        (streamed,) = complete(server)
        (whole,) = complete(server, body={"stream": False})
    assert streamed == whole
    assert json.loads(streamed.text)["summary"] == "ti yas" and (streamed.input_tokens, streamed.output_tokens) == (1, 9)


def test_one_connection_serves_one_call_after_the_other_unless_it_broke_behind_a_whole_reply(monkeypatch):
    monkeypatch.setattr(client, "AFTER_DONE_SECONDS", 30.0)
    with chat_server(summarise) as server:
        complete(server, 20)
        assert server.connections == 1
        complete(server, 10, together=True)
        assert server.connections == 11
    with chat_server(summarise, breaks_after_done=True) as server:
        assert len(complete(server, 3)) == server.connections == 3


@pytest.mark.parametrize("key", ["ours", ""])
def test_only_our_own_headers_are_sent(key):
    received = {}
    assert reply_to(answer(WORD.encode()), received, key).text == "yes"
    assert received.get("authorization") == (f"bearer {key}" if key else None)
    assert received["accept-encoding"] == "identity" and received["user-agent"].startswith("flowreader/")


@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1:9", "http://user:p/ss@127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_named_without_its_password_and_this_machine_needs_none(monkeypatch, proxy):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    with pytest.raises(ChatEndedError, match="a proxy of the environment cannot be used") as error:
        asyncio.run(ChatService(Endpoint("http://model.example/v1"), settings()).open())
    assert "ss@" not in str(error.value) and "'p'" not in str(error.value)
    for host in ("127.0.0.2", "localhost", "localhost."):
        asyncio.run(client._client_of(Endpoint(f"http://{host}:9/v1"), 1).aclose())


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


def test_words_that_never_end_are_left_within_the_whole_deadline_and_slow_ones_are_waited_for():
    brief = {"first_token_seconds": 5.0, "idle_seconds": 5.0, "total_seconds": 3.0}
    with chat_server(lambda _request: "x" * 3000, piece_seconds=0.1, piece_length=10) as server:
        with pytest.raises(FaultError, match=r"wrote for more than 3 s") as fault:
            complete(server, deadlines=brief, limits={"reply_megabytes": 100.0})
        (whole,) = complete(server, body={"stream": False}, deadlines={"first_token_seconds": 60.0, "total_seconds": 60.0})
    assert fault.value.kind == FaultKind.SILENT and fault.value.output_tokens > 0 and whole.text == "x" * 3000


@pytest.mark.parametrize(
    "answered",
    [
        b"",
        b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nyes",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nA: " + b"x" * 200_000,
    ],
)
def test_what_is_cut_or_no_http_may_be_sent_again(answered):
    fault = reply_to(answered)
    assert fault.kind == FaultKind.UNWELL and "connection" in str(fault)


@pytest.mark.parametrize("stream", [WORD, f"{WORD}\r\n\r\ndata:\n\n", f": ping\n{WORD}\n\n: ping\n\ndata: [DONE]\n\n"])
def test_a_stream_is_read_line_by_line(stream):
    assert reply_to(answer(stream.encode())).text == "yes"


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_stream_is_read_however_it_is_cut(size):
    events = (
        ': a comment\nevent: message\nid: 1\nretry: 5\ndata: {"choices": [{"delta": {"content": "Grü\u2028n"}}]}\n\n'
        'data: {"choices": [{"delta": {}, "finish_reason": "stop"}], "model": "m"}\r\n\r\n'
        'data: {"choices": [], "usage": {"prompt_tokens": 7, "completion_tokens": 2}}\n\ndata: [DONE]\n'
    )
    found = reply_to(streamed(events), size=size)
    assert (found.text, found.finish_reason, found.model, found.input_tokens) == ("Grü\u2028n", "stop", "m", 7)


LONG_EVENT = 'data: {"choices": [{"delta": {"content": "%s"}}]}\n\n' % ("x" * 100_000)
ONE_PIECE = json.dumps({"choices": [{"message": {"content": "x" * 1_500_000}}]}).encode()


@pytest.mark.parametrize(
    "endless",
    [
        streamed(LONG_EVENT * 30),
        streamed("x" * 3_000_000),
        answer(b" \n" * 700_000),
        answer(ONE_PIECE, "Content-Type: application/json"),
    ],
    ids=["events", "line", "lines", "piece"],
)
def test_no_more_is_read_than_a_reply_may_have_and_that_in_linear_time(endless):
    began = time.process_time()
    found = reply_to(endless)
    assert found.problem == "it is longer than 1 MB" and len(found.text) < 1_200_000
    assert time.process_time() - began < 3


@pytest.mark.parametrize("length", [100, 10**9])
def test_the_status_is_not_lost_where_its_page_is_cut_or_endless(length):
    page = b"wait" * (1 if length == 100 else 100_000)
    fault = reply_to(answer(page, "Retry-After: 7", "Content-Type: text/plain; charset=rot13", status="503 Down", length=length))
    assert (fault.kind, fault.wait_seconds) == (FaultKind.DOWN, 7.0) and "wait" in str(fault)


@pytest.mark.parametrize("event", ['data: {"error": "%s"}', "data: {%s", "data: [[%s", "%s", 'data: ["%s"]'])
@pytest.mark.parametrize("before", [70, 295])
def test_the_key_does_not_stand_by_its_beginning_in_a_broken_reply(event, before):
    fault = reply_to(streamed(event % ("x" * before + SECRET)))
    assert "gave a broken reply" in str(fault) and len(str(fault)) < 500
    assert not any("sk-" in f"{error!r}{error}" for error in (fault, fault.__cause__))


def test_the_key_does_not_stand_in_a_refusal():
    event = {"choices": [{"delta": {"refusal": f"not for {SECRET}"}, "finish_reason": "stop"}]}
    assert reply_to(streamed(f"data: {json.dumps(event)}\n\ndata: [DONE]\n")).refusal == "not for (the key)"


@pytest.fixture
def impostor(tmp_path):
    """The context of a server with a certificate that nobody vouches for."""
    key = ec.generate_private_key(ec.SECP256R1())
    name, now = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")]), datetime.now(UTC)
    made = x509.CertificateBuilder(name, name, key.public_key(), 1, now - timedelta(days=1), now + timedelta(days=1))
    (tmp_path / "certificate.pem").write_bytes(made.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM))
    plain = (serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (tmp_path / "key.pem").write_bytes(key.private_bytes(*plain))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(tmp_path / "certificate.pem", tmp_path / "key.pem")
    return context


def test_bad_certificates_impossible_hosts_silence_and_wrong_addresses_are_named(impostor):
    async def silent(reader, _writer):
        await reader.read()

    async def refusing(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 400 X\r\nContent-Length: 2\r\n\r\nno")

    async def opened(url, says, **deadlines):
        patient = {"connect_seconds": 30.0, "models_seconds": 30.0}
        service = ChatService(Endpoint(url), settings(deadlines=patient | deadlines))
        with pytest.raises(ChatEndedError, match=says):
            await service.open()
        await service.close()

    async def work():
        async with listening(silent, ssl=impostor) as url:
            await opened(url.replace("http:", "https:"), "no chat server: .* takes no connection .*certificate")
        async with listening(silent) as url:
            await opened(url.replace("http:", "https:"), r"takes no connection in 0\.2 s", connect_seconds=0.2)
            await opened(url, r"gave no answer in 0\.3 s", models_seconds=0.3)
        async with listening(refusing) as url:
            await opened(url, "answered 400: no; .*check FLOWREADER_CHAT_BASE_URL")
        for name in ("a..b", "a" * 64):
            await opened(f"http://{name}/v1", "takes no connection")

    asyncio.run(work())
