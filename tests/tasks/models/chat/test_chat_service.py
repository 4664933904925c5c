"""One server as all runs use it: what is shared, what is counted, and the model that is listed."""

import asyncio
import threading

import pytest

from tasks.models.chat.budget import Budget
from tasks.models.chat.call import Tally
from tasks.models.chat.errors import ChatEndedError
from tasks.models.chat.service import ChatService
from tasks.models.endpoints import Endpoint
from tasks.settings.models import ChatBudget, ChatPrices
from tests.chat_server import Misbehaviour, always, at, chat_server
from tests.tasks.models.chat_worlds import call, calls, open_on, request_for, settings, summarise


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


@pytest.mark.parametrize("tells", [True, False])
def test_the_tally_holds_what_the_server_told_of_all_requests_or_an_estimate(tells):
    async def work(service):
        tally = Tally()
        completion = await ask(service, tally)
        return tally, completion

    faults = {1: Misbehaviour.ERROR, 2: Misbehaviour.CUT} if tells else {}
    with chat_server(summarise, misbehave=at(faults), tells_usage=tells) as server:
        tally, completion = served(server, work)
    if tells:
        # 500 costs nothing; of what was cut count the prompt (34 tokens by our estimate) and a word or two; the whole one: 1 and 9
        assert tally.attempts == 3 and tally.input_tokens == 34 + 1 and 9 < tally.output_tokens < 15
    else:
        assert tally.input_tokens == 34 and tally.output_tokens == round(len(completion.text) / 3)


def test_a_server_that_comes_back_with_another_model_ends_the_run():
    async def work(service):
        await ask(service, Tally())
        server.models = ("another",)
        server.misbehave = always(Misbehaviour.UNAVAILABLE)
        with pytest.raises(ChatEndedError, match="has another model now"):
            await ask(service, Tally())
        assert service.given_up

    with chat_server(summarise) as server:
        served(server, work, retries={"failures_until_pause": 2, "first_wait_seconds": 0.01, "attempts": 10, "down_seconds": 5.0})


def test_limits_are_kept_for_all_calls_together():
    async def work(service):
        asked = [asyncio.create_task(ask(service, Tally(), f"text {number}")) for number in range(6)]
        _, (late,) = await asyncio.wait(asked, timeout=0.5)
        late.cancel()

    with chat_server(summarise) as server:
        served(server, work, limits={"requests_per_minute": 5})
        assert server.calls == 5


def test_a_key_that_the_server_gives_as_its_model_is_not_shown():
    secret = "sk-" + "0123456789" * 10

    async def work(service):
        request = request_for(call(), model=f"Bearer {secret}")  # the server says what it was asked for
        with pytest.raises(ChatEndedError, match=r"answered as 'Bearer \(the key\)'"):
            await service.complete(request, Tally(), Budget(ChatBudget(), ChatPrices()).spending)

    with chat_server(summarise) as server:
        served(server, work, key=secret)


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
