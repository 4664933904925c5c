import asyncio
import random
import subprocess
import sys
import threading
import time

import pytest
from pydantic import field_validator

from storage.kept_replies import CallCache
from storage.records import identify
from tasks import progress
from tasks.models.chat import Counts, PurposeUsage
from tasks.models.chat_call import ChatReply, ModelCall
from tasks.models.chat_errors import (
    BudgetReachedError,
    ChatEndedError,
    ChatError,
    ChatRefusedError,
    ChatServerDownError,
    ContextTooLongError,
    InvalidReplyError,
    Outcome,
    RefusedReplyError,
    RejectedCallError,
    UnknownModelError,
)
from tests.chat_server import Misbehaviour, always, at, chat_server, sometimes
from tests.program import CORPUS
from tests.tasks.models.chat_worlds import DOCUMENT, Summary, call, calls, open_on, summarise
from tests.tasks.models.killed_asker import CALLS, IN_FLIGHT


def record(purpose, outcome, attempts=1):
    tokens = 0 if outcome == Outcome.CACHED else 10
    return ModelCall(purpose, "s", "i", "m", "h", "k", tokens, tokens // 2, 0.5 * attempts, 1.0 * attempts, attempts, outcome, "")


def test_calls_are_counted_by_purpose_and_cached_ones_apart():
    counts = Counts()
    for said in [
        record("read", Outcome.OK),
        record("analyze", Outcome.OK, attempts=3),
        record("analyze", Outcome.INVALID, attempts=2),
        record("analyze", Outcome.CACHED, attempts=0),
        record("analyze", Outcome.REJECTED, attempts=0),
    ]:
        counts.add(said)
    usage = counts.by_purpose()
    assert list(usage) == ["analyze", "read"]
    assert usage["read"] == PurposeUsage(1, 0, 0, 1, 10, 5, 0.5, 1.0)
    assert usage["analyze"] == PurposeUsage(
        calls=2, cached=1, failed=2, requests=5, input_tokens=30, output_tokens=15, cost=2.5, seconds=5.0
    )


def test_what_was_given_out_does_not_change_any_more():
    counts = Counts()
    counts.add(record("read", Outcome.OK))
    before = counts.by_purpose()
    counts.add(record("read", Outcome.OK))
    assert before["read"].calls == 1 and counts.by_purpose()["read"].calls == 2


def test_no_call_of_many_threads_is_lost():
    counts = Counts()
    threads = [threading.Thread(target=lambda: [counts.add(record("read", Outcome.OK)) for _ in range(500)]) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert counts.by_purpose()["read"].calls == 4000


ROOT = CORPUS.parents[1]

MENDED = {  # a second request, or a second question, puts it right
    Misbehaviour.BUSY,
    Misbehaviour.BUSY_FOR_A_WHILE,
    Misbehaviour.TIMEOUT,
    Misbehaviour.ERROR,
    Misbehaviour.UNAVAILABLE,
    Misbehaviour.HANG,
    Misbehaviour.HANG_LATER,
    Misbehaviour.DRIP,
    Misbehaviour.RESET,
    Misbehaviour.CUT,
    Misbehaviour.GARBAGE,
    Misbehaviour.ERROR_EVENT,
    Misbehaviour.LENGTH,
    Misbehaviour.PROSE,
    Misbehaviour.INVALID_JSON,
    Misbehaviour.DUPLICATE_KEYS,
    Misbehaviour.NAN,
    Misbehaviour.WRONG_SCHEMA,
    Misbehaviour.UNKNOWN_IDS,
    Misbehaviour.EMPTY,
    Misbehaviour.HUGE,
    Misbehaviour.WHITESPACE,
    Misbehaviour.TWO_CHOICES,
}
GIVEN_UP = {
    Misbehaviour.TOO_LONG: ContextTooLongError,
    Misbehaviour.BAD_REQUEST: RejectedCallError,
    Misbehaviour.PACKED: RejectedCallError,
    Misbehaviour.REFUSAL: RefusedReplyError,
    Misbehaviour.FILTERED: RefusedReplyError,
}
ENDING = {
    Misbehaviour.UNAUTHORISED: ChatRefusedError,
    Misbehaviour.QUOTA: ChatRefusedError,
    Misbehaviour.NOT_FOUND: UnknownModelError,
    Misbehaviour.MOVED: UnknownModelError,
    Misbehaviour.WRONG_MODEL: UnknownModelError,
}
IMPATIENT = {
    "deadlines": {"first_token_seconds": 0.4, "idle_seconds": 0.2, "total_seconds": 1.0, "models_seconds": 2.0},
    "retries": {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.02, "busy_seconds": 0.1, "attempts": 3},
}


def backwards(count):
    return [f"text {number}"[::-1] for number in range(count)]


def test_every_misbehaviour_has_its_verdict():
    assert {*MENDED, *GIVEN_UP, *ENDING} == set(Misbehaviour)


def test_replies_come_in_the_order_of_the_calls_and_no_more_than_allowed_are_in_flight(tmp_path):
    with chat_server(summarise, seconds=0.02) as server, open_on(server, tmp_path, limits={"in_flight": 4}) as model:
        replies = model.ask_all(calls(40))
        assert [reply.value.summary for reply in replies] == backwards(40)
        assert server.most_at_once == 4
        assert model.ask_all([]) == []
    assert all(reply.attempts == 1 and not reply.cached and reply.seconds >= 0.02 for reply in replies)


def test_a_request_holds_text_form_and_parameters(tmp_path):
    with chat_server(summarise) as server, open_on(server, tmp_path) as model:
        model.ask_all([call("look")])
        body = server.requests[0].body
    assert body["model"] == "scripted" and body["temperature"] == 0 and body["max_tokens"] == 100
    assert body["response_format"]["json_schema"]["schema"] == Summary.model_json_schema()
    assert body["messages"] == [{"role": "user", "content": "look"}]


@pytest.mark.parametrize("how", sorted(MENDED))
def test_what_goes_wrong_once_is_put_right(tmp_path, how):
    with (
        chat_server(summarise, misbehave=at({2: how}), drip_seconds=0.02, retry_after="0") as server,
        open_on(server, tmp_path, **IMPATIENT) as model,
    ):
        replies = model.ask_all(calls(3))
        assert server.calls == 4
    assert [reply.value.summary for reply in replies] == backwards(3)
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == 3


@pytest.mark.parametrize("how", sorted(MENDED))
def test_what_stays_wrong_fails_by_name_and_the_others_go_on(tmp_path, how):
    def misbehave(request):
        return how if "text 1" in request.text else None

    with (
        chat_server(summarise, misbehave=misbehave, drip_seconds=0.02, retry_after="0.1") as server,
        open_on(server, tmp_path, **IMPATIENT) as model,
    ):
        good, bad, other = model.ask_all(calls(3))
    assert [good.value.summary, other.value.summary] == ["0 txet", "2 txet"]
    assert isinstance(bad, ChatError) and str(bad).startswith("item 'text 1': ")
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == 2


@pytest.mark.parametrize(("how", "kind"), GIVEN_UP.items())
def test_what_cannot_pass_is_not_sent_again(tmp_path, how, kind):
    with chat_server(summarise, misbehave=at({1: how})) as server, open_on(server, tmp_path, limits={"in_flight": 1}) as model:
        bad, *others = model.ask_all(calls(3))
        assert server.calls == 3
    assert type(bad) is kind and [reply.value.summary for reply in others] == backwards(3)[1:]


@pytest.mark.parametrize(("how", "kind"), ENDING.items())
def test_what_spoils_all_calls_ends_the_run_and_keeps_what_is_done(tmp_path, how, kind):
    with chat_server(summarise, misbehave=at({5: how})) as server, open_on(server, tmp_path, limits={"in_flight": 1}) as model:
        with pytest.raises(kind):
            model.ask_all(calls(30))
        assert server.calls == 5
        with pytest.raises(kind):
            model.ask_all(calls(6))
        assert server.calls == 5
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == 4


def test_too_long_a_prompt_is_told_with_its_numbers(tmp_path):
    small = {"misbehave": always(Misbehaviour.TOO_LONG), "max_model_len": 4000}
    with chat_server(summarise, **small) as server, open_on(server, tmp_path) as model:
        assert model.context_tokens == 4000
        (error,) = model.ask_all([call("word " * 3000)])
    assert error.limit_tokens == 4000 and error.input_tokens > 4000
    assert "the model takes 4000 in all" in str(error)


def test_the_one_second_question_names_the_error(tmp_path):
    with chat_server(summarise, misbehave=at({1: Misbehaviour.UNKNOWN_IDS})) as server, open_on(server, tmp_path) as model:
        model.ask_all([call()])
        first, second = server.requests
    question, said, complaint = second.body["messages"]
    assert [question] == first.body["messages"]
    assert said["role"] == "assistant" and "nobody" in said["content"]
    assert complaint["role"] == "user" and "node id nobody was not shown" in complaint["content"]


def test_twenty_percent_of_errors_cost_less_than_a_third_more_requests_and_lose_nothing(tmp_path):
    misbehave = sometimes({Misbehaviour.BUSY: 0.1, Misbehaviour.ERROR: 0.1}, seed=1)
    patient = {"retries": {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.1, "attempts": 10}}
    with chat_server(summarise, misbehave=misbehave, keep_requests=False) as server, open_on(server, tmp_path, **patient) as model:
        replies = model.ask_all(calls(2000))
        assert server.calls <= 2000 * 1.3
        assert model.usage()["analyze"].requests == server.calls
    assert [reply.value.summary for reply in replies] == backwards(2000)


def test_mutated_replies_over_the_wire_are_values_or_named_errors(tmp_path):
    dice = random.Random(7)

    def mutated(_request):
        text = list('{"summary": "a text of some words", "node_id": "n1"}')
        for _ in range(dice.randrange(4)):
            text[dice.randrange(len(text))] = dice.choice(['"', "{", "}", "\\", "\0", "\ud800", "é", "\n", "1", ""])
        return "".join(text)

    with chat_server(mutated) as server, open_on(server, tmp_path, retries={"lost_until_end": 1000}) as model:
        replies = model.ask_all(calls(300))
    good = [reply for reply in replies if isinstance(reply, ChatReply)]
    assert {type(reply) for reply in replies} == {ChatReply, InvalidReplyError} and len(good) > 100
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == len(good)


def test_a_cached_reply_costs_nothing_and_is_counted_apart(tmp_path):
    with chat_server(summarise) as server:
        with open_on(server, tmp_path) as model:
            first = model.ask_all(calls(5))
        with open_on(server, tmp_path, budget={"calls": 0}) as model:
            second = model.ask_all(calls(5))
            usage = model.usage()["analyze"]
        assert server.calls == 5
    assert [reply.value for reply in first] == [reply.value for reply in second]
    assert all(reply.cached and reply.attempts == reply.input_tokens == reply.output_tokens == 0 for reply in second)
    assert (usage.calls, usage.cached, usage.requests, usage.input_tokens, usage.cost) == (0, 5, 0, 0, 0)


def test_a_cached_reply_that_fails_todays_check_is_asked_for_again(tmp_path):
    def count(request):
        return {"summary": str(request.number), "node_id": "n1"}

    with chat_server(count) as server, open_on(server, tmp_path) as model:
        model.ask_all([call()])
        (reply,) = model.ask_all([call(check=lambda value: "stale" if value.summary == "1" else "")])
    assert reply.value.summary == "2" and not reply.cached


def test_a_forgotten_document_is_asked_for_again(tmp_path):
    other = identify("other")
    with chat_server(summarise) as server, open_on(server, tmp_path) as model:
        model.ask_all([call(), call(subject=other)])
        CallCache(tmp_path).forget(DOCUMENT)
        kept = model.ask_all([call(), call(subject=other)])
    assert [reply.cached for reply in kept] == [False, True]


def test_a_reply_that_another_run_got_meanwhile_is_not_asked_for_again(tmp_path):
    with chat_server(summarise) as server, open_on(server, tmp_path) as model, open_on(server, tmp_path) as other:
        model.ask_all(calls(3))
        other.ask_all(calls(5))
        replies = model.ask_all(calls(6))
        assert server.calls == 6
    assert [reply.cached for reply in replies] == [True] * 5 + [False]
    assert [reply.value.summary for reply in replies] == backwards(6)


def test_a_budget_of_calls_stops_cleanly_and_a_larger_one_goes_on(tmp_path):
    with chat_server(summarise, seconds=0.01) as server:
        with open_on(server, tmp_path, budget={"calls": 12}) as model:
            with pytest.raises(BudgetReachedError, match=r"the budget of 12 calls is reached: 12 used"):
                model.ask_all(calls(30))
            with pytest.raises(BudgetReachedError):
                model.ask_all(calls(30))
        assert server.calls == server.replied == 12 == len(CallCache(tmp_path).recall(DOCUMENT))
        with open_on(server, tmp_path) as model:
            assert len(model.ask_all(calls(30))) == 30
        assert server.calls == 30


@pytest.mark.parametrize(("budget", "named"), [({"tokens": 2000}, "2,000 tokens"), ({"money": 0.05}, "0.05 money")])
def test_a_budget_of_tokens_or_money_is_not_overdrawn(tmp_path, budget, named):
    prices = {"input_per_million": 5.0, "output_per_million": 50.0}
    with chat_server(summarise) as server, open_on(server, tmp_path, budget=budget, prices=prices) as model:
        with pytest.raises(BudgetReachedError, match=named):
            model.ask_all(calls(2000, max_output_tokens=400))
        usage = model.usage()["analyze"]
        assert server.replied == server.calls == len(CallCache(tmp_path).recall(DOCUMENT)) > 10
    assert usage.input_tokens + usage.output_tokens <= budget.get("tokens", 10**9)
    assert usage.cost <= budget.get("money", 10**9)
    assert usage.cost == pytest.approx((usage.input_tokens * 5 + usage.output_tokens * 50) / 1e6)


def test_after_a_kill_only_the_calls_in_flight_are_made_again(tmp_path):
    with chat_server(summarise, seconds=0.02) as server:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.tasks.models.killed_asker", server.base_url, str(tmp_path)], cwd=ROOT
        )
        while server.replied < 60 and child.poll() is None:
            time.sleep(0.005)
        child.kill()
        assert child.wait() == -9
        with open_on(server, tmp_path, limits={"in_flight": IN_FLIGHT}) as model:
            replies = model.ask_all(calls(CALLS))
            usage = model.usage()["analyze"]
        assert server.calls <= CALLS + IN_FLIGHT
    assert [reply.value.summary for reply in replies] == backwards(CALLS)
    assert usage.cached >= 60 - IN_FLIGHT


def test_a_server_that_is_not_there_is_named_at_once(tmp_path):
    with chat_server(summarise) as server:
        pass
    with pytest.raises(
        ChatServerDownError, match=rf"no chat server: {server.base_url} takes no connection .*FLOWREADER_CHAT_BASE_URL"
    ):
        open_on(server, tmp_path)


def test_a_server_that_goes_and_comes_back_is_waited_for(tmp_path):
    def reply(request):
        if request.number == 20:
            threading.Thread(target=blink).start()
        return summarise(request)

    def blink():
        server.go_away()
        time.sleep(0.5)
        server.come_back()

    patient = {"retries": {"down_seconds": 60.0, "first_wait_seconds": 0.01, "longest_wait_seconds": 0.05, "attempts": 10}}
    with chat_server(reply, seconds=0.01) as server, open_on(server, tmp_path, **patient, limits={"in_flight": 16}) as model:
        replies = model.ask_all(calls(100))
    assert [reply.value.summary for reply in replies] == backwards(100)


def test_a_server_that_stays_away_ends_the_run_and_another_run_goes_on(tmp_path):
    def reply(request):
        if request.number == 20:
            threading.Thread(target=server.go_away).start()
        return summarise(request)

    hasty = {"limits": {"in_flight": 16}, "retries": {"down_seconds": 0.1, "attempts": 10, "first_wait_seconds": 0.01}}
    with chat_server(reply, seconds=0.01) as server, open_on(server, tmp_path, **hasty) as model:
        with pytest.raises(ChatServerDownError, match="what is done is kept"):
            model.ask_all(calls(100))
        done = len(CallCache(tmp_path).recall(DOCUMENT))
        server.come_back()
        with open_on(server, tmp_path, **hasty) as again:
            assert len(again.ask_all(calls(100))) == 100
            assert again.usage()["analyze"].cached == done >= 1


def test_calls_lost_one_after_the_other_end_the_run(tmp_path):
    hopeless = {"retries": {"attempts": 2, "lost_until_end": 5, "first_wait_seconds": 0.01}}
    with (
        chat_server(summarise, misbehave=always(Misbehaviour.ERROR)) as server,
        open_on(server, tmp_path, **hopeless) as model,
        pytest.raises(ChatServerDownError, match="5 calls in a row got no reply"),
    ):
        model.ask_all(calls(500))
    assert server.calls < 300


def test_a_stopped_run_keeps_the_calls_in_flight_and_asks_no_more(tmp_path):
    def reply(request):
        if request.number == 10:
            progress.request_stop()
        return summarise(request)

    try:
        with chat_server(reply, seconds=0.3) as server, open_on(server, tmp_path, limits={"in_flight": 5}) as model:
            with pytest.raises(progress.StoppedError):
                model.ask_all(calls(100))
            assert 10 <= len(CallCache(tmp_path).recall(DOCUMENT)) == server.calls <= 20
    finally:
        progress.forget_stop()


def test_a_stopped_run_does_not_wait_for_a_server_that_hangs(tmp_path):
    def misbehave(_request):
        progress.request_stop()
        return Misbehaviour.HANG

    patient = {"deadlines": {"first_token_seconds": 600.0, "stop_seconds": 0.1}}
    try:
        with (
            chat_server(summarise, misbehave=misbehave) as server,
            open_on(server, tmp_path, **patient) as model,
            pytest.raises(progress.StoppedError),
        ):
            model.ask_all(calls(100))
    finally:
        progress.forget_stop()


def test_one_call_can_be_awaited_from_any_event_loop(tmp_path):
    async def ask(model):
        good = await asyncio.gather(*(model.ask(each) for each in calls(20)))
        with pytest.raises(RefusedReplyError):
            await model.ask(call("refuse"))
        return good, await model.ask(call("text 3"))

    def misbehave(request):
        return Misbehaviour.REFUSAL if request.prompt == "refuse" else None

    with chat_server(summarise, misbehave=misbehave, seconds=0.05) as server, open_on(server, tmp_path) as model:
        replies, cached = asyncio.run(ask(model))
        assert server.most_at_once > 10
    assert [reply.value.summary for reply in replies] == backwards(20) and cached.cached


def test_many_threads_may_ask_at_once(tmp_path):
    with chat_server(summarise, seconds=0.01) as server, open_on(server, tmp_path, limits={"in_flight": 8}) as model:
        found = {}
        asking = [
            threading.Thread(target=lambda n=n: found.update({n: model.ask_all([call(f"{n} {i}") for i in range(20)])}))
            for n in range(5)
        ]
        for thread in asking:
            thread.start()
        for thread in asking:
            thread.join()
        assert server.most_at_once <= 8
    assert all(found[n][i].value.summary == f"{n} {i}"[::-1] for n in range(5) for i in range(20))


def test_the_listener_hears_of_every_call_once(tmp_path):
    heard = []
    declined = at({2: Misbehaviour.REFUSAL})
    with (
        chat_server(summarise, misbehave=declined) as server,
        open_on(server, tmp_path, heard.append, limits={"in_flight": 1}) as model,
    ):
        model.ask_all(calls(3))
        model.ask_all(calls(1))
    assert [record.outcome for record in heard] == [Outcome.OK, Outcome.REFUSED, Outcome.OK, Outcome.CACHED]
    ok, refused, _, cached = heard
    assert (ok.purpose, ok.subject, ok.item, ok.model, ok.error) == ("analyze", DOCUMENT, "item 'text 0'", "scripted", "")
    assert ok.key == cached.key != refused.key and ok.attempts == 1 and ok.seconds > 0 and ok.output_tokens > 0
    assert refused.error == "item 'text 1': the model declined: I would rather not."
    assert cached.attempts == cached.input_tokens == cached.seconds == 0


def test_a_damaged_picture_fails_by_name_before_anything_is_sent(tmp_path):
    with chat_server(summarise) as server, open_on(server, tmp_path) as model:
        bad, good = model.ask_all([call("look", images=(b"no picture",)), call()])
        assert server.calls == 1
    assert isinstance(bad, RejectedCallError) and "cannot be read" in str(bad) and isinstance(good, ChatReply)


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


def test_a_cached_reply_that_fails_todays_form_is_asked_for_again(tmp_path):
    class Longer(Summary):
        @field_validator("summary")
        @classmethod
        def is_long(cls, value):
            assert len(value) > 10
            return value

    Longer.__name__ = Longer.__qualname__ = Summary.__name__
    Longer.model_config = {**Summary.model_config, "title": "Summary"}
    Longer.model_rebuild(force=True)

    def reply(request):
        return {"summary": "x" * 6 * request.number, "node_id": "n1"}

    with chat_server(reply) as server, open_on(server, tmp_path) as model:
        model.ask_all([call()])
        (second,) = model.ask_all([call(form=Longer)])
    assert second.value.summary == "x" * 12 and not second.cached


def test_the_key_is_sent_and_never_shown(tmp_path, caplog):
    secret = "sk-very-secret-0123456789"
    heard = []
    with chat_server(summarise, api_key=secret) as server:
        with open_on(server, tmp_path, key=secret) as model:
            assert model.ask_all([call()])[0].value.node_id == "n1"
            assert secret not in repr(vars(model)) + repr(model)
        with pytest.raises(ChatRefusedError, match=r"no such key: Bearer \(the key\)") as refused:
            server.api_key = "another"
            open_on(server, tmp_path, heard.append, key=secret)
    chain = [refused.value, refused.value.__cause__, refused.value.__context__]
    assert not any(secret in f"{error!r}{error}" for error in chain) and secret not in caplog.text and not heard


def test_the_key_is_not_shown_to_the_listener(tmp_path):
    secret, heard = "sk-very-secret-0123456789", []
    with chat_server(summarise) as server, open_on(server, tmp_path, heard.append, key=secret) as model:
        (error,) = model.ask_all([call(check=lambda _value: f"not {secret}")])
    assert isinstance(error, InvalidReplyError) and "not (the key)" in heard[0].error and secret not in heard[0].error


def test_a_retry_does_not_overdraw_the_budget(tmp_path):
    # A request may take 134 tokens at most; one that is cut takes some 35 of them, its prompt.
    with chat_server(summarise, misbehave=always(Misbehaviour.CUT)) as server:
        with (
            open_on(server, tmp_path, budget={"tokens": 200, "calls": 1}, retries={"attempts": 10}) as model,
            pytest.raises(BudgetReachedError, match="the budget of 200 tokens is reached"),
        ):
            model.ask_all(calls(1))
        usage = model.usage()["analyze"]
        assert 1 < server.calls < 10 and usage.input_tokens + usage.output_tokens <= 200


def test_a_closed_model_cuts_what_is_in_flight_and_sends_nothing_more(tmp_path):
    ended, heard, arrived = [], [], threading.Event()

    def misbehave(_request):
        arrived.set()
        return Misbehaviour.HANG

    def ask(model):
        with pytest.raises(ChatEndedError, match="was closed"):
            model.ask_all(calls(20))
        ended.append(True)

    patient = {"deadlines": {"first_token_seconds": 600.0, "total_seconds": 600.0}, "limits": {"in_flight": 2}}
    with chat_server(summarise, misbehave=misbehave) as server:
        model = open_on(server, tmp_path, heard.append, **patient)
        asking = threading.Thread(target=ask, args=(model,))
        asking.start()
        assert arrived.wait(30)
        model.close()
        asking.join(30)
        assert ended == [True] and server.calls <= 2
    assert {record.outcome for record in heard} == {Outcome.ENDED}


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
    assert [reply.value.summary for reply in found] == backwards(10)
