import json
import random

import pytest

from tasks.models.chat_errors import RejectedCallError
from tasks.models.chat_stream import BrokenStreamError, Gathering

LIMIT = 100_000


def event(delta=None, finish=None, **more):
    choices = [] if delta is None else [{"index": 0, "delta": delta, "finish_reason": finish}]
    return b"data: " + json.dumps({"model": "m", "choices": choices} | more).encode() + b"\n\n"


def gathered(*chunks):
    gathering = Gathering(LIMIT)
    gathering.begin({"content-type": "text/event-stream"})
    for chunk in chunks:
        gathering.feed(chunk)
    return gathering


WHOLE = [
    b": a comment\nevent: message\nid: 1\nretry: 5\n",
    event({"role": "assistant", "content": ""}),
    event({"content": "Gr\u00fc"}),
    event({"content": "n"}),
    event({}, finish="stop"),
    event(usage={"prompt_tokens": 7, "completion_tokens": 2}),
    b"data: [DONE]\r\n\r\n",
]


@pytest.mark.parametrize("size", [1, 2, 7, 1000])
def test_a_stream_is_gathered_however_it_is_cut(size):
    stream = b"".join(WHOLE)
    gathering = gathered(*(stream[start : start + size] for start in range(0, len(stream), size)))
    completion = gathering.completion()
    assert gathering.done and completion.text == "Grün" and completion.finish_reason == "stop" and completion.model == "m"
    assert (completion.input_tokens, completion.output_tokens, completion.problem, completion.refusal) == (7, 2, "", "")


def test_only_words_count_as_progress():
    gathering = Gathering(LIMIT)
    assert [gathering.feed(chunk) for chunk in WHOLE] == [False, False, True, True, False, False, False]
    assert not gathering.feed(event({"content": "after the end"}))
    assert gathering.completion().text == "Grün"
    thinking = Gathering(LIMIT)
    assert thinking.feed(event({"reasoning_content": "hm"})) and thinking.feed(event({"reasoning": "hm"}))
    assert thinking.feed(event({"refusal": "no"})) and thinking.refusal == "no" and thinking.pieces == []


def test_a_reply_in_one_piece_is_taken_too():
    said = {"index": 0, "message": {"content": "all", "refusal": None}, "finish_reason": "stop"}
    body = json.dumps({"model": "m", "choices": [said], "usage": {"prompt_tokens": 3, "completion_tokens": 1}}).encode()
    gathering = Gathering(LIMIT)
    gathering.begin({"content-type": "application/json; charset=utf-8"})
    assert not gathering.feed(body[:10]) and not gathering.feed(body[10:])
    completion = gathering.completion()
    assert (completion.text, completion.input_tokens, completion.output_tokens) == ("all", 3, 1)


@pytest.mark.parametrize(
    ("chunk", "says"),
    [
        (b"data: {not JSON\n", "no JSON"),
        (b"data: " + b"[" * 50_000 + b"\n", "no JSON"),
        (b"<html>\n", "no event"),
        (b"data: []\n", "where an object belongs"),
        (b'data: {"choices": 5}\n', "no list"),
        (b'data: {"choices": [5]}\n', "where an object belongs"),
        (b'data: {"choices": [{"delta": "x"}]}\n', "where an object belongs"),
        (b'data: {"error": {"message": "the engine died"}}\n', "the engine died"),
    ],
)
def test_what_is_no_stream_of_completions_is_broken(chunk, says):
    with pytest.raises(BrokenStreamError) as broken:
        gathered(chunk)
    assert says in f"{broken.value}: {broken.value.said}"


def test_the_words_of_the_server_are_whole_and_not_in_the_message():
    with pytest.raises(BrokenStreamError) as broken:
        gathered(b'data: {"error": "' + b"x" * 500 + b'"}\n')
    assert (str(broken.value), broken.value.said) == ("the server's own error", "x" * 500)


@pytest.mark.parametrize("chunks", [[], WHOLE[:3], [b'data: {"choices": []}\n']])
def test_a_stream_without_its_end_is_broken(chunks):
    with pytest.raises(BrokenStreamError, match="ends in the middle"):
        gathered(*chunks).completion()


@pytest.mark.parametrize(
    ("chunks", "problem"),
    [
        ([b'data: {"choices": [{"index": 1, "delta": {"content": "b"}}]}\n'], "more than one choice"),
        ([b'data: {"choices": [{"delta": {}}, {"delta": {}}]}\n'], "more than one choice"),
        ([b"data: " + b"x" * (LIMIT + 1)], "longer than 0.1 MB"),
        ([event({"content": "{" + " \n" * 300})] * 2, ""),
        ([event({"content": "{"}), *[event({"content": " \n" * 200})] * 3], "white space, 1200 characters"),
    ],
)
def test_what_nothing_can_mend_is_known_before_the_end(chunks, problem):
    gathering = gathered(*chunks)
    assert problem in gathering.problem and bool(problem) == bool(gathering.problem)
    if problem:
        assert gathering.completion().problem == gathering.problem


@pytest.mark.parametrize("told", [-1, 1.5, "7", True, None, 10**12])
def test_a_count_that_is_none_is_as_if_untold(told):
    gathering = gathered(event(usage={"prompt_tokens": told, "completion_tokens": 2}), event(usage="many"))
    assert gathering.input_tokens is None and gathering.output_tokens == 2


def test_a_packed_reply_is_refused():
    with pytest.raises(RejectedCallError, match="packs its replies"):
        Gathering(LIMIT).begin({"content-encoding": "gzip"})


def test_ten_thousand_mutated_streams_are_completions_or_broken():
    dice = random.Random(5)
    stream = b"".join(WHOLE)
    whole = 0
    for _ in range(10_000):
        spoilt = bytearray(stream)
        for _ in range(dice.randrange(1, 4)):
            where = dice.randrange(len(spoilt))
            spoilt[where : where + dice.randrange(3)] = dice.randbytes(dice.randrange(3))
        try:
            gathered(bytes(spoilt)).completion()
            whole += 1
        except BrokenStreamError:
            pass
    assert 100 < whole < 9000
