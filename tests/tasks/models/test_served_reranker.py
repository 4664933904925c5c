"""A reranker behind a server: its scores, and what a server can send in their place."""

import pytest

from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import Endpoint, EndpointError
from tasks.models.reranker import name_of_reranker
from tasks.models.served_reranker import ServedReranker
from tasks.progress import StoppedError
from tasks.settings.ask import AskSettings
from tests.embedding_server import Answer, Fault, embedding_server, impatient, in_turn, ranks

QUESTION, PASSAGES = "wind and tide", ["blade", "wind\udcff", "", "the tide"]


def result(index, score):
    return {"index": index, "relevance_score": score}


def reranker_at(server, **more):
    return ServedReranker(Endpoint(server.base_url, "bge"), impatient(**more))


def test_scores_come_in_the_order_of_the_passages_and_a_single_failure_is_forgiven():
    with embedding_server(in_turn(Answer(429, {}, {"Retry-After": "0"}), ranks)) as server:
        assert reranker_at(server).scores(QUESTION, PASSAGES).tolist() == [5, 5, 0, 8]
        assert reranker_at(server).scores(QUESTION, []).tolist() == []
    first, second = server.requests
    assert first == second == {"model": "bge", "query": QUESTION, "documents": ["blade", "wind?", "", "the tide"]}


def test_what_is_too_long_for_the_model_is_cut_until_it_fits():
    def strict(request):
        too_long = Answer(400, {"error": {"message": "This model's maximum context length is 4 tokens."}})
        return too_long if max(map(len, request["documents"])) > 3 else ranks(request)

    with embedding_server(strict) as server:
        assert reranker_at(server).scores(QUESTION, ["blade of rotors", "sea"]).tolist() == [3, 3]
    assert [request["documents"] for request in server.requests][1:] == [["blade o", "sea"], ["bla", "sea"]]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        (Answer(200, {"results": [result(0, 0.5)]}), "gave 1 scores for 4 passages"),
        (Answer(200, {"results": [result(place, 0.5) for place in (0, 1, 2, 2)]}), "gave 4 scores for 4 passages"),
        (
            Answer(200, b'{"results": [{"index": 0, "relevance_score": NaN}]}'),
            r"as Cohere's protocol has them \(results.0.relevance",
        ),
        (Answer(200, {"data": []}), r"as Cohere's protocol has them \(results: Field required\)"),
        (Answer(200, b"<html>"), r"as Cohere's protocol has them \(: Invalid JSON"),
        (Answer(401, {"error": "no such key"}), "cannot be asked: it answered 401: no such key"),
        (Answer(404, {"detail": "Not Found"}), "cannot be asked: it answered 404"),
        (Answer(503, {}), "cannot be asked: it answered 503"),
        (Fault.HANG, r"gave no scores in 0\.2 s"),
        (Fault.RESET, "cannot be asked: it broke the connection"),
        (Fault.CUT, "cannot be asked: it broke the connection"),
    ],
    ids=str,
)
def test_what_is_no_score_for_each_passage_is_an_error_that_names_the_server_and_what_to_do(how, words):
    with embedding_server(lambda _request: how) as server:
        passing = isinstance(how, Fault) or how.status == 503
        remedy = "ask again when it is up" if passing else "check FLOWREADER_RERANK_BASE"
        reranker = reranker_at(server, question_seconds=0.2 if how is Fault.HANG else 60.0)
        with pytest.raises(EmbeddingError, match=rf"^reranker {server.base_url} \(bge\) .*{words}.*; {remedy}"):
            reranker.scores(QUESTION, PASSAGES)


def test_no_reply_is_waited_for_after_the_time_of_the_question_nor_after_ctrl_c(monkeypatch):
    with embedding_server(lambda _request: Fault.HANG) as server:
        with pytest.raises(EmbeddingError, match=r"gave no scores in 0 s"):
            ServedReranker(Endpoint(server.base_url, "bge"), impatient(), until=0.0).scores(QUESTION, PASSAGES)
        monkeypatch.setattr("tasks.models.chat.service.stop_requested", lambda: True)
        with pytest.raises(StoppedError):
            reranker_at(server).scores(QUESTION, PASSAGES)


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(EmbeddingError, match=r"^reranker http://127.0.0.1:9/v1 \(m\) cannot be asked: it takes no connection"):
        ServedReranker(Endpoint("http://127.0.0.1:9/v1", "m"), impatient()).scores(QUESTION, PASSAGES)


def test_a_server_is_named_with_its_model_or_not_at_all(monkeypatch):
    assert name_of_reranker(AskSettings()) == "" and name_of_reranker(AskSettings(rerank="mine")) == "mine"
    monkeypatch.setenv("FLOWREADER_RERANK_BASE_URL", "http://127.0.0.1:9/v1")
    with pytest.raises(EndpointError, match="set without a model; set FLOWREADER_RERANK_MODEL"):
        name_of_reranker(AskSettings())
    monkeypatch.setenv("FLOWREADER_RERANK_MODEL", "bge")
    assert name_of_reranker(AskSettings()) == "bge" and name_of_reranker(AskSettings(rerank="mine")) == "mine"
    assert name_of_reranker(AskSettings(second={"rerank_weight": 0.0})) == ""
