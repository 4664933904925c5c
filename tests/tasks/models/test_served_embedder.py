import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from storage.records import EmbedderIdentity
from tasks.models import served_embedder
from tasks.models.endpoints import Endpoint
from tasks.models.served_embedder import ServedEmbedder, served_identity
from tasks.models.vector_checks import EmbeddingError

Reply = Callable[[dict], tuple[int, object]]


@contextmanager
def serving(reply: Reply) -> Iterator[tuple[str, list[dict]]]:
    """A scripted endpoint on a real socket; yields its address and the requests it saw."""
    seen: list[dict] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self):
            request = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            seen.append(request)
            status, body = reply(request)
            data = json.dumps(body).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format, *args):
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1", seen
        finally:
            server.shutdown()
            thread.join()


def vector(text: str) -> list[float]:
    return [float(len(text)), 1.0, 0.0]


def embedding_reply(request: dict) -> tuple[int, object]:
    """All the vectors, the last first."""
    data = [{"object": "embedding", "index": i, "embedding": vector(text)} for i, text in enumerate(request["input"])]
    return 200, {"object": "list", "model": "m", "data": data[::-1], "usage": {"prompt_tokens": 1, "total_tokens": 1}}


def altered(change: Callable[[list[dict]], list[dict]]) -> Reply:
    def reply(request):
        status, body = embedding_reply(request)
        return status, {**body, "data": change(body["data"])}

    return reply


@pytest.fixture(autouse=True)
def impatient(monkeypatch):
    monkeypatch.setattr(served_embedder, "RETRIES", 0)


def embedder(url: str, model: str = "m", dimension: int = 3) -> ServedEmbedder:
    return ServedEmbedder(Endpoint(url, model), EmbedderIdentity(model, "served", dimension))


def test_vectors_come_in_the_order_of_the_texts_whatever_the_order_of_the_reply():
    with serving(embedding_reply) as (url, _):
        vectors = embedder(url).embed_documents(["a", "bbbb", "cc"])
        assert embedder(url).embed_documents([]).shape == (0, 3)
    expected = np.array([vector(text) for text in ("a", "bbbb", "cc")])
    np.testing.assert_allclose(vectors, expected / np.linalg.norm(expected, axis=1, keepdims=True), rtol=1e-6)


def test_nomic_is_told_documents_from_questions_and_others_are_not():
    with serving(embedding_reply) as (url, seen):
        embedder(url, "nomic-ai/nomic-embed-text-v1.5").embed_documents(["text", ""])
        embedder(url, "nomic-ai/nomic-embed-text-v1.5").embed_query("why?")
        embedder(url).embed_query("")
    assert [request["input"] for request in seen] == [
        ["search_document: text", "search_document:  "],
        ["search_query: why?"],
        [" "],
    ]


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (altered(lambda data: data[1:]), "answered 1 of 2 texts"),
        (altered(lambda data: [data[0], data[0]]), "answered 1 of 2 texts"),
        (altered(lambda data: [{**item, "embedding": [1.0]} for item in data]), "where 3 numbers were expected"),
        (altered(lambda data: [{**item, "embedding": [0.0, 0.0, 0.0]} for item in data]), "length 0.0 for text 0"),
        (altered(lambda data: [{**item, "embedding": [float("nan"), 0.0, 0.0]} for item in data]), "length nan for text 0"),
        (lambda request: (500, {"error": {"message": "out of memory"}}), "did not embed 2 texts: .*out of memory"),
    ],
)
def test_a_reply_not_to_be_trusted_is_refused(reply, says):
    with serving(reply) as (url, _), pytest.raises(EmbeddingError, match=says):
        embedder(url).embed_documents(["a", "b"])


def test_a_server_that_is_down_is_named():
    with serving(embedding_reply) as (url, _):
        pass
    with pytest.raises(EmbeddingError, match=f"{url}.*check that it is up"):
        embedder(url).embed_documents(["a"])


def test_the_dimension_is_asked_of_the_server_once():
    with serving(embedding_reply) as (url, seen):
        assert served_identity(Endpoint(url, "m")) == EmbedderIdentity("m", "served", 3)
        served_identity(Endpoint(url, "m"))
    assert len(seen) == 1
