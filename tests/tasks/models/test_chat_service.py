import asyncio
import base64
import dataclasses
import io
import json
import socket
import ssl
import threading
from contextlib import asynccontextmanager
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from pydantic import BaseModel

from tasks.model_settings import ChatBudget, ChatPrices, ModelSettings
from tasks.models.chat_budget import Budget
from tasks.models.chat_call import Tally, nothing_wrong
from tasks.models.chat_errors import ChatError, ChatServerDownError, ContextTooLongError, RejectedCallError, UnknownModelError
from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_request import (
    SHORTEST_SIDE,
    PictureError,
    Request,
    call_key,
    data_url,
    first_messages,
    padded_size,
    picture_tokens,
    request_of,
    second_messages,
    shown_size,
    text_tokens,
)
from tasks.models.chat_service import ChatService, borrow, give_back, on_the_loop
from tasks.models.chat_transport import ChatTransport, Connection, ConnectionBrokenError, ConnectionFailedError
from tasks.models.endpoints import ChatEndpoint
from tasks.models.served_models import ServedModel
from tests.chat_server import Misbehaviour, always, at, chat_server
from tests.tasks.models.certificates import self_signed
from tests.tasks.models.chat_worlds import Summary, call, calls, listening, open_on, settings, summarise


def borrowed(server, **groups):
    return on_the_loop(borrow(ChatEndpoint(server.base_url), settings(**groups))).result(10)


def returned(*shared):
    for each in shared:
        on_the_loop(give_back(each)).result(10)


def test_runs_side_by_side_share_a_server_whatever_their_budgets():
    with chat_server(summarise) as server:
        first, second = borrowed(server), borrowed(server, budget={"calls": 1}, prices={"input_per_million": 1.0})
        assert first is second and first.users == 2 and server.listings == 1
        other = borrowed(server, limits={"in_flight": 3})
        assert other is not first and server.listings == 2
        returned(first, second, other)
        later = borrowed(server)
        assert later is not first and server.listings == 3
        returned(later)


def test_all_runs_together_have_no_more_calls_in_flight_than_one(tmp_path):
    with chat_server(summarise, seconds=0.02) as server:
        with (
            open_on(server, tmp_path / "a", limits={"in_flight": 4}) as one,
            open_on(server, tmp_path / "b", limits={"in_flight": 4}) as two,
        ):
            asking = [threading.Thread(target=model.ask_all, args=(calls(30),)) for model in (one, two)]
            for thread in asking:
                thread.start()
            for thread in asking:
                thread.join()
        assert server.calls == 60 and server.most_at_once == 4


def test_a_server_that_could_not_be_opened_is_tried_anew():
    with chat_server(summarise) as server:
        server.go_away()
        with pytest.raises(ChatServerDownError):
            borrowed(server)
        server.come_back()
        returned(borrowed(server))


def test_all_work_runs_on_one_loop_in_one_thread_whoever_asks():
    async def place():
        return asyncio.get_running_loop(), threading.current_thread()

    found = {on_the_loop(place()).result(5) for _ in range(5)}
    ((loop, thread),) = found
    assert loop.is_running() and thread.daemon and thread is not threading.current_thread()


def test_work_waits_side_by_side_and_errors_come_back():
    async def meet(barrier):
        await barrier.wait()

    async def fail():
        raise KeyError("lost")

    barrier = asyncio.Barrier(3)
    for work in [on_the_loop(meet(barrier)) for _ in range(3)]:
        work.result(5)
    with pytest.raises(KeyError, match="lost"):
        on_the_loop(fail()).result(5)


def served(server, work, *, model="", key="", **groups):
    """Open a service on the server and do the work with it."""

    async def main():
        service = ChatService(ChatEndpoint(server.base_url, model, key), settings(**groups))
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


async def answer_400(reader, writer):
    await reader.readuntil(b"\r\n\r\n")
    writer.write(b"HTTP/1.1 400 X\r\nContent-Length: 2\r\n\r\nno")


def test_the_model_is_what_the_server_lists():
    async def model(service):
        return service.model

    with chat_server(summarise, models=("a", "b"), max_model_len=9000) as server:
        assert served(server, model, model="b") == ServedModel("b", 9000)
        with pytest.raises(UnknownModelError, match="has 2 models"):
            served(server, model)


def test_a_listing_that_fails_says_what_to_look_at():
    with chat_server(summarise) as server:
        server.models = None  # the listing breaks
        with pytest.raises(ChatServerDownError, match=r"no chat server: .* start one there"):
            served(server, None)


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


