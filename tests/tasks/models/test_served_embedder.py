import asyncio
import json

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from storage.records import EmbedderIdentity
from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_request import Request
from tasks.models.endpoints import Endpoint
from tasks.models.served_embedder import EmbeddingTransport, ServedEmbedder, rows_of, served_identity
from tasks.models.vector_checks import EmbeddingError
from tests.embedding_server import Answer, Fault, altered, embedding_server, in_turn, vector, well
from tests.tasks.models.embedding_worlds import impatient

REQUEST = Request(json.dumps({"model": "m", "input": ["text"]}).encode(), 0, 0)


def embed(server, **embeddings):
    async def once():
        transport = EmbeddingTransport(Endpoint(server.base_url), impatient(**embeddings))
        try:
            return await transport.embed(REQUEST)
        finally:
            transport.close()

    return asyncio.run(once())


def test_an_answer_comes_with_its_status_whatever_that_is():
    with embedding_server(lambda _request: Answer(418, {"tea": True})) as server:
        answered = embed(server)
    assert (answered.status, json.loads(answered.body)) == (418, {"tea": True})


@pytest.mark.parametrize(
    ("fault", "kind", "says"),
    [
        (Fault.HANG, FaultKind.SILENT, "gave no vectors in 0.2 s"),
        (Fault.RESET, FaultKind.UNWELL, "connection"),
        (Fault.CUT, FaultKind.UNWELL, "broke the connection"),
    ],
)
def test_a_lost_connection_is_a_fault_that_names_the_server(fault, kind, says):
    with embedding_server(lambda _request: fault) as server, pytest.raises(FaultError, match=says) as lost:
        embed(server, reply_seconds=0.2)
    assert lost.value.kind == kind and server.base_url in str(lost.value)


def test_no_more_is_read_than_a_reply_may_have():
    with (
        embedding_server(lambda _request: Answer(200, b"1" * 2_000_000)) as server,
        pytest.raises(FaultError, match="more than 1 MB"),
    ):
        embed(server, reply_megabytes=1.0)


def test_nobody_there_is_a_server_that_is_down():
    with embedding_server() as server:
        pass
    with pytest.raises(FaultError, match="takes no connection") as lost:
        embed(server)
    assert lost.value.kind == FaultKind.DOWN


def body(data, **more):
    return json.dumps({"object": "list", "model": "m", "data": data} | more).encode()


def entry(index, numbers=(1.0, 2.0)):
    return {"index": index, "embedding": list(numbers)}


def rows(reply, texts=2):
    return rows_of(reply, texts=texts, model="m", source="server S")


def test_each_text_gets_its_numbers_as_they_came():
    found = rows(body([entry(0), entry(1, (3, 4))]))
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])
    assert len(rows(body([entry(0), entry(1)], model=None))) == 2, "some servers do not name the model"
    assert rows(body([]), texts=0) == []


@pytest.mark.parametrize(
    ("reply", "says"),
    [
        (body([entry(0)]), "gave 1 vectors for 2 texts"),
        (body([entry(0), entry(1), entry(2)]), "gave 3 vectors for 2 texts"),
        (body([entry(1), entry(0)]), r"in the order \[1, 0\], not in that of the texts"),
        (body([entry(0), entry(0)]), r"in the order \[0, 0\]"),
        (body([entry(0), {"embedding": [1.0]}]), "no vectors as the OpenAI protocol has them"),
        (body([entry(0), entry(1)], model="another"), "was asked for m and answered as 'another'.*FLOWREADER_EMBED_MODEL"),
        (body([entry(0), entry(1)], model=["m"]), "answered as"),
        (body([entry(0), entry(1, ["1.0", "2.0"])]), r"\['1.0', '2.0'\] where a list of numbers belongs"),
        (body([entry(0), entry(1, [None, 1.0])]), "where a list of numbers belongs"),
        (body([entry(0), entry(1, [[1.0], [2.0]])]), "where a list of numbers belongs"),
        (body([entry(0), {"index": 1, "embedding": "AAAA"}]), "'?AAAA'? where a list of numbers belongs"),
        (body([entry(0), {"index": 1, "embedding": []}]), None),
        (b"<html>", "no vectors as the OpenAI protocol has them .*FLOWREADER_EMBED_BASE_URL"),
        (b"[]", "no vectors"),
        (b'{"data": null}', "no vectors"),
        (b'{"data": [1, 2]}', "no vectors"),
        (b"\xff\xfe", "no vectors"),
        (b"[" * 100_000, "no vectors"),
    ],
)
def test_what_is_not_text_by_text_is_refused(reply, says):
    if says is None:
        assert rows(reply)[1].shape == (0,), "its length is looked at by whoever knows the dimension"
        return
    with pytest.raises(EmbeddingError, match=says) as refused:
        rows(reply)
    assert str(refused.value).startswith("server S") and "nothing was stored" in str(refused.value)


