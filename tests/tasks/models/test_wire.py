"""What goes over the wire, and what a server may send: headers, proxies, streams of all kinds, packed replies, error pages."""

import asyncio
import gzip
import json
import ssl
import time
from contextlib import aclosing

import pytest

from tasks.models import client as wire
from tasks.models.chat.errors import ChatServerDownError, RejectedCallError
from tasks.models.chat.request import Request
from tasks.models.chat.service import ChatService
from tasks.models.client import ServerClient
from tasks.models.endpoints import Endpoint
from tasks.models.faults import FaultError, FaultKind
from tests.tasks.models.chat.test_chat_service import self_signed
from tests.tasks.models.chat_worlds import listening, settings

WORD = 'data: {"choices": [{"delta": {"content": "yes"}, "finish_reason": "stop"}]}'


def client_of(url, key="", **groups):
    return aclosing(ServerClient(Endpoint(url, api_key=key), settings(**groups)))


def answer(body, *headers, status="200 OK", length=None):
    head = [f"HTTP/1.1 {status}", f"Content-Length: {len(body) if length is None else length}", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def reply_to(answered, received=None, key="", ask=lambda client: client.complete(Request(b"{}", 1, 1)), tls=None):
    """Ask a server that answers with these bytes; return the completion, or the error by its name."""

    async def serve(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        if received is not None:
            received.update(line.split(": ", 1) for line in head.decode().lower().splitlines()[1:] if line)
        writer.write(answered)
        await writer.drain()
        if tls:
            writer.transport._ssl_protocol._transport.write(b"no record of TLS")

    async def work():
        async with listening(serve, ssl=tls) as url, client_of(url.replace("http:", "https:" if tls else "http:"), key) as client:
            try:
                return await ask(client)
            except (FaultError, RejectedCallError) as error:
                return error

    return asyncio.run(work())


@pytest.mark.parametrize("key", ["ours", ""])
def test_only_our_own_headers_are_sent_whatever_is_set_for_others(monkeypatch, key):
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", "Authorization: Bearer sk-other\nX-Secret: yes")
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "sk-other")
    received = {}
    assert reply_to(answer(WORD.encode()), received, key).text == "yes"
    assert received.get("authorization") == (f"bearer {key}" if key else None)
    assert received["accept-encoding"] == "identity" and received["user-agent"].startswith("flowreader/")
    assert "sk-other" not in str(received) and not {name for name in received if "secret" in name or "openai" in name}


@pytest.mark.parametrize("proxy", ["ftp://127.0.0.1:9", "http://user:p/ss@127.0.0.1:9"])
def test_a_proxy_that_cannot_be_used_is_named_without_its_password(monkeypatch, proxy):
    monkeypatch.setenv("HTTP_PROXY", proxy)
    service = ChatService(Endpoint("http://model.example/v1"), settings())
    with pytest.raises(ChatServerDownError, match="a proxy of the environment cannot be used") as error:
        asyncio.run(service.open())
    assert "ss@" not in str(error.value) and "'p'" not in str(error.value)


@pytest.mark.parametrize("host", ["127.0.0.2", "localhost", "localhost."])
def test_no_name_of_this_machine_is_asked_through_a_proxy(monkeypatch, host):
    monkeypatch.setenv("HTTP_PROXY", "ftp://127.0.0.1:9")

    async def opened():
        await wire._client_of(Endpoint(f"http://{host}:9/v1"), 1).aclose()

    asyncio.run(opened())


@pytest.mark.parametrize(
    "stream",
    [
        f"retry: 3000\n\n{WORD}\n\ndata: [DONE]\n\n",
        f"id: 1\n{WORD}\n\n: ping\n\n: ping\n\ndata: [DONE]\n\n",
        f"{WORD}\ndata: [DONE]\n",
        f"{WORD}\r\n\r\ndata:\n\n",
        WORD,
    ],
)
def test_a_stream_is_read_line_by_line(stream):
    assert reply_to(answer(stream.encode())).text == "yes"


def test_lines_without_end_take_no_quadratic_time():
    began = time.process_time()
    assert reply_to(answer(b" \n" * 700_000)).problem == "it is longer than 1 MB"
    assert time.process_time() - began < 3


def test_a_reply_in_one_piece_that_is_too_long_is_a_problem_of_the_reply():
    body = json.dumps({"choices": [{"message": {"content": "x" * 1_500_000}}]}).encode()
    assert reply_to(answer(body, "Content-Type: application/json")).problem == "it is longer than 1 MB"


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.complete(Request(b"{}", 1, 1)),
        lambda client: client.embeddings(Request(b"{}", 1, 1)),
        lambda client: client.models(),
    ],
)
def test_a_packed_reply_is_never_unpacked_and_a_packed_error_keeps_its_status(ask):
    packed = gzip.compress(b" " * 50_000_000)
    error = reply_to(answer(packed, "Content-Encoding: gzip"), ask=ask)
    assert isinstance(error, RejectedCallError) and "packs its replies" in str(error)
    fault = reply_to(answer(packed, "Content-Encoding: gzip", "Retry-After: 7", status="429 Busy"), ask=ask)
    assert fault.kind == FaultKind.BUSY and str(fault).endswith("answered 429")


def test_a_server_that_packs_its_models_is_named():
    async def serve(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer(gzip.compress(b"{}"), "Content-Encoding: gzip"))

    async def work():
        async with listening(serve) as url:
            service = ChatService(Endpoint(url), settings())
            with pytest.raises(ChatServerDownError, match="packs its replies"):
                await service.open()
            await service.close()

    asyncio.run(work())


@pytest.mark.parametrize("charset", ["rot13", "hex", "zlib", "utf-16"])
def test_an_error_page_may_name_any_charset(charset):
    error = reply_to(answer(b"no", f"Content-Type: text/plain; charset={charset}", status="400 No"))
    assert isinstance(error, RejectedCallError) and "answered 400: no" in str(error)


@pytest.mark.parametrize(("status", "kind"), [("429 Busy", FaultKind.BUSY), ("503 Down", FaultKind.DOWN)])
@pytest.mark.parametrize("length", [100, 10**9])
def test_the_status_is_not_lost_where_its_page_is_cut_or_endless(status, kind, length):
    page = b"wait" * (1 if length == 100 else 100_000)
    fault = reply_to(answer(page, "Retry-After: 7", status=status, length=length))
    assert (fault.kind, fault.wait_seconds) == (kind, 7.0) and "wait" in str(fault)


def test_an_error_of_tls_inside_a_stream_may_be_sent_again(tmp_path, monkeypatch):
    certificate, key = self_signed(tmp_path)
    tls = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    tls.load_cert_chain(certificate, key)
    trusting = ssl.create_default_context(cafile=certificate)
    trusting.check_hostname = False
    monkeypatch.setattr(wire, "_trust", lambda: trusting)
    fault = reply_to(answer(b"data: {}\n", length=1000), tls=tls)
    assert isinstance(fault, FaultError) and fault.kind == FaultKind.UNWELL and "broke the connection" in str(fault)
