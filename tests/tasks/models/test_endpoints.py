"""Which server the environment names, and which of its models."""

import json
from dataclasses import replace

import pytest

from tasks.models.chat.errors import ChatEndedError
from tasks.models.endpoints import (
    Endpoint,
    EndpointError,
    ServedModel,
    chat_endpoint,
    choose_model,
    embedding_endpoint,
    local_embedding_model,
    same_model,
    with_rater,
)

READERS = {"FLOWREADER_CHAT": chat_endpoint, "FLOWREADER_EMBED": embedding_endpoint}


@pytest.fixture(params=READERS)
def variables(request):
    """What the names of the variables begin with."""
    return request.param


@pytest.fixture
def configured(monkeypatch, variables):
    """Sets these variables, and reads what all of them say."""

    def configure(**values):
        for name, value in values.items():
            monkeypatch.setenv(f"{variables}_{name}", value)
        return READERS[variables]()

    return configure


def test_an_address_is_enough_and_without_one_there_is_no_server(configured):
    assert configured() is None and configured(BASE_URL="", MODEL="", API_KEY="") is None
    assert configured(BASE_URL=" http://localhost:8000/v1/ ") == Endpoint("http://localhost:8000/v1", "", "")
    found = configured(BASE_URL="https://[::1]/v1", MODEL="qwen", API_KEY="sk-secret")
    assert found == Endpoint("https://[::1]/v1", "qwen", "sk-secret") and "sk-secret" not in repr(found)


@pytest.mark.parametrize("half", [{"MODEL": "qwen"}, {"API_KEY": "sk-secret"}])
def test_half_a_server_is_refused_by_the_missing_variable(configured, variables, half):
    if (variables, *half) == ("FLOWREADER_EMBED", "MODEL"):
        assert configured(**half) is None and local_embedding_model() == "qwen"  # of this machine
        return
    with pytest.raises(EndpointError, match=f"set {variables}_BASE_URL as well") as refused:
        configured(**half)
    assert "sk-secret" not in str(refused.value)


@pytest.mark.parametrize(
    ("named", "rater"),
    [
        ({}, None),
        ({"MODEL": " page-rater "}, Endpoint("http://chat/v1", "page-rater", "chat-key")),
        ({"BASE_URL": "http://own/v1/"}, Endpoint("http://own/v1")),
        ({"BASE_URL": "http://own/v1", "MODEL": "small", "API_KEY": "own-key"}, Endpoint("http://own/v1", "small", "own-key")),
    ],
)
def test_pages_are_rated_by_another_model_of_the_chat_server_or_by_another_server_which_never_gets_its_key(
    monkeypatch, named, rater
):
    for name, value in named.items():
        monkeypatch.setenv(f"FLOWREADER_RATER_{name}", value)
    chat = Endpoint("http://chat/v1", "large", "chat-key")
    found = with_rater(chat)
    assert found == replace(chat, rater=rater) and (found.identity == chat.identity) == (rater is None)
    assert found.is_named == (rater is None or rater.model != "") and not replace(found, model="").is_named


def test_a_rater_named_by_its_key_alone_is_refused(monkeypatch):
    monkeypatch.setenv("FLOWREADER_RATER_API_KEY", "own-key")
    with pytest.raises(EndpointError, match="set FLOWREADER_RATER_BASE_URL as well"):
        with_rater(Endpoint("http://chat/v1"))


@pytest.mark.parametrize(
    "address",
    [
        "localhost:8000",
        "http://",
        "http://host/v1?key=1",
        "http://hö.st/v1",
        "http://host:x/v1",
        "http://[::1/v1",
        "http://xn--a/v1",
    ],
)
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


def test_llama_cpp_says_what_one_call_may_have_and_whether_pictures_are_taken():
    meta = {"n_ctx": 8192, "n_ctx_train": 32768, "n_params": 134515008}
    for taken, sees in (["text"], False), (["text", "image"], True):
        shape = {"input_modalities": taken, "output_modalities": ["text"]}
        assert choose_model(listing("smol", architecture=shape, meta=meta), Endpoint(URL)) == ServedModel("smol", 8192, sees)


def test_the_only_model_or_the_named_one_is_taken_with_its_length():
    assert choose_model(listing("qwen", max_model_len=32768), Endpoint(URL)) == ServedModel("qwen", 32768)
    assert choose_model(listing("a", "b", "c"), Endpoint(URL, "b")) == ServedModel("b", 0)
    assert choose_model(listing("qwen", max_model_len="long"), Endpoint(URL)) == ServedModel("qwen", 0)


@pytest.mark.parametrize(
    ("body", "asked", "says"),
    [
        (listing("a", "b"), "", "has 2 models: a, b; set FLOWREADER_CHAT_MODEL"),
        (listing(), "", "has 0 models: none"),
        (listing("a", "b"), "c", "has no model 'c', only: a, b; set FLOWREADER_CHAT_MODEL"),
        (listing("smol", meta=["n_ctx"]), "", "does not list models"),
        (b"<html>", "", "http://host/v1/models does not list models .*FLOWREADER_CHAT_BASE_URL"),
        (b"[]", "", "does not list models"),
        (b'{"data": [{}]}', "", "does not list models"),
        (b"[" * 100_000, "", "does not list models"),
    ],
)
def test_a_model_that_is_not_sure_is_refused_with_what_there_is(body, asked, says):
    with pytest.raises(ChatEndedError, match=says):
        choose_model(body, Endpoint(URL, asked))


@pytest.mark.parametrize(
    ("asked", "answering", "same"),
    [
        ("qwen", "qwen", True),
        ("qwen", "", True),
        ("gpt-4o", "gpt-4o-2024-08-06", True),
        ("Qwen/Qwen3-VL-8B", "Qwen/Qwen3-VL-8B@main", True),
        ("gpt-4o", "gpt-4o-mini", False),
        ("qwen-2024-08-06", "qwen", False),
    ],
)
def test_a_reply_is_of_the_model_by_its_name_or_that_with_a_date_or_a_revision(asked, answering, same):
    assert same_model(asked, answering) == same
