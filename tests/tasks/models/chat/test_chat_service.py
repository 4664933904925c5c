"""One server as all runs use it: what is shared, what is counted, the deadlines, connections that break, and the key."""

import asyncio
import json
import random
import ssl
import threading
from contextlib import aclosing
from datetime import UTC, datetime, timedelta

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tasks.models.chat.budget import Budget
from tasks.models.chat.call import Tally
from tasks.models.chat.errors import ChatServerDownError, UnknownModelError
from tasks.models.chat.request import Request, first_messages, request_of
from tasks.models.chat.service import ChatService
from tasks.models.chat.stream import Completion
from tasks.models.client import ServerClient
from tasks.models.endpoints import Endpoint, ServedModel
from tasks.models.faults import FaultError, FaultKind
from tasks.settings.models import ChatBudget, ChatPrices
from tests.chat_server import Misbehaviour, always, at, chat_server
from tests.tasks.models.chat_worlds import call, calls, listening, open_on, settings, summarise


def test_all_runs_and_threads_together_have_no_more_calls_in_flight_than_one(tmp_path):
    found, narrow = {}, {"limits": {"in_flight": 4}}
    with chat_server(summarise, seconds=0.01) as server:
        with (
            open_on(server, tmp_path / "a", **narrow) as one,
            open_on(server, tmp_path / "b", **narrow, budget={"calls": 99}) as two,
        ):

            def ask(name, model):
                found[name] = model.ask_all([call(f"{name} {number}") for number in range(20)])

            asking = [threading.Thread(target=ask, args=asker) for asker in enumerate((one, two, one, two))]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
        assert (server.calls, server.most_at_once, server.listings) == (80, 4, 1)
    assert all(found[n][i].summary == f"{n} {i}"[::-1] for n in range(4) for i in range(20))


def served(server, work, *, model="", key="", **groups):
    """Open a service on the server and do the work with it."""

    async def main():
        service = ChatService(Endpoint(server.base_url, model, key), settings(**groups))
        try:
            await service.open()
            return await work(service)
        finally:
            await service.close()

    return asyncio.run(main())


def ask(service, tally, text="say it"):
    return service.complete(request_for(call(text)), tally, Budget(ChatBudget(), ChatPrices()).spending)


def request_for(asked, model="scripted"):
    return request_of(asked, first_messages(asked, pixels=5000), model=model, settings=settings())


def test_the_model_is_what_the_server_lists():
    async def model(service):
        return service.model

    with chat_server(summarise, models=("a", "b"), max_model_len=9000) as server:
        assert served(server, model, model="b") == ServedModel("b", 9000)
        with pytest.raises(UnknownModelError, match="has 2 models"):
            served(server, model)


def test_the_tally_holds_what_the_server_told_of_all_requests():
    async def work(service):
        tally = Tally()
        await ask(service, tally)
        return tally

    with chat_server(summarise, misbehave=at({1: Misbehaviour.ERROR, 2: Misbehaviour.CUT})) as server:
        tally = served(server, work)
    # 500 costs nothing; of the reply that was cut the prompt (34 tokens by our estimate) and a word or two; the whole one 1 and 9.
    assert tally.attempts == 3 and tally.input_tokens == 34 + 1 and 9 < tally.output_tokens < 15


def test_what_the_server_does_not_tell_is_estimated():
    async def work(service):
        tally = Tally()
        completion = await ask(service, tally)
        return tally, completion

    with chat_server(summarise, tells_usage=False) as server:
        tally, completion = served(server, work)
    assert tally.input_tokens == 34 and tally.output_tokens == round(len(completion.text) / 3)


def test_a_server_that_comes_back_with_another_model_ends_the_run():
    async def work(service):
        await ask(service, Tally())
        server.models = ("another",)
        server.misbehave = always(Misbehaviour.UNAVAILABLE)
        with pytest.raises(UnknownModelError, match="has another model now"):
            await ask(service, Tally())
        assert service.given_up

    with chat_server(summarise) as server:
        served(server, work, retries={"failures_until_pause": 2, "first_wait_seconds": 0.01, "attempts": 10, "down_seconds": 5.0})


def test_limits_are_kept_for_all_calls_together():
    async def work(service):
        clock = asyncio.get_running_loop().time
        await asyncio.gather(*(ask(service, Tally(), f"text {number}") for number in range(5)))
        late = asyncio.create_task(ask(service, Tally(), "one more"))
        began = clock()
        await asyncio.wait([late], timeout=0.3)
        assert not late.done() and clock() - began >= 0.29
        late.cancel()
        await asyncio.wait([late])

    with chat_server(summarise) as server:
        served(server, work, limits={"requests_per_minute": 5})
        assert server.calls == 5


