"""What ends a run of the chat client: its budget, calls lost in a row, the user, an error of our own, and its closing."""

import asyncio
import socket
import threading
import time

import pytest

from storage.runs.replies import CallCache
from tasks import progress
from tasks.models.chat.budget import Budget
from tasks.models.chat.call import Tally
from tasks.models.chat.errors import ChatEndedError, NoMoreRepliesError, Outcome
from tasks.models.chat.model import open_chat
from tasks.models.chat.request import Request
from tasks.models.endpoints import Endpoint
from tasks.settings.models import ChatBudget, ChatPrices
from tests.chat_server import Misbehaviour, chat_server
from tests.tasks.models.chat_worlds import DOCUMENT, call, calls, in_virtual_time, open_on, settings, summarise
from tests.waiting import wait_until

REQUEST = Request(b"", input_tokens=60, output_tokens=40)
PRICES = ChatPrices(input_per_million=10, output_per_million=100)


def spend(budget, count, *, used):
    """Ask so many times at once, each a second long; return what was used, how many were refused and how long it took."""

    async def one(account):
        tally = Tally()
        async with account.spending(REQUEST, tally, 1):
            await asyncio.sleep(1)
            tally.input_tokens, tally.output_tokens = used

    async def work():
        account = Budget(budget, PRICES)
        ended = await asyncio.gather(*(one(account) for _ in range(count)), return_exceptions=True)
        return account.used, [error for error in ended if isinstance(error, ChatEndedError)]

    (amount, refused), seconds = in_virtual_time(work())
    return amount, refused, seconds


def test_what_is_reserved_and_not_needed_is_spent_on_others():
    amount, refused, seconds = spend(ChatBudget(tokens=200), 9, used=(10, 5))
    assert amount.calls == 7 and amount.tokens == 105 and len(refused) == 2 and seconds == 6


def test_a_retry_is_no_call_and_is_reserved_like_one():
    async def request(account, calls, seconds, used):
        tally = Tally()
        async with account.spending(REQUEST, tally, calls):
            await asyncio.sleep(seconds)
            tally.input_tokens = used

    async def work():
        account = Budget(ChatBudget(calls=1, tokens=250), PRICES)
        retries = [asyncio.create_task(request(account, 0, seconds, 100)) for seconds in (5, 10)]
        await asyncio.sleep(1)
        third = asyncio.create_task(request(account, 1, 0, 0))
        await asyncio.wait([third], timeout=3)
        assert not third.done()
        ended = await asyncio.gather(third, *retries, return_exceptions=True)
        return account.used, ended

    (used, ended), seconds = in_virtual_time(work())
    assert isinstance(ended[0], ChatEndedError) and ended[1:] == [None, None]
    assert (used.calls, used.tokens, seconds) == (0, 200, 10)


@pytest.mark.parametrize(
    ("budget", "named"), [({"calls": 12}, "12 calls"), ({"tokens": 2000}, "2,000 tokens"), ({"money": 0.05}, "0.05 money")]
)
def test_no_budget_is_overdrawn(tmp_path, budget, named):
    recorded, prices = [], {"input_per_million": 5.0, "output_per_million": 50.0}
    with chat_server(summarise) as server, open_on(server, tmp_path, recorded.append, budget=budget, prices=prices) as model:
        with pytest.raises(ChatEndedError, match=named):
            model.ask_all(calls(2000, max_output_tokens=400))
        wait_until(lambda: server.replied == server.calls)
        assert server.calls == len(CallCache(tmp_path).recall(DOCUMENT)) > 10
    read, written = (sum(getattr(ended, what) for ended in recorded) for what in ("input_tokens", "output_tokens"))
    assert read + written <= budget.get("tokens", 10**9)
    cost = sum(ended.cost for ended in recorded)
    assert cost == pytest.approx((read * 5 + written * 50) / 1e6) and cost <= budget.get("money", 10**9)


@pytest.mark.parametrize(
    ("how", "outcome", "requests"), [(Misbehaviour.ERROR, Outcome.FAILED, 4), (Misbehaviour.BAD_REQUEST, Outcome.REJECTED, 1)]
)
def test_calls_lost_in_a_row_end_the_run_and_one_reply_between_them_does_not(tmp_path, how, outcome, requests):
    hopeless = {"retries": {"lost_until_end": 3, "first_wait_seconds": 0.01, "attempts": 4}, "limits": {"in_flight": 1}}

    def misbehave(request):
        return {"bad": how, "long": Misbehaviour.TOO_LONG}.get(request.prompt)

    with chat_server(summarise, misbehave=misbehave) as server, open_on(server, tmp_path, **hopeless) as model:
        assert len(model.ask_all([call("long", item=str(n)) for n in range(4)])) == 4, "that says nothing against the server"
        server.calls = 0
        replies = model.ask_all([call(text) for text in ("bad", "bad", "good", "bad", "bad")])
        assert [getattr(reply, "outcome", None) for reply in replies] == [outcome, outcome, None, outcome, outcome]
        with pytest.raises(ChatEndedError, match="3 calls in a row got no reply"):
            model.ask_all([call("bad")])
        assert server.calls == 5 * requests + 1


@pytest.fixture
def stopping():
    """Lets a server ask for the end of the run, which is forgotten with the test."""
    yield progress.request_stop
    progress.forget_stop()


