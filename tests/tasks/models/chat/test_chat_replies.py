import json
import random
from typing import Annotated, Literal

import httpx
import pytest
from pydantic import Field

from tasks.models.chat.errors import ChatEndedError, ChatError, ContextTooLongError
from tasks.models.chat.forms import Form
from tasks.models.chat.reply import SHOWN_CHARACTERS, DeclinedReplyError, UnusableReplyError, parse_reply, value_of
from tasks.models.chat.request import Request
from tasks.models.chat.stream import BrokenStreamError, Completion, Gathering
from tasks.models.endpoints import Endpoint
from tasks.models.faults import FaultError, FaultKind, problem_of, read_retry_after
from tests.tasks.models.chat_worlds import call


class Link(Form):
    target: str
    weight: float
    kind: Literal["explains", "continues"]


class Analysis(Form):
    summary: str
    keywords: tuple[str, ...]
    links: list[Link]
    pages: Annotated[int, Field(ge=1)]


GOOD = (
    '{"summary": "Sales \\u00e9 grew", "keywords": ["sales", "north"], "links": '
    '[{"target": "n2", "weight": 0.5, "kind": "explains"}], "pages": 3}'
)


def test_json_alone_becomes_a_value():
    value = parse_reply(f" \n{GOOD}\n", Analysis)
    assert value.summary == "Sales é grew" and value.keywords == ("sales", "north") and value.links[0].weight == 0.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "Invalid JSON: EOF"),
        (f"Here it is: {GOOD}", "the reply: Invalid JSON: expected value"),
        (f"{GOOD} There.", "trailing characters"),
        (GOOD.replace("0.5", "NaN"), "links.0.weight: Input should be a finite number"),
        (GOOD.replace("3", '"3"'), "pages: Input should be a valid integer"),
        (GOOD.replace("3", "0"), "pages: Input should be greater than or equal to 1"),
        (GOOD.replace("3", "9" * 5000), "number out of range"),
        (GOOD.replace("explains", "obeys"), "links.0.kind: Input should be 'explains' or 'continues'"),
        (GOOD.replace("Sales", "\\ud800"), "Invalid JSON"),
        (GOOD.replace("Sales", "\ud800"), "unicode"),
        ("[" * 100_000, "recursion limit"),
        ("[]", "the reply: Input should be an object"),
        ('{"a": 1, "b": 2, "c": 3}', "and 4 more errors"),
    ],
)
def test_anything_else_is_refused_in_words_for_the_model(text, says):
    with pytest.raises(UnusableReplyError, match=says) as refused:
        parse_reply(text, Analysis)
    assert len(str(refused.value)) < 4 * 2 * SHOWN_CHARACTERS and str(refused.value).isprintable()


def test_mutated_replies_are_values_or_refused():
    dice = random.Random(3)
    signs = ['"', "{", "}", "[", "]", ",", ":", "\\", "\0", "\ud800", "é", " ", "\n", "9", "-", "e", "null", "NaN", "\\u", "𝄞"]
    refused = 0
    for _ in range(2000):
        text = list(GOOD)
        for _ in range(dice.randrange(1, 5)):
            where = dice.randrange(len(text))
            change = dice.randrange(4)
            if change == 0:
                text[where] = dice.choice(signs)
            elif change == 1:
                del text[where]
            elif change == 2:
                text[where:where] = text[dice.randrange(len(text)) :][:20]
            else:
                text = text[: max(1, where)] if dice.random() < 0.2 else [*text, dice.choice(signs)]
        try:
            assert isinstance(parse_reply("".join(text), Analysis), Analysis)
        except UnusableReplyError:
            refused += 1
    assert 1000 < refused < 2000


@pytest.mark.parametrize(
    ("more", "kind", "says"),
    [
        ({"problem": "it has more than one choice"}, UnusableReplyError, "more than one choice"),
        ({"finish_reason": "length"}, UnusableReplyError, "cut after 100 tokens"),
        ({"finish_reason": "abort"}, UnusableReplyError, "ended by 'abort'"),
        ({"refusal": "No.\x1b[31m"}, DeclinedReplyError, r"No\. \[31m"),
        ({"finish_reason": "content_filter"}, DeclinedReplyError, "filter"),
    ],
)
def test_a_reply_that_did_not_end_by_itself_or_declines_is_no_value_though_it_fits(more, kind, says):
    with pytest.raises(kind, match=says):
        value_of(Completion(**({"text": '{"summary": "s", "node_id": "n1"}', "finish_reason": "stop"} | more)), call())


def test_the_name_of_a_field_that_nobody_asked_for_is_not_said_to_the_model():
    with pytest.raises(UnusableReplyError) as refused:
        parse_reply(GOOD.replace('"weight"', '"Obey me": 1, "weight"').replace('"pages"', '"Now obey": 2, "pages"'), Analysis)
    assert str(refused.value) == "links.0: Extra inputs are not permitted; the reply: Extra inputs are not permitted"


def gathered(*events):
    gathering = Gathering()
    for event in events:
        gathering.take(event, "delta")
    return gathering


def choice(finish=None, **delta):
    return {"model": "m", "choices": [{"index": 0, "delta": delta, "finish_reason": finish}]}


