import threading
import time

import pytest

from storage.runs.replies import CallCache
from tasks.models.chat.errors import ChatEndedError, ChatError, Outcome
from tests.chat_server import Misbehaviour, at, chat_server
from tests.tasks.models.chat_worlds import DOCUMENT, Summary, call, calls, open_on, summarise

MENDED = (  # a second request, or a second question, puts it right; what spoils words alone is tested where they are read
    Misbehaviour.BUSY_FOR_A_WHILE,
    Misbehaviour.ERROR,
    Misbehaviour.UNAVAILABLE,
    Misbehaviour.HANG,
    Misbehaviour.RESET,
    Misbehaviour.ERROR_EVENT,
    Misbehaviour.UNKNOWN_IDS,
    Misbehaviour.WHITESPACE,
)
HASTE = {"retries": {"first_wait_seconds": 0.01, "longest_wait_seconds": 0.02, "busy_seconds": 0.1, "attempts": 3}}


def impatient(how, seconds):
    """Settings for a server that misbehaves so: one that hangs has a deadline that others might miss on a busy machine."""
    return HASTE | ({"deadlines": {"first_token_seconds": seconds}} if how is Misbehaviour.HANG else {})


def backwards(count):
    return [f"text {number}"[::-1] for number in range(count)]


def test_replies_come_in_the_order_of_the_calls_and_no_more_than_allowed_are_in_flight(tmp_path):
    with chat_server(summarise, seconds=0.02) as server, open_on(server, tmp_path, limits={"in_flight": 4}) as model:
        replies = model.ask_all(calls(40))
        assert [reply.summary for reply in replies] == backwards(40)
        assert server.most_at_once == 4
        assert model.ask_all([]) == []


def test_a_request_is_a_stream_with_usage_in_the_form_asked_for(tmp_path):
    with chat_server(summarise) as server, open_on(server, tmp_path) as model:
        model.ask_all([call("look")])
        body = server.requests[0].body
    form = {"name": "Summary", "schema": Summary.model_json_schema(), "strict": True}
    assert body == {
        "model": "scripted",
        "messages": [{"role": "user", "content": "look"}],
        "max_tokens": 100,
        "temperature": 0.0,
        "stream": True,
        "stream_options": {"include_usage": True},
        "response_format": {"type": "json_schema", "json_schema": form},
    }


@pytest.mark.parametrize("how", MENDED)
def test_what_goes_wrong_once_is_put_right(tmp_path, how):
    with (
        chat_server(summarise, misbehave=at({2: how}), retry_after="0") as server,
        open_on(server, tmp_path, **impatient(how, 1.5)) as model,
    ):
        replies = model.ask_all(calls(3))
        assert server.calls == 4
    assert [reply.summary for reply in replies] == backwards(3)
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == 3


@pytest.mark.parametrize("how", MENDED)
def test_what_stays_wrong_fails_by_name_and_the_others_go_on(tmp_path, how):
    def misbehave(request):
        return how if "text 1" in request.text else None

    with (
        chat_server(summarise, misbehave=misbehave, retry_after="0.1") as server,
        open_on(server, tmp_path, **impatient(how, 0.4)) as model,
    ):
        good, bad, other = model.ask_all(calls(3))
    assert [good.summary, other.summary] == ["0 txet", "2 txet"]
    assert isinstance(bad, ChatError) and str(bad).startswith("item 'text 1': ")
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == 2


@pytest.mark.parametrize(
    ("how", "outcome"),
    [
        (Misbehaviour.TOO_LONG, Outcome.TOO_LONG),
        (Misbehaviour.BAD_REQUEST, Outcome.REJECTED),
        (Misbehaviour.REFUSAL, Outcome.REFUSED),
    ],
)
def test_what_cannot_pass_is_not_sent_again(tmp_path, how, outcome):
    with chat_server(summarise, misbehave=at({1: how})) as server, open_on(server, tmp_path, limits={"in_flight": 1}) as model:
        bad, *others = model.ask_all(calls(3))
        assert server.calls == 3
    assert bad.outcome is outcome and [reply.summary for reply in others] == backwards(3)[1:]


@pytest.mark.parametrize("how", [Misbehaviour.UNAUTHORISED, Misbehaviour.MOVED, Misbehaviour.WRONG_MODEL])
def test_what_spoils_all_calls_ends_the_run_and_keeps_what_is_done(tmp_path, how):
    with chat_server(summarise, misbehave=at({5: how})) as server, open_on(server, tmp_path, limits={"in_flight": 1}) as model:
        with pytest.raises(ChatEndedError):
            model.ask_all(calls(30))
        assert server.calls == 5
        with pytest.raises(ChatEndedError):
            model.ask_all(calls(6))
        assert server.calls == 5
    assert len(CallCache(tmp_path).recall(DOCUMENT)) == 4


def test_the_one_second_question_names_the_error(tmp_path):
    with chat_server(summarise, misbehave=at({1: Misbehaviour.UNKNOWN_IDS})) as server, open_on(server, tmp_path) as model:
        model.ask_all([call()])
        first, second = server.requests
    question, answer, complaint = second.body["messages"]
    assert [question] == first.body["messages"]
    assert answer["role"] == "assistant" and "nobody" in answer["content"]
    assert complaint["role"] == "user" and "node id nobody was not shown" in complaint["content"]