def test_a_key_that_the_server_gives_as_its_model_is_not_shown():
    secret = "sk-" + "0123456789" * 10

    async def work(service):
        request = request_for(call(), model=f"Bearer {secret}")  # the server says what it was asked for
        with pytest.raises(UnknownModelError, match=r"answered as 'Bearer \(the key\)'"):
            await service.complete(request, Tally(), Budget(ChatBudget(), ChatPrices()).spending)

    with chat_server(summarise) as server:
        served(server, work, key=secret)


def self_signed(folder):
    """Write a certificate that nobody vouches for, and its key; return their paths."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "localhost")])
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(datetime.now(UTC) - timedelta(days=1))
        .not_valid_after(datetime.now(UTC) + timedelta(days=1))
        .sign(key, hashes.SHA256())
    )
    (folder / "certificate.pem").write_bytes(made.public_bytes(serialization.Encoding.PEM))
    plain = serialization.NoEncryption()
    (folder / "key.pem").write_bytes(key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, plain))
    return folder / "certificate.pem", folder / "key.pem"


def test_bad_certificates_impossible_hosts_silence_and_wrong_addresses_are_named(tmp_path):
    certificate, key = self_signed(tmp_path)
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, key)

    async def silent(reader, _writer):
        await reader.read()

    async def refusing(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 400 X\r\nContent-Length: 2\r\n\r\nno")

    async def opened(url, says, **deadlines):
        patient = {"connect_seconds": 30.0, "models_seconds": 30.0}
        service = ChatService(Endpoint(url), settings(deadlines=patient | deadlines))
        with pytest.raises(ChatServerDownError, match=says):
            await service.open()
        await service.close()

    async def work():
        async with listening(silent, ssl=context) as url:
            await opened(url.replace("http:", "https:"), "no chat server: .* takes no connection .*certificate")
        async with listening(silent) as url:
            await opened(url.replace("http:", "https:"), r"takes no connection in 0\.2 s", connect_seconds=0.2)
            await opened(url, r"gave no answer in 0\.3 s", models_seconds=0.3)
        async with listening(refusing) as url:
            await opened(url, "answered 400: no; .*check FLOWREADER_CHAT_BASE_URL")
        for name in ("a..b", "a" * 64):
            await opened(f"http://{name}/v1", "takes no connection")

    asyncio.run(work())


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
    asked = call()
    request = request_of(asked, first_messages(asked, pixels=5000), model="scripted", settings=settings())
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


def test_one_connection_serves_one_call_after_the_other():
    with chat_server(summarise) as server:
        complete(server, 20)
        assert server.connections == 1
        complete(server, 10, together=True)
        assert server.connections == 11


@pytest.mark.parametrize(
    ("how", "first", "says", "began"),
    [
        (Misbehaviour.HANG, 0.3, "wrote no word in 0.3 s", False),
        (Misbehaviour.DRIP, 1.0, "wrote no word in 1 s", True),
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
    brief = {"first_token_seconds": 5.0, "idle_seconds": 5.0, "total_seconds": 0.8}
    with (
        chat_server(lambda _request: "x" * 3000, piece_seconds=0.1, piece_length=10) as server,
        pytest.raises(FaultError, match=r"wrote for more than 0\.8 s") as fault,
    ):
        complete(server, deadlines=brief, limits={"reply_megabytes": 100.0})
    assert fault.value.kind == FaultKind.SILENT and fault.value.output_tokens > 0


def test_slow_words_are_waited_for():
    with chat_server(lambda _request: "x" * 300, piece_seconds=0.05, piece_length=10) as server:
        (completion,) = complete(server, deadlines={"first_token_seconds": 1.0, "idle_seconds": 1.0, "total_seconds": 30.0})
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


def test_another_run_on_the_server_goes_on_when_one_is_closed(tmp_path):
    arrived, found = threading.Event(), []

    def reply(request):
        arrived.set()
        return summarise(request)

    with chat_server(reply, seconds=0.1) as server, open_on(server, tmp_path) as going:
        closed = open_on(server, tmp_path)
        asking = threading.Thread(target=lambda: found.extend(going.ask_all(calls(10))))
        asking.start()
        assert arrived.wait(30)
        closed.close()
        asking.join(30)
    assert [reply.summary for reply in found] == [f"text {number}"[::-1] for number in range(10)]