def test_only_words_count_as_progress():
    gathering = Gathering()
    spoken = [{"role": "assistant", "content": ""}, {"content": "Gr\u00fc"}, {"content": "n"}]
    assert [gathering.take(choice(**delta), "delta") for delta in spoken] == [False, True, True]
    assert not gathering.take(choice("stop"), "delta") and gathering.completion().text == "Gr\u00fcn"
    thinking = Gathering()
    assert all(thinking.take(choice(**{name: "hm"}), "delta") for name in ("reasoning_content", "reasoning", "refusal"))
    assert thinking.reply.refusal == "hm" and thinking.pieces == []


@pytest.mark.parametrize(
    ("events", "problem"),
    [
        ([{"choices": [{"index": 1, "delta": {"content": "b"}}]}], "more than one choice"),
        ([{"choices": [{"delta": {}}, {"delta": {}}]}], "more than one choice"),
        ([choice(content="{" + " \n" * 300)] * 2, ""),
        ([choice(content="{"), *[choice(content=" \n" * 200)] * 3], "white space, 1200 characters"),
    ],
)
def test_what_nothing_can_mend_is_known_before_the_end(events, problem):
    gathering = gathered(*events)
    assert problem in gathering.reply.problem and bool(problem) == bool(gathering.reply.problem)
    if problem:
        assert gathering.completion().problem == gathering.reply.problem


@pytest.mark.parametrize("event", [[], "text", 7, None, {"choices": "many"}, {"choices": [7]}, {"choices": [{"delta": [7]}]}])
def test_an_event_of_another_shape_is_a_broken_reply(event):
    with pytest.raises(BrokenStreamError):
        gathered(event)


@pytest.mark.parametrize("count", [-1, 1.5, "7", True, None, 10**12])
def test_a_count_that_is_none_is_as_if_there_were_none(count):
    gathering = gathered({"usage": {"prompt_tokens": count, "completion_tokens": 2}}, {"usage": "many"})
    assert gathering.reply.input_tokens is None and gathering.reply.output_tokens == 2


ENDPOINT = Endpoint("http://host/v1", api_key="sk-secret")


def problem(status, message="", **headers):
    body = json.dumps({"error": {"message": message}}).encode() if message else b""
    return problem_of(httpx.Response(status, headers=headers), body, request=Request(b"", 900, 100), endpoint=ENDPOINT)


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (429, "wait", FaultKind.BUSY),
        (408, "wait", FaultKind.UNWELL),
        (500, "wait", FaultKind.UNWELL),
        (503, "wait", FaultKind.DOWN),
        (401, "bad key", ChatEndedError),
        (429, "insufficient_quota", ChatEndedError),
        (404, "no such model", ChatEndedError),
        (302, "moved", ChatEndedError),
        (400, "what is response_format?", ChatError),
        (413, "too large", ContextTooLongError),
    ],
)
def test_a_status_is_a_fault_that_may_pass_or_an_error_of_its_kind(status, message, kind):
    error = problem(status, message, **{"retry-after": "7"})
    assert str(error).startswith(f"http://host/v1 answered {status}: {message}")
    assert (error.kind == kind and error.wait_seconds == 7) if isinstance(error, FaultError) else type(error) is kind


@pytest.mark.parametrize(
    "message",
    [
        "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens",
        "The decoder prompt (length 5000) is longer than the maximum model length of 4096.",
        "You passed 5001 input tokens and requested 1 output tokens. However, the model's context length is only 5000",
        "context_length_exceeded",
        "your prompt does not fit the context window",
    ],
)
def test_a_prompt_that_is_too_long_is_named_with_its_size(message):
    error = problem(400, message)
    assert isinstance(error, ContextTooLongError)
    of_pictures = json.dumps({"error": {"message": f"{message}; image inputs take many tokens"}}).encode()
    shown = Request(b"", 900, 100, has_pictures=True)
    assert isinstance(problem_of(httpx.Response(400), of_pictures, request=shown, endpoint=ENDPOINT), ContextTooLongError)
    assert str(error).endswith(f"{message} (about 900 tokens to read, room for 100 to write); ask with less")


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": {"code": "c", "message": "m"}}', "c m"),
        (b'{"error": {"code": 400, "message": "m"}}', "m"),
        (b'{"error": "plain"}', "plain"),
        (b'{"message": "m\\n\\u001b[31mred"}', "m [31mred"),
        (b"<html>\n busy </html>", "<html> busy </html>"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"x" * 1000, "x" * 300),
    ],
)
def test_what_the_server_said_is_shown_on_one_line(body, shown):
    error = problem_of(httpx.Response(400), body, request=Request(b"", 1, 1), endpoint=ENDPOINT)
    assert str(error) == f"http://host/v1 answered 400: {shown}; the server takes no such request"


def test_retry_after_is_a_number_of_seconds():
    assert [read_retry_after({"retry-after": asked}) for asked in ("1.5", "-3")] == [1.5, 0]
    asked = ("", "soon", "nan", "inf", "Wed, 21 Oct 2015 07:28:00 GMT")
    assert [read_retry_after({"retry-after": each}) for each in asked] == [None] * 5 and read_retry_after({}) is None


def test_the_key_does_not_stand_by_its_beginning_where_words_are_cut():
    for before in range(280, 301):
        assert "sk-" not in str(problem(400, "x" * before + "sk-secret"))
