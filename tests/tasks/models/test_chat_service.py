import asyncio
import threading
from contextlib import asynccontextmanager

import pytest

from tasks.model_settings import ChatBudget, ChatPrices
from tasks.models.chat_budget import Budget
from tasks.models.chat_call import Tally
from tasks.models.chat_errors import ChatError, ChatServerDownError, ContextTooLongError, RejectedCallError, UnknownModelError
from tasks.models.chat_request import first_messages, request_of
from tasks.models.chat_service import ChatService, borrow, give_back, on_the_loop
from tasks.models.endpoints import ChatEndpoint
from tasks.models.served_models import ServedModel
from tests.chat_server import Misbehaviour, always, at, chat_server
from tests.tasks.models.chat_worlds import call, calls, listening, open_on, settings, summarise


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


def test_a_reply_of_another_model_is_not_taken():
    async def work(service):
        with pytest.raises(UnknownModelError, match="was asked for scripted and answered as 'another-model'"):
            await ask(service, Tally())

    with chat_server(summarise, misbehave=always(Misbehaviour.WRONG_MODEL)) as server:
        served(server, work)


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
