import asyncio
import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from storage.records import EmbedderIdentity
from tasks.models.chat_errors import UnknownModelError
from tasks.models.chat_faults import FaultError, FaultKind
from tasks.models.chat_request import Request
from tasks.models.endpoints import ChatEndpoint, Endpoint, EndpointError, chat_endpoint, embedding_endpoint
from tasks.models.served_embedder import EmbeddingTransport, ServedEmbedder, rows_of, served_identity
from tasks.models.served_models import ServedModel, chosen_model, same_model
from tasks.models.vector_checks import EmbeddingError, unit_vectors
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


def read_rows(reply, texts=2):
    return rows_of(reply, texts=texts, model="m", source="server S")


def test_each_text_gets_its_numbers_as_they_came():
    found = read_rows(body([entry(0), entry(1, (3, 4))]))
    np.testing.assert_array_equal(found, [[1, 2], [3, 4]])
    assert len(read_rows(body([entry(0), entry(1)], model=None))) == 2, "some servers do not name the model"
    assert read_rows(body([]), texts=0) == []


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
        assert read_rows(reply)[1].shape == (0,), "its length is looked at by whoever knows the dimension"
        return
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


NOMIC = "nomic-ai/nomic-embed-text-v1.5"


def embedder(server, model="m", dimension=3, **embeddings):
    return ServedEmbedder(Endpoint(server.base_url), EmbedderIdentity(model, "served", dimension), impatient(**embeddings))


def unit(*texts):
    found = np.array([vector(text) for text in texts])
    return found / np.linalg.norm(found, axis=1, keepdims=True)


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


ENTRIES = st.floats(-1e3, 1e3).filter(lambda value: abs(value) > 1e-3)


@given(arrays(np.float64, (3, 5), elements=ENTRIES))
def test_every_row_gets_length_one_and_keeps_its_direction(raw):
    unit = unit_vectors(raw, count=3, dimension=5, source="it")
    assert unit.dtype == np.float32
    np.testing.assert_allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    np.testing.assert_allclose((unit * raw).sum(axis=1), np.linalg.norm(raw, axis=1), rtol=1e-5)


@pytest.mark.parametrize(
    ("raw", "says"),
    [
        ([[1.0, 0.0]], "1 vectors for 2 texts"),
        ([[1.0], [1.0]], r"shape \(1,\) where 2 numbers"),
        ([[1.0, 0.0], [1.0]], "different lengths"),
        ([[1.0, 0.0], [0.0, 0.0]], "length 0.0 for text 1 of 2"),
        ([[1.0, 0.0], [float("nan"), 0.0]], "length nan for text 1 of 2"),
        ([[float("inf"), 0.0], [1.0, 0.0]], "length inf for text 0 of 2"),
    ],
)
def test_what_is_no_unit_vector_is_refused_by_name(raw, says):
    with pytest.raises(EmbeddingError, match=says):
        unit_vectors(raw, count=2, dimension=2, source="it")


def test_no_texts_have_no_vectors():
    assert unit_vectors([], count=0, dimension=4, source="it").shape == (0, 4)


READERS = {"FLOWREADER_CHAT": chat_endpoint, "FLOWREADER_EMBED": embedding_endpoint}


@pytest.fixture(params=READERS)
def variables(request):
    """What the names of the variables begin with."""
    return request.param


@pytest.fixture
def configured(monkeypatch, variables):
    """Sets these variables and no others of the kind, and reads them."""

    def configure(**values):
        for name in ("BASE_URL", "MODEL", "API_KEY"):
            monkeypatch.delenv(f"{variables}_{name}", raising=False)
            if name in values:
                monkeypatch.setenv(f"{variables}_{name}", values[name])
        return READERS[variables]()

    return configure


def test_without_variables_there_is_no_server(configured):
    assert configured() is None
    assert configured(BASE_URL="", MODEL="", API_KEY="") is None


