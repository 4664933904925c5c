import threading

import pytest

from tasks.models.vector_checks import EmbeddingError
from tasks.progress import StoppedError, forget_stop, request_stop
from tests.embedding_server import Answer, Fault, altered, embedding_server, in_turn, vector, well
from tests.tasks.models.embedding_worlds import impatient, service

TEXTS = [f"text {'x' * number}" for number in range(30)]


def rows(server, texts=TEXTS, settings=None, **endpoint):
    return [list(row) for row in service(server, settings, **endpoint).rows(texts)]


def test_many_texts_go_in_several_requests_side_by_side_and_come_back_in_order():
    with embedding_server(seconds=0.05) as server:
        assert rows(server) == [vector(text) for text in TEXTS]
    assert sorted(len(request["input"]) for request in server.requests) == [2, 4, 4, 4, 4, 4, 4, 4]
    assert server.most_at_once == 3, "as many as may be in flight"
    assert {request["encoding_format"] for request in server.requests} == {"float"}


@pytest.mark.parametrize(
    "fault",
    [
        Fault.RESET,
        Fault.CUT,
        Fault.HANG,
        Answer(429, {"error": {"message": "slow down"}}),
        Answer(429, {"error": {"message": "slow down"}}, {"Retry-After": "0"}),
        Answer(408, {}),
        Answer(500, {"error": {"message": "out of memory"}}),
        Answer(503, {"error": {"message": "no engine"}}),
    ],
    ids=str,
)
def test_what_may_pass_is_sent_again_and_nothing_else_with_it(fault):
    with embedding_server(in_turn(fault)) as server:
        assert rows(server, settings=impatient(reply_seconds=0.3)) == [vector(text) for text in TEXTS]
    assert len(server.requests) == 8 + 1


def test_at_many_faults_no_text_is_lost_and_few_requests_are_wasted():
    every_fifth = threading.Lock(), [0]

    def behave(request):
        with every_fifth[0]:
            every_fifth[1][0] += 1
            return Answer(500, {}) if every_fifth[1][0] % 5 == 0 else well(request)

    texts = [f"text {number}" for number in range(400)]
    with embedding_server(behave) as server:
        assert rows(server, texts, impatient(retries={"attempts": 10})) == [vector(text) for text in texts]
    assert len(server.requests) <= 1.3 * 100


@pytest.mark.parametrize(
    ("answer", "says"),
    [
        (
            Answer(500, {"error": {"message": "out of memory"}}),
            "in 4 attempts: it answered 500: out of memory; check that it is up",
        ),
        (Answer(404, {"error": {"message": "no model m"}}), "answered 404: no model m; check FLOWREADER_EMBED_BASE_URL"),
        (Answer(403, {"error": {"message": "not you"}}), "answered 403: not you; check FLOWREADER_EMBED_API_KEY"),
        (Answer(400, {"error": {"message": "input is empty"}}), "answered 400: input is empty; the server takes no such request"),
        (Answer(302, {}), "answered 302.*FLOWREADER_EMBED_BASE_URL"),
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
    assert len(server.requests) <= 3 + 1, "its place may have been taken before all were told"


def test_a_server_that_is_down_is_named():
    with embedding_server() as server:
        pass
    with pytest.raises(EmbeddingError, match=f"{server.base_url}.*takes no connection.*; check that it is up"):
        rows(server)


@pytest.mark.parametrize(
    "refusal",
    [
        Answer(400, {"error": {"message": "This model's maximum context length is 20 tokens."}}),
        Answer(413, {"error": "Input validation error: inputs must have less than 20 tokens"}),
    ],
)
def test_a_text_that_is_too_long_is_cut_and_the_others_are_whole(refusal):
    def behave(request):
        return refusal if any(len(text) > 20 for text in request["input"]) else well(request)

    with embedding_server(behave) as server:
        assert rows(server, ["short", "y" * 70, "also short"]) == [vector("short"), vector("y" * 17), vector("also short")]


def test_a_server_that_finds_anything_too_long_is_refused():
    too_long = Answer(400, {"error": {"message": "maximum context length is 0"}})
    with embedding_server(lambda _request: too_long) as server, pytest.raises(EmbeddingError, match="takes no text at all"):
        rows(server, ["short"])


def test_a_question_is_not_kept_waiting():
    with embedding_server(lambda _request: Fault.HANG) as server, pytest.raises(EmbeddingError, match=r"gave no vector in 0\.2 s"):
        service(server).rows(["why?"], seconds=0.2)


def test_the_user_ends_it():
    with embedding_server(lambda _request: Fault.HANG) as server:
        threading.Timer(0.1, request_stop).start()
        try:
            with pytest.raises(StoppedError):
                service(server, impatient(reply_seconds=3000.0)).rows(["text"])
        finally:
            forget_stop()


def test_half_a_sign_is_sent_as_a_question_mark():
    with embedding_server() as server:
        rows(server, ["lone \ud800 sign"])
    assert server.requests[0]["input"] == ["lone ? sign"]


def test_the_server_names_its_model():
    with embedding_server() as server:
        assert service(server, model="").served_model().name == "m"


@pytest.mark.parametrize(
    ("models", "says"),
    [
        (Answer(200, {"data": [{"id": "a"}, {"id": "b"}]}), "has 2 models: a, b; set FLOWREADER_EMBED_MODEL to one of them"),
        (Answer(200, {"data": []}), "has 0 models: none"),
        (Answer(200, {"models": []}), "does not list models as the OpenAI protocol has it"),
        (Answer(404, {}), "answered 404.*; check FLOWREADER_EMBED_BASE_URL"),
        (Answer(500, {}), "answered 500.*; check that it is up"),
    ],
)
def test_a_server_without_a_model_for_us_is_refused(models, says):
    with embedding_server(models=models) as server, pytest.raises(EmbeddingError, match=says):
        service(server, model="").served_model()


def test_the_key_is_sent_and_never_shown():
    with embedding_server(api_key="sk-secret") as server:
        assert rows(server, ["text"], api_key="sk-secret") == [vector("text")]
        with pytest.raises(EmbeddingError, match=r"no such key: Bearer \(the key\); check FLOWREADER_EMBED_API_KEY") as refused:
            rows(server, ["text"], api_key="sk-wrong")
    assert "sk-wrong" not in str(refused.value)


@pytest.mark.parametrize("change", [lambda data: data[1:], lambda data: data[::-1], lambda data: [*data, data[0]]])
def test_fewer_more_or_reordered_results_are_refused_without_a_second_try(change):
    with embedding_server(altered(change)) as server, pytest.raises(EmbeddingError, match="nothing was stored"):
        rows(server, ["a", "bb"])
    assert len(server.requests) == 1