@pytest.mark.parametrize(
    ("how", "kind", "requests"),
    [(Misbehaviour.ERROR, ChatError, 4), (Misbehaviour.BAD_REQUEST, RejectedCallError, 1)],
)
def test_calls_lost_in_a_row_end_the_run_and_one_reply_between_them_does_not(how, kind, requests):
    async def work(service):
        for text in ("bad", "bad", "good", "bad", "bad"):
            try:
                await ask(service, Tally(), text)
            except ChatError as error:
                assert type(error) is kind and text == "bad"
        with pytest.raises(ChatServerDownError, match="3 calls in a row got no reply"):
            await ask(service, Tally(), "bad")

    with chat_server(summarise, misbehave=lambda request: how if request.prompt == "bad" else None) as server:
        served(server, work, retries={"lost_until_end": 3, "first_wait_seconds": 0.01, "attempts": 4})
        assert server.calls == 5 * requests + 1


def test_prompts_that_are_too_long_say_nothing_against_the_server():
    async def work(service):
        for _ in range(5):
            with pytest.raises(ContextTooLongError):
                await ask(service, Tally())

    with chat_server(summarise, misbehave=always(Misbehaviour.TOO_LONG)) as server:
        served(server, work, retries={"lost_until_end": 2})


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


def test_a_listing_that_is_refused_is_a_wrong_address():
    async def work():
        async with listening(answer_400) as url:
            service = ChatService(ChatEndpoint(url), settings())
            with pytest.raises(ChatServerDownError, match=r"answered 400: no; .*check FLOWREADER_CHAT_BASE_URL"):
                await service.open()
            await service.close()

    asyncio.run(work())


def test_a_host_that_can_have_no_address_is_no_server():
    async def work():
        service = ChatService(ChatEndpoint("http://a..b/v1"), settings())
        with pytest.raises(ChatServerDownError, match=r"no chat server: http://a\.\.b/v1 has a host name that cannot be looked up"):
            await service.open()
        await service.close()

    asyncio.run(work())


def test_each_request_is_sent_inside_what_it_may_spend_and_only_the_first_is_a_call():
    begun = []

    @asynccontextmanager
    async def spending(_request, tally, calls):
        before = tally.attempts
        try:
            yield
        finally:
            begun.append((calls, tally.attempts - before))

    async def work(service):
        await service.complete(request_for(call()), Tally(), spending)

    with chat_server(summarise, misbehave=at({1: Misbehaviour.ERROR, 2: Misbehaviour.CUT})) as server:
        served(server, work)
    assert begun == [(1, 1), (0, 1), (0, 1)]


def test_a_key_that_the_server_gives_as_its_model_is_not_shown():
    secret = "sk-" + "0123456789" * 10

    async def work(service):
        request = request_for(call(), model=f"Bearer {secret}")  # the server says what it was asked for
        with pytest.raises(UnknownModelError, match=r"answered as 'Bearer \(the key\)'"):
            await service.complete(request, Tally(), Budget(ChatBudget(), ChatPrices()).spending)

    with chat_server(summarise) as server:
        served(server, work, key=secret)


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


def encoded(size, kind="PNG", mode="RGB", color=None):
    stream = io.BytesIO()
    Image.new(mode, size, color if color is not None else 200).save(stream, kind)
    return stream.getvalue()


def opened(url):
    return Image.open(io.BytesIO(base64.b64decode(url.partition(";base64,")[2], validate=True)))


@pytest.mark.parametrize(("kind", "media"), [("PNG", "image/png"), ("JPEG", "image/jpeg")])
def test_what_fits_is_sent_as_it_is(kind, media):
    picture = encoded((64, 48), kind)
    url = data_url(picture, pixels=64 * 48)
    assert url == f"data:{media};base64,{base64.b64encode(picture).decode()}"


@pytest.mark.parametrize("kind", ["PNG", "JPEG"])
def test_what_is_too_large_is_scaled_down_in_its_shape_and_kind(kind):
    shown = opened(data_url(encoded((2000, 1000), kind), pixels=100_000))
    assert shown.format == kind and shown.size == (447, 223)


def test_other_kinds_are_sent_as_png_and_what_is_transparent_lies_on_white():
    assert opened(data_url(encoded((64, 64), "GIF", "P"), pixels=10_000)).format == "PNG"
    shown = opened(data_url(encoded((100, 100), "PNG", "RGBA", (255, 0, 0, 0)), pixels=2500))
    assert shown.mode == "RGB" and shown.getpixel((25, 25)) == (255, 255, 255)


