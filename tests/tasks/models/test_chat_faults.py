import email.utils
import json
from datetime import UTC, datetime, timedelta

import pytest

from tasks.models.chat_errors import ChatRefusedError, ContextTooLongError, RejectedCallError, UnknownModelError
from tasks.models.chat_faults import Answered, FaultError, FaultKind, asked_wait, problem_of, without_key
from tasks.models.chat_request import Request
from tasks.models.endpoints import ChatEndpoint

ENDPOINT = ChatEndpoint("http://host/v1", api_key="sk-secret")


def problem(status, message="", *, limit=0, **headers):
    body = json.dumps({"error": {"message": message}}).encode() if message else b""
    return problem_of(Answered(status, headers, body), request=Request(b"", 900, 100), endpoint=ENDPOINT, limit_tokens=limit)


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (429, FaultKind.BUSY),
        (408, FaultKind.UNWELL),
        (409, FaultKind.UNWELL),
        (500, FaultKind.UNWELL),
        (529, FaultKind.UNWELL),
        (502, FaultKind.DOWN),
        (503, FaultKind.DOWN),
        (504, FaultKind.DOWN),
    ],
)
def test_what_may_pass_is_a_fault_of_its_kind(status, kind):
    fault = problem(status, "wait", **{"retry-after": "7"})
    assert isinstance(fault, FaultError) and fault.kind == kind and fault.wait_seconds == 7 and fault.output_tokens is None
    assert str(fault) == f"http://host/v1 answered {status}: wait"


@pytest.mark.parametrize(
    ("status", "message", "kind"),
    [
        (401, "bad key", ChatRefusedError),
        (402, "pay first", ChatRefusedError),
        (403, "not you", ChatRefusedError),
        (429, "insufficient_quota", ChatRefusedError),
        (404, "no such model", UnknownModelError),
        (302, "", UnknownModelError),
        (204, "", UnknownModelError),
        (400, "what is response_format?", RejectedCallError),
        (413, "too large", RejectedCallError),
        (422, "no", RejectedCallError),
    ],
)
def test_what_cannot_pass_is_an_error_of_its_kind(status, message, kind):
    assert type(problem(status, message)) is kind


@pytest.mark.parametrize(
    ("message", "told", "limit"),
    [
        ("This model's maximum context length is 4096 tokens. However, you requested 5000 tokens", 0, 4096),
        ("This model's maximum context length is 4096 tokens", 3000, 3000),
        ("The decoder prompt (length 5000) is longer than the maximum model length of 4096.", 0, 4096),
        ("You passed 5001 input tokens and requested 1 output tokens. However, the model's context length is only 5000", 0, 5000),
        ("context_length_exceeded", 0, 0),
        ("your prompt does not fit the context window", 0, 0),
    ],
)
def test_a_prompt_that_is_too_long_is_told_with_numbers(message, told, limit):
    error = problem(400, message, limit=told)
    assert isinstance(error, ContextTooLongError)
    assert (error.input_tokens, error.limit_tokens) == (900, limit)
    assert "about 900 tokens to read, room for 100 to write" in str(error) and ("in all" in str(error)) == (limit > 0)


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b'{"error": {"code": "c", "message": "m"}}', "c m"),
        (b'{"error": {"code": 400, "message": "m"}}', "m"),
        (b'{"error": "plain"}', "plain"),
        (b'{"detail": "d"}', "d"),
        (b'{"message": "m\\n\\u001b[31mred"}', "m [31mred"),
        (b"<html>\n busy </html>", "<html> busy </html>"),
        (b"[1]", "[1]"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        (b"x" * 1000, "x" * 300),
    ],
)
def test_what_the_server_said_is_shown_on_one_line(body, shown):
    error = problem_of(Answered(400, {}, body), request=Request(b"", 1, 1), endpoint=ENDPOINT, limit_tokens=0)
    assert str(error) == f"http://host/v1 answered 400: {shown}; the server takes no such request"


def test_the_key_is_blotted_out():
    assert "sk-secret" not in str(problem(401, "no such key: Bearer sk-secret"))
    assert without_key("as it is", ChatEndpoint("http://host/v1")) == "as it is"


def test_retry_after_is_a_number_or_a_date():
    soon = datetime.now(UTC) + timedelta(seconds=100)
    assert asked_wait({"retry-after": "1.5"}) == 1.5
    assert asked_wait({"retry-after": "-3"}) == 0
    assert 90 < asked_wait({"retry-after": email.utils.format_datetime(soon, usegmt=True)}) <= 100
    assert asked_wait({"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}) == 0
    assert [asked_wait({"retry-after": told}) for told in ("", "soon", "nan", "inf", "Wed, 21 Oct 2015 07:28:00")] == [None] * 5
    assert asked_wait({}) is None


def test_the_key_does_not_stand_by_its_beginning_where_words_are_cut():
    for before in range(280, 301):
        assert "sk-" not in str(problem(400, "x" * before + "sk-secret"))