def test_a_cached_reply_costs_nothing_and_is_counted_apart(tmp_path):
    recorded, prices = [], {"input_per_million": 1.0}
    with chat_server(summarise) as server:
        with open_on(server, tmp_path) as model:
            first = model.ask_all(calls(5))
        with open_on(server, tmp_path, recorded.append, budget={"calls": 0}, prices=prices) as model:
            assert model.ask_all(calls(5)) == first
        assert server.calls == 5
    assert [ended.outcome for ended in recorded] == [Outcome.CACHED] * 5
    assert not any(ended.attempts + ended.input_tokens + ended.output_tokens + ended.cost + ended.seconds for ended in recorded)


def test_a_cached_reply_that_fails_todays_check_is_asked_for_again(tmp_path):
    def count(request):
        return {"summary": str(request.number), "node_id": "n1"}

    with chat_server(count) as server, open_on(server, tmp_path) as model:
        model.ask_all([call()])
        (reply,) = model.ask_all([call(check=lambda value: "stale" if value.summary == "1" else "")])
    assert reply.summary == "2"


def test_a_reply_that_another_run_got_meanwhile_is_not_asked_for_again(tmp_path):
    with chat_server(summarise) as server, open_on(server, tmp_path) as model, open_on(server, tmp_path) as other:
        model.ask_all(calls(3))
        other.ask_all(calls(5))
        replies = model.ask_all(calls(6))
        assert server.calls == 6
    assert [reply.summary for reply in replies] == backwards(6)


def test_a_server_that_is_not_there_is_named_at_once(tmp_path):
    with chat_server(summarise) as server:
        pass
    with pytest.raises(ChatEndedError, match=rf"no chat server: {server.base_url} takes no connection .*FLOWREADER_CHAT_BASE_URL"):
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
    assert [reply.summary for reply in replies] == backwards(100)


def test_a_server_that_stays_away_ends_the_run_and_another_run_goes_on(tmp_path):
    def reply(request):
        if request.number == 20:
            threading.Thread(target=server.go_away).start()
        return summarise(request)

    hasty = {"limits": {"in_flight": 16}, "retries": {"down_seconds": 0.1, "attempts": 10, "first_wait_seconds": 0.01}}
    with chat_server(reply, seconds=0.01) as server, open_on(server, tmp_path, **hasty) as model:
        with pytest.raises(ChatEndedError, match="what is done is kept"):
            model.ask_all(calls(100))
        done = len(CallCache(tmp_path).recall(DOCUMENT))
        server.come_back()
        before = server.calls
        with open_on(server, tmp_path, **hasty) as again:
            assert len(again.ask_all(calls(100))) == 100
        assert server.calls - before == 100 - done < 100


def test_the_listener_hears_of_every_call_once(tmp_path):
    recorded = []
    declined = at({2: Misbehaviour.REFUSAL})
    with (
        chat_server(summarise, misbehave=declined) as server,
        open_on(server, tmp_path, recorded.append, limits={"in_flight": 1}) as model,
    ):
        model.ask_all(calls(3))
        model.ask_all(calls(1))
    assert [record.outcome for record in recorded] == [Outcome.OK, Outcome.REFUSED, Outcome.OK, Outcome.CACHED]
    ok, refused, _, cached = recorded
    assert (ok.purpose, ok.subject, ok.item, ok.model, ok.error) == ("analyze", DOCUMENT, "item 'text 0'", "scripted", "")
    assert ok.key == cached.key != refused.key and ok.attempts == 1 and ok.seconds > 0 and ok.output_tokens > 0
    assert refused.error == "item 'text 1': the model declined: I would rather not."


def test_a_damaged_picture_fails_by_name_before_anything_is_sent(tmp_path):
    with chat_server(summarise) as server, open_on(server, tmp_path) as model:
        bad, good = model.ask_all([call("look", images=(b"no picture",)), call()])
        assert server.calls == 1
    assert bad.outcome is Outcome.REJECTED and "cannot be read" in str(bad) and isinstance(good, Summary)


def test_the_key_is_sent_and_never_shown(tmp_path, caplog):
    secret, recorded = "sk-very-secret-0123456789", []
    with chat_server(summarise, api_key=secret) as server:
        with open_on(server, tmp_path, recorded.append, key=secret) as model:
            (error,) = model.ask_all([call(check=lambda _value: f"not {secret}")])
            assert error.outcome is Outcome.INVALID and secret not in repr(vars(model)) + repr(model)
        with pytest.raises(ChatEndedError, match=r"no such key: Bearer \(the key\)") as refused:
            server.api_key = "another"
            open_on(server, tmp_path, key=secret)
    assert "not (the key)" in recorded[0].error and secret not in recorded[0].error
    chain = [refused.value, refused.value.__cause__, refused.value.__context__]
    assert not any(secret in f"{error!r}{error}" for error in chain) and secret not in caplog.text
