"""A reranker behind a server: its scores, and what a server can send in their place."""

import pytest

from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import Endpoint
from tasks.models.served_reranker import ServedReranker
from tests.embedding_server import Answer, Fault, embedding_server, impatient, ranks

QUESTION, PASSAGES = "wind and tide", ["blade", "wind\udcff", "", "the tide"]


def result(index, score):
    return {"index": index, "relevance_score": score}


def test_scores_come_in_the_order_of_the_passages_and_only_a_named_model_is_asked_for():
    with embedding_server(ranks) as server:
        reranker = ServedReranker(Endpoint(server.base_url), impatient())
        assert reranker.scores(QUESTION, PASSAGES).tolist() == [5, 5, 0, 8]
        assert reranker.scores(QUESTION, []).tolist() == []
        ServedReranker(Endpoint(server.base_url, "bge"), impatient()).scores(QUESTION, PASSAGES)
    first, second = server.requests
    assert first == {"query": QUESTION, "documents": ["blade", "wind?", "", "the tide"]} and second == first | {"model": "bge"}


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
        (Fault.HANG, r"cannot be asked: it gave no scores in 0\.2 s"),
        (Fault.RESET, "cannot be asked: it broke the connection"),
        (Fault.CUT, "cannot be asked: it broke the connection"),
    ],
    ids=str,
)
def test_what_is_no_score_for_each_passage_is_an_error_that_names_the_server_and_what_to_set(how, words):
    with embedding_server(lambda _request: how) as server:
        reranker = ServedReranker(Endpoint(server.base_url, "bge"), impatient(question_seconds=0.2 if how is Fault.HANG else 60.0))
        with pytest.raises(
            EmbeddingError, match=rf"^reranker {server.base_url} \(bge\) .*{words}.*; check FLOWREADER_RERANK_BASE_URL"
        ):
            reranker.scores(QUESTION, PASSAGES)
        assert len(server.requests) == 1, "nobody waits for a second try"


def test_a_server_that_is_not_there_is_named():
    with pytest.raises(EmbeddingError, match=r"^reranker http://127.0.0.1:9/v1 cannot be asked: it takes no connection"):
        ServedReranker(Endpoint("http://127.0.0.1:9/v1"), impatient()).scores(QUESTION, PASSAGES)