def test_a_stopped_run_keeps_the_calls_in_flight_and_asks_no_more(tmp_path, stopping):
    def reply(request):
        if request.number == 10:
            stopping()
        return summarise(request)

    with chat_server(reply, seconds=0.3) as server, open_on(server, tmp_path, limits={"in_flight": 5}) as model:
        with pytest.raises(progress.StoppedError):
            model.ask_all(calls(100))
        assert 10 <= len(CallCache(tmp_path).recall(DOCUMENT)) == server.calls <= 20


def test_a_stopped_run_does_not_wait_for_a_server_that_hangs(tmp_path, stopping):
    def misbehave(_request):
        stopping()
        return Misbehaviour.HANG

    patient = {"deadlines": {"first_token_seconds": 600.0, "stop_seconds": 0.1}}
    with (
        chat_server(summarise, misbehave=misbehave) as server,
        open_on(server, tmp_path, **patient) as model,
        pytest.raises(progress.StoppedError),
    ):
        model.ask_all(calls(100))


def test_an_error_of_our_own_ends_the_run_before_it_costs_more(tmp_path):
    def broken(_value):
        raise ZeroDivisionError

    with (
        chat_server(summarise, seconds=0.01) as server,
        open_on(server, tmp_path, limits={"in_flight": 3}) as model,
        pytest.raises(ZeroDivisionError),
    ):
        model.ask_all([call(check=broken), *calls(50)])
    assert server.calls <= 6


def test_a_closed_model_cuts_what_is_in_flight_and_sends_nothing_more(tmp_path):
    ended, recorded, arrived = [], [], threading.Event()

    def misbehave(_request):
        arrived.set()
        return Misbehaviour.HANG

    def ask(model):
        with pytest.raises(ChatEndedError, match="was closed"):
            model.ask_all(calls(20))
        ended.append(True)

    patient = {"deadlines": {"first_token_seconds": 600.0, "total_seconds": 600.0}, "limits": {"in_flight": 2}}
    with chat_server(summarise, misbehave=misbehave) as server:
        model = open_on(server, tmp_path, recorded.append, **patient)
        asking = threading.Thread(target=ask, args=(model,))
        asking.start()
        assert arrived.wait(30)
        model.close()
        asking.join(30)
        assert ended == [True] and server.calls <= 2
    assert {record.outcome for record in recorded} == {Outcome.ENDED}


PATIENT = {"deadlines": {"first_token_seconds": 600.0, "total_seconds": 600.0}}


def hanging(number):
    return lambda request: Misbehaviour.HANG if f"text {number}" in request.text else None


def test_at_the_end_of_the_time_what_is_in_flight_is_cut_and_what_was_answered_counts(tmp_path):
    recorded = []
    with chat_server(summarise, misbehave=hanging(1)) as server, open_on(server, tmp_path, recorded.append, **PATIENT) as model:
        began = time.monotonic()
        good, late, other = model.ask_all(calls(3), until=began + 5.0)
        assert 5.0 <= time.monotonic() - began < 20
        assert isinstance(late, NoMoreRepliesError) and str(late).startswith("item 'text 1': no reply came in the time")
        assert (good.summary, other.summary) == ("0 txet", "2 txet")
        assert {call.item: call.outcome for call in recorded}["item 'text 1'"] is Outcome.FAILED
        known, unsent = model.ask_all([call("text 0"), call("text 9")], until=time.monotonic())
        assert known.summary == "0 txet" and isinstance(unsent, NoMoreRepliesError) and server.calls == 3
        assert model.ask_all([call("text 9")])[0].summary == "9 txet", "the run goes on"


@pytest.mark.torture
def test_calls_that_wait_for_a_place_or_for_a_busy_server_are_cut_as_well(tmp_path):
    narrow = PATIENT | {"limits": {"in_flight": 1}, "retries": {"busy_seconds": 900.0, "retry_after_seconds": 600.0}}
    busy = {"misbehave": lambda _: Misbehaviour.BUSY_FOR_A_WHILE, "retry_after": "3600"}
    with chat_server(summarise, **busy) as server, open_on(server, tmp_path, **narrow) as model:
        began = time.monotonic()
        assert {type(reply) for reply in model.ask_all(calls(4), until=began + 4.0)} == {NoMoreRepliesError}
        assert time.monotonic() - began < 15 and server.calls == 1


def test_a_caller_that_goes_on_gets_the_end_of_the_run_in_place_of_each_call(tmp_path):
    one = {"budget": {"calls": 1}, "limits": {"in_flight": 1}}
    with chat_server(summarise) as server, open_on(server, tmp_path, **one) as model:
        first, *others = model.ask_all(calls(3), goes_on=True)
        assert first.summary == "0 txet" and {type(reply) for reply in others} == {NoMoreRepliesError}
        assert str(others[1]).startswith("item 'text 2': the budget of 1 calls is reached") and server.calls == 1


def test_a_server_that_does_not_list_its_models_is_left_at_the_end_of_the_time(tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as silent:
        endpoint, began = Endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/v1"), time.monotonic()
        for until in (began + 0.3, began):
            with pytest.raises(ChatEndedError, match="did not list its models: no reply came in the time"):
                open_chat(endpoint, settings(), cache=CallCache(tmp_path), until=until)
        assert 0.3 <= time.monotonic() - began < 15
