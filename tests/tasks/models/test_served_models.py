import json

import pytest

from tasks.models.chat_errors import UnknownModelError
from tasks.models.endpoints import ChatEndpoint
from tasks.models.served_models import ServedModel, chosen_model, same_model

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
