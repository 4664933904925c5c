import base64
import io
import json
import sys

import numpy as np

from tasks.models.embedding.minilm import MiniLM, minilm_identity
from tasks.models.embedding.minilm_worker import serve
from tasks.models.embedding.vectors import EmbeddingError

PRECISION = minilm_identity().precision


def replies_to(*requests: object) -> list:
    lines = b"".join(json.dumps(request).encode() + b"\n" for request in requests)
    replies = io.BytesIO()
    serve(io.BytesIO(lines), replies)
    return [json.loads(line) for line in replies.getvalue().splitlines()]


def test_texts_are_answered_by_their_vectors_until_there_are_none(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["worker", PRECISION])
    texts = ["offshore wind", "a lone \ud800 surrogate", ""]
    ready, vectors, nothing = replies_to(texts, [])
    raw = np.frombuffer(base64.b64decode(vectors["vectors"]), dtype=np.float32).reshape(3, 384)
    assert ready == "ready" and nothing == {"vectors": ""}
    assert np.array_equal(raw, MiniLM(PRECISION).embed_documents(texts))


def test_vectors_that_cannot_be_used_are_an_error_and_the_next_texts_are_embedded(monkeypatch):
    monkeypatch.setattr(sys, "argv", ["worker", PRECISION])
    embed = MiniLM.embed_documents

    def broken(self, texts):
        if texts == ["bad"]:
            raise EmbeddingError("gave a vector of length nan")
        return embed(self, texts)

    monkeypatch.setattr(MiniLM, "embed_documents", broken)
    _, refused, good = replies_to(["bad"], ["good"])
    assert refused == {"error": "gave a vector of length nan"} and good["vectors"]