@pytest.mark.parametrize(("size", "padded"), [((10, 10), (32, 32)), ((6400, 3), (6400, 64)), ((20, 400), (32, 400))])
def test_strips_and_specks_get_room_around_them(size, padded):
    shown = opened(data_url(encoded(size), pixels=10**6))
    assert shown.size == padded and shown.getpixel((padded[0] - 1, padded[1] - 1)) == (255, 255, 255)


@pytest.mark.parametrize(
    "picture", [b"", b"no picture", encoded((64, 64))[:60], encoded((64, 64))[:-30], encoded((900, 900), "JPEG")[:700]]
)
def test_what_is_no_picture_is_refused(picture):
    with pytest.raises(PictureError, match=f"a picture of {len(picture)} bytes cannot be read"):
        data_url(picture, pixels=1000)


@given(st.integers(1, 30_000), st.integers(1, 30_000), st.integers(3136, 10**7))
def test_no_size_has_more_pixels_than_allowed_and_none_is_a_strip(width, height, pixels):
    shown = shown_size(width, height, pixels=pixels)
    assert shown[0] * shown[1] <= max(pixels, *shown) and min(shown) >= 1
    wide = padded_size(*shown)
    assert min(wide) >= SHORTEST_SIDE and max(wide) <= 100 * min(wide)


SETTINGS = ModelSettings()
PICTURE = encoded((64, 64))


class Other(BaseModel):
    name: str


def key(asked, model="qwen", **changed):
    return call_key(asked, model=model, settings=ModelSettings.model_validate(changed))


def test_the_same_call_has_the_same_key_whatever_it_is_called():
    assert key(call()) == key(call(item="another name", purpose="evolve", check=lambda value: "no", subject="0" * 64))
    assert key(call()) == key(call(), limits={"in_flight": 1}, budget={"calls": 3}, pictures={"pixels": 5000})


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "another text"},
        {"prompt_hash": "another prompt"},
        {"images": (PICTURE,)},
        {"images": (PICTURE, PICTURE)},
        {"form": Other},
        {"max_output_tokens": 101},
    ],
)
def test_whatever_decides_the_reply_changes_the_key(changed):
    assert key(dataclasses.replace(call(), **changed)) != key(call())


def test_the_model_and_its_parameters_change_the_key():
    shown = call(images=(PICTURE,))
    assert len({key(shown), key(shown, model="llama"), key(shown, temperature=0.5), key(shown, pictures={"pixels": 5000})}) == 4


def test_the_text_stands_before_numbered_pictures():
    (message,) = first_messages(call("look", images=(PICTURE, PICTURE)), pixels=5000)
    kinds = [part["text"] if part["type"] == "text" else part["image_url"]["url"][:22] for part in message["content"]]
    assert kinds == ["look", "Picture 1:", "data:image/png;base64,", "Picture 2:", "data:image/png;base64,"]
    assert first_messages(call("read"), pixels=5000) == [{"role": "user", "content": "read"}]


def test_the_second_question_shows_a_bounded_part_of_the_bad_reply():
    first = first_messages(call("read"), pixels=5000)
    messages = second_messages(first, "x" * 10**6 + "\ud800", "$it is not JSON")
    assert messages[0] == first[0] and len(messages[1]["content"]) == 2000
    assert "cannot be used: $it is not JSON." in messages[2]["content"]
    assert second_messages(first, "", "empty")[1]["content"] == "(nothing)"


def test_a_request_is_a_stream_with_usage_in_the_form_asked_for():
    asked = call("half a sign: \ud83d")
    request = request_of(asked, first_messages(asked, pixels=5000), model="qwen", settings=SETTINGS)
    body: dict[str, Any] = json.loads(request.body)
    assert (
        body["messages"][0]["content"] == "half a sign: ?" and body["stream"] and body["stream_options"] == {"include_usage": True}
    )
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Summary", "schema": Summary.model_json_schema(), "strict": True},
    }
    assert body["model"] == "qwen" and body["temperature"] == 0 and body["max_tokens"] == request.output_tokens == 100


def test_estimates_grow_with_text_and_pictures_and_are_rather_too_large():
    text, shown = call("word " * 300), call("word " * 300, images=(PICTURE, PICTURE))
    requests = [request_of(each, first_messages(each, pixels=5000), model="m", settings=SETTINGS) for each in (text, shown)]
    assert requests[0].input_tokens == text_tokens(1500, 1, SETTINGS.estimates) == 532
    assert requests[1].input_tokens == 532 + picture_tokens(2, SETTINGS) == 532 + 2 * 988


def test_a_call_is_frozen_and_asks_for_no_check_by_itself():
    asked = call(check=nothing_wrong)
    assert asked.images == () and asked.check("anything") == ""
    with pytest.raises(dataclasses.FrozenInstanceError):
        asked.prompt = "another"
