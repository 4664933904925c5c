"""An embedder behind a server: prefixes, unit vectors, and what is not trusted."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storage.records.documents import EmbedderIdentity
from tasks.models.embedding.served import ServedEmbedder, ask_identity
from tasks.models.embedding.vectors import EmbeddingError, unit_vectors
from tasks.models.endpoints import Endpoint
from tests.embedding_server import Answer, Fault, altered, embedding_server, impatient, vector, well

NOMIC = "nomic-ai/nomic-embed-text-v1.5"


def embedder(server, model="m", dimension=3, **embeddings):
    return ServedEmbedder(Endpoint(server.base_url), EmbedderIdentity(model, "served", dimension), impatient(**embeddings))


def unit(*texts):
    found = np.array([vector(text) for text in texts])
    return found / np.linalg.norm(found, axis=1, keepdims=True)


def test_texts_become_unit_vectors_in_their_order():
    texts = [f"text {number}" for number in range(11)]
    with embedding_server() as server:
        vectors = embedder(server).embed_documents(texts).vectors
        assert embedder(server).embed_documents([]).vectors.shape == (0, 3)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit(*texts), rtol=1e-6)


def test_each_family_of_models_gets_its_prefixes_and_a_server_that_puts_them_is_told_which():
    e5, typed = "intfloat/multilingual-e5-small", "multilingual-e5-small-q4"
    with embedding_server() as server:
        for name in (NOMIC, e5, typed, "m"):
            embedder(server, name).embed_documents(["text", ""])
            embedder(server, name).embed_query("why?")
    assert [(request["model"], request["input"], request.get("input_type")) for request in server.requests] == [
        (NOMIC, ["search_document: text", "search_document:  "], None),
        (NOMIC, ["search_query: why?"], None),
        (e5, ["passage: text", "passage:  "], None),
        (e5, ["query: why?"], None),
        (typed, ["text", " "], "passage"),
        (typed, ["why?"], "query"),
        ("m", ["text", " "], None),
        ("m", ["why?"], None),
    ]


def replaced(numbers):
    return altered(lambda data: [*data[:-1], data[-1] | {"embedding": numbers}])


@pytest.mark.parametrize(
    ("behave", "says"),
    [
        (altered(lambda data: [entry | {"embedding": [1.0]} for entry in data]), r"shape \(1,\) where 3 numbers were expected"),
        (replaced([1.0, 2.0]), "vectors of different lengths"),
        (replaced([0.0, 0.0, 0.0]), r"length 0\.0 for text 1 of 2"),
        (replaced([float("nan"), 0.0, 0.0]), "length nan for text 1 of 2"),
        (replaced([1e300, 1e300, 0.0]), "length inf for text 1 of 2"),
    ],
)
def test_vectors_not_to_be_trusted_are_refused(behave, says):
    with embedding_server(behave) as server, pytest.raises(EmbeddingError, match=says):
        embedder(server).embed_documents(["a", "b"])


def test_one_request_of_another_dimension_spoils_all():
    def behave(request):
        return altered(lambda data: [data[0] | {"embedding": [1.0]}])(request) if request["input"] == ["text 8"] else well(request)

    with embedding_server(behave) as server, pytest.raises(EmbeddingError, match="vectors of different lengths"):
        embedder(server).embed_documents([f"text {number}" for number in range(9)])


def test_a_question_gets_its_vector_soon_or_not_at_all():
    with embedding_server() as server:
        np.testing.assert_allclose(embedder(server).embed_query("why?"), unit("why?"), rtol=1e-6)
    with embedding_server(lambda _request: Fault.HANG) as server, pytest.raises(EmbeddingError, match=r"no vector in 0\.2 s"):
        embedder(server, question_seconds=0.2).embed_query("why?")
    with (
        embedding_server(lambda _request: Fault.RESET) as server,
        pytest.raises(EmbeddingError, match=r"in 3 attempts: it .*connection"),
    ):
        embedder(server).embed_query("why?")


def test_name_and_dimension_are_asked_of_the_server_once():
    with embedding_server() as server:
        assert ask_identity(Endpoint(server.base_url)) == EmbedderIdentity("m", "served", 3)
        assert ask_identity(Endpoint(server.base_url)) == EmbedderIdentity("m", "served", 3)
    assert len(server.requests) == 1
    with embedding_server(models=Answer(404, {})) as server:
        assert ask_identity(Endpoint(server.base_url, "some/model")).name == "some/model", "a named one is in no list"


ENTRIES = st.floats(-1e3, 1e3).filter(lambda value: abs(value) > 1e-3)


@given(arrays(np.float64, (3, 5), elements=ENTRIES))
def test_every_row_gets_length_one_and_keeps_its_direction(raw):
    unit = unit_vectors(raw, count=3, dimension=5, source="it")
    assert unit.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose((unit * raw).sum(axis=1), np.linalg.norm(raw, axis=1), rtol=1e-5)