NAMES = st.sampled_from(["data", "index", "embedding", "model"])


def nested(inner):
    return st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4)


@given(st.recursive(st.none() | st.booleans() | st.floats() | st.text(max_size=5), nested, max_leaves=12))
def test_no_json_breaks_it(value):
    try:
        found = rows(json.dumps(value).encode())
    except EmbeddingError:
        return
    assert len(found) == 2


NOMIC = "nomic-ai/nomic-embed-text-v1.5"


def embedder(server, model="m", dimension=3, **embeddings):
    return ServedEmbedder(Endpoint(server.base_url), EmbedderIdentity(model, "served", dimension), impatient(**embeddings))


def unit(*texts):
    rows = np.array([vector(text) for text in texts])
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def test_texts_become_unit_vectors_in_their_order():
    texts = [f"text {number}" for number in range(11)]
    with embedding_server() as server:
        vectors = embedder(server).embed_documents(texts)
        assert embedder(server).embed_documents([]).shape == (0, 3)
    assert vectors.dtype == np.float32
    np.testing.assert_allclose(vectors, unit(*texts), rtol=1e-6)


def test_nomic_is_told_documents_from_questions_and_others_are_not():
    with embedding_server() as server:
        embedder(server, NOMIC).embed_documents(["text", ""])
        embedder(server, NOMIC).embed_query("why?")
        embedder(server).embed_query("")
    assert [request["input"] for request in server.requests] == [
        ["search_document: text", "search_document:  "],
        ["search_query: why?"],
        [" "],
    ]
    assert [request["model"] for request in server.requests] == [NOMIC, NOMIC, "m"]


def replaced(numbers):
    return altered(lambda data: [*data[:-1], data[-1] | {"embedding": numbers}])


@pytest.mark.parametrize(
    ("behave", "says"),
    [
        (altered(lambda data: [entry | {"embedding": [1.0]} for entry in data]), r"shape \(1,\) where 3 numbers were expected"),
        (replaced([1.0, 2.0]), "vectors of different lengths"),
        (replaced([]), "vectors of different lengths"),
        (replaced([0.0, 0.0, 0.0]), r"length 0\.0 for text 1 of 2"),
        (replaced([float("nan"), 0.0, 0.0]), "length nan for text 1 of 2"),
        (replaced([float("inf"), 0.0, 0.0]), "length inf for text 1 of 2"),
        (replaced([1e300, 1e300, 0.0]), "length inf for text 1 of 2"),
        (altered(lambda data: data[1:]), "gave 1 vectors for 2 texts"),
        (altered(lambda data: data[::-1]), r"in the order \[1, 0\]"),
        (altered(lambda data: data, model="another"), "answered as 'another'"),
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
        assert served_identity(Endpoint(server.base_url)) == EmbedderIdentity("m", "served", 3)
        assert served_identity(Endpoint(server.base_url)) == EmbedderIdentity("m", "served", 3)
    assert len(server.requests) == 1


def test_a_named_model_needs_no_list_of_models():
    with embedding_server(models=Answer(404, {})) as server:
        assert served_identity(Endpoint(server.base_url, "some/model")).name == "some/model"


def test_a_model_without_numbers_is_none():
    with embedding_server(replaced([])) as server, pytest.raises(EmbeddingError, match=r"length 0\.0"):
        served_identity(Endpoint(server.base_url, "m"))


def test_before_anything_has_begun_a_stumble_is_forgiven_and_an_absence_told_soon():
    with embedding_server(in_turn(Fault.RESET)) as server:
        assert served_identity(Endpoint(server.base_url, "m")).dimension == 3
    with embedding_server(lambda _request: Answer(503, {})) as server, pytest.raises(EmbeddingError, match="in 3 attempts"):
        served_identity(Endpoint(server.base_url, "m"))
    assert len(server.requests) == 3