def test_an_address_is_enough(configured):
    assert configured(BASE_URL=" http://localhost:8000/v1/ ") == Endpoint("http://localhost:8000/v1", "", "")
    found = configured(BASE_URL="https://[::1]/v1", MODEL="qwen", API_KEY="sk-secret")
    assert found == Endpoint("https://[::1]/v1", "qwen", "sk-secret") and "sk-secret" not in repr(found)


@pytest.mark.parametrize("half", [{"MODEL": "qwen"}, {"API_KEY": "sk-secret"}])
def test_half_a_server_is_refused_by_the_missing_variable(configured, variables, half):
    with pytest.raises(EndpointError, match=f"set {variables}_BASE_URL as well") as refused:
        configured(**half)
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    "address",
    ["localhost:8000", "ftp://host/v1", "http://", "http://host/v1?key=1", "http://hö.st/v1", "v1", "http://host:99999/v1",
     "http://host:x/v1", "http://[::1/v1", "http://ho st/v1"],
)  # fmt: skip
def test_what_is_no_address_is_refused(configured, variables, address):
    with pytest.raises(EndpointError, match=f"{variables}_BASE_URL=.* is not the address of a server; set it to something like"):
        configured(BASE_URL=address)


@pytest.mark.parametrize(
    "values",
    [
        {"BASE_URL": "http://name:sk-secret@host/v1"},
        {"BASE_URL": "http://host/v1", "API_KEY": "sk-secret\nX-Other: 1"},
        {"BASE_URL": "http://host/v1", "API_KEY": "sk-secret\u2026"},
    ],
)
def test_a_key_that_cannot_be_sent_is_refused_and_not_shown(configured, variables, values):
    with pytest.raises(EndpointError, match=f"{variables}_API_KEY") as refused:
        configured(**values)
    assert "sk-secret" not in str(refused.value)


URL = "http://host/v1"


def listing(*names, **more):
    return json.dumps({"object": "list", "data": [{"id": name, **more} for name in names]}).encode()


def test_the_only_model_is_taken_with_its_length():
    assert chosen_model(listing("qwen", max_model_len=32768), ChatEndpoint(URL)) == ServedModel("qwen", 32768)
    assert chosen_model(listing("qwen"), ChatEndpoint(URL)) == ServedModel("qwen", 0)
    assert chosen_model(listing("qwen", max_model_len="long"), ChatEndpoint(URL)) == ServedModel("qwen", 0)


def test_the_named_model_is_taken_of_several():
    assert chosen_model(listing("a", "b", "c"), ChatEndpoint(URL, "b")).name == "b"


@pytest.mark.parametrize(
    ("names", "asked", "says"),
    [
        (("a", "b"), "", "has 2 models: a, b; set FLOWREADER_CHAT_MODEL"),
        ((), "", "has 0 models: none"),
        (("a", "b"), "c", "has no model 'c', only: a, b; set FLOWREADER_CHAT_MODEL"),
    ],
)
def test_a_model_that_is_not_sure_is_refused_with_what_there_is(names, asked, says):
    with pytest.raises(UnknownModelError, match=says):
        chosen_model(listing(*names), ChatEndpoint(URL, asked))


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b"null", b"{}", b'{"data": 5}', b'{"data": [5]}', b'{"data": [{}]}', b"[" * 100_000]
)
def test_what_lists_no_models_is_refused(body):
    with pytest.raises(UnknownModelError, match=r"http://host/v1/models does not list models .*FLOWREADER_CHAT_BASE_URL"):
        chosen_model(body, ChatEndpoint(URL))


@pytest.mark.parametrize(
    ("asked", "told", "same"),
    [
        ("qwen", "qwen", True),
        ("qwen", "", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("gpt-4o", "gpt-4o-20240806", True),
        ("Qwen/Qwen3-VL-8B", "Qwen/Qwen3-VL-8B@main", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("qwen", "llama", False),
        ("qwen-2024-08-06", "qwen", False),
    ],
)
def test_a_reply_is_of_the_model_by_its_name_or_that_with_a_date_or_a_revision(asked, told, same):
    assert same_model(asked, told) == same
