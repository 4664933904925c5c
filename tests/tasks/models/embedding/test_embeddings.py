"""Texts are sent to an embeddings server side by side: what is sent again, what is refused, and how a reply is read."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tasks.models.embedding.served import EmbeddingService, rows_of
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import Endpoint
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.embedding_server import Answer, Fault, altered, embedding_server, impatient, in_turn, vector, well

TEXTS = [f"text {'x' * number}" for number in range(30)]


def service(server, settings=None, **endpoint):
    return EmbeddingService(Endpoint(server.base_url, **({"model": "m"} | endpoint)), settings or impatient())


def rows(server, texts=TEXTS, settings=None, **endpoint):
    return [list(row) for row in service(server, settings, **endpoint).rows(texts)]


def test_many_texts_go_in_several_requests_side_by_side_and_come_back_in_order():
    with embedding_server(seconds=0.05) as server:
        assert rows(server) == [vector(text) for text in TEXTS]
    assert sorted(len(request["input"]) for request in server.requests) == [2, 4, 4, 4, 4, 4, 4, 4]
    assert server.most_at_once == 3, "as many as may be in flight"
    assert {request["encoding_format"] for request in server.requests} == {"float"}


@pytest.mark.parametrize("fault", [Fault.CUT, Fault.HANG, Answer(429, {}, {"Retry-After": "0"}), Answer(503, {})], ids=str)
def test_what_may_pass_is_sent_again_and_nothing_else_with_it(fault):
    with embedding_server(in_turn(fault)) as server:
        patience = 1.5 if fault == Fault.HANG else 30.0  # a busy machine takes no whole reply for a hang
        assert rows(server, settings=impatient(reply_seconds=patience)) == [vector(text) for text in TEXTS]
    assert len(server.requests) == 8 + 1


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            Answer(500, {"error": {"message": "out of memory"}}),
            "in 4 attempts: it answered 500: out of memory; check that it is up",
        ),
        (Answer(404, {"error": {"message": "no model m"}}), "answered 404: no model m; check FLOWREADER_EMBED_BASE_URL"),
        (Answer(429, {"error": {"message": "insufficient_quota"}}), "insufficient_quota; check FLOWREADER_EMBED_API_KEY"),
    ],
)
def test_what_does_not_pass_is_named_with_its_remedy(answer, says):
    with embedding_server(lambda _request: answer) as server, pytest.raises(EmbeddingError, match=says) as refused:
        rows(server, ["one"])
    assert str(refused.value).startswith(f"embeddings server {server.base_url} (m) did not embed 1 texts")
    assert "CHAT" not in str(refused.value) and len(server.requests) == (4 if answer.status == 500 else 1)


def test_the_first_loss_ends_the_requests_beside_it():
    def behave(request):
        return Answer(400, {}) if TEXTS[0] in request["input"] else Fault.HANG

    with embedding_server(behave) as server, pytest.raises(EmbeddingError, match="answered 400"):
        rows(server, settings=impatient(reply_seconds=3000.0))
    assert len(server.requests) <= 3 + 1, "its place may have been taken before the others were cancelled"


def test_a_text_that_is_too_long_is_cut_and_the_others_are_whole():
    refusal = Answer(413, {"error": "Input validation error: inputs must have less than 20 tokens"})

    def behave(request):
        return refusal if any(len(text) > 20 for text in request["input"]) else well(request)

    with embedding_server(behave) as server:
        assert rows(server, ["short", "y" * 70, "also short"]) == [vector("short"), vector("y" * 17), vector("also short")]


def test_a_server_that_finds_anything_too_long_is_refused():
    too_long = Answer(400, {"error": {"message": "maximum context length is 0"}})
    with embedding_server(lambda _request: too_long) as server, pytest.raises(EmbeddingError, match="takes no text at all"):
        rows(server, ["short"])


def test_the_user_ends_it():
    with embedding_server(lambda _request: Fault.HANG) as server:
        threading.Timer(0.1, request_stop).start()
        try:
            with pytest.raises(StoppedError):
                service(server, impatient(reply_seconds=3000.0)).rows(["text"])
        finally:
            forget_stop()


def test_no_more_is_read_than_a_reply_may_have():
    with (
        embedding_server(lambda _request: Answer(200, b"1" * 2_000_000)) as server,
        pytest.raises(EmbeddingError, match="more than 1 MB"),
    ):
        rows(server, ["text"], impatient(reply_megabytes=1.0))


def test_half_a_sign_is_sent_as_a_question_mark():
    with embedding_server() as server:
        rows(server, ["lone \ud800 sign"])
    assert server.requests[0]["input"] == ["lone ? sign"]


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (Answer(200, {"data": [{"id": "a"}, {"id": "b"}]}), "has 2 models: a, b; set FLOWREADER_EMBED_MODEL to one of them"),
        (Answer(404, {}), "answered 404.*; check FLOWREADER_EMBED_BASE_URL"),
        (Answer(500, {}), "answered 500.*; check that it is up"),
    ],
)
def test_a_server_without_a_model_for_us_is_refused(models, says):
    with embedding_server(models=models) as server, pytest.raises(EmbeddingError, match=says):
        service(server, model="").find_model()


@pytest.mark.parametrize("change", [lambda data: data[1:], lambda data: data[::-1], lambda data: [*data, data[0]]])
def test_fewer_more_or_reordered_results_are_refused_without_a_second_try(change):
    with embedding_server(altered(change)) as server, pytest.raises(EmbeddingError, match="nothing was stored"):
        rows(server, ["a", "bb"])
    assert len(server.requests) == 1


def body(data, **more):
    return json.dumps({"object": "list", "model": "m", "data": data} | more).encode()


def entry(index, numbers=(1.0, 2.0)):
    return {"index": index, "embedding": list(numbers)}


def read_rows(reply):
    return rows_of(reply, texts=2, model="m", source="server S")


def test_a_server_need_not_name_its_model():
    found = read_rows(body([entry(0), entry(1, (3, 4))], model=None))
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (body([entry(0)]), "gave 1 vectors for 2 texts"),
        (body([entry(0), entry(0)]), r"in the order \[0, 0\]"),
        (body([entry(0), entry(1)], model="another"), "was asked for m and answered as 'another'.*FLOWREADER_EMBED_MODEL"),
        (body([entry(0), entry(1, ["1.0", "2.0"])]), r"data\.1\.embedding\.0: Input should be a valid number"),
        (body([entry(0), {"index": 1, "embedding": "AAAA"}]), "Input should be a valid array"),
        (b"<html>", "no vectors as the OpenAI protocol has them .*FLOWREADER_EMBED_BASE_URL"),
        (b"[" * 100_000, "no vectors"),
    ],
)
def test_what_is_not_text_by_text_is_refused(reply, says):
    with pytest.raises(EmbeddingError, match=says) as refused:
        read_rows(reply)
    assert str(refused.value).startswith("server S") and "nothing was stored" in str(refused.value)


NAMES = st.sampled_from(["data", "index", "embedding", "model"])


def nested(inner):
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), nested, max_leaves=12))
def test_no_json_breaks_it(value):
    try:
        found = read_rows(json.dumps(value).encode())
    except EmbeddingError:
        return
    assert len(found) == 2
