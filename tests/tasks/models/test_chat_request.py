import dataclasses
import json
from typing import Any

import pytest
from pydantic import BaseModel

from tasks.model_settings import ModelSettings
from tasks.models.chat_request import call_key, first_messages, picture_tokens, request_of, second_messages, text_tokens
from tests.tasks.models.chat_worlds import Summary, call
from tests.tasks.models.test_data_urls import encoded

SETTINGS = ModelSettings()
PICTURE = encoded((64, 64))


class Other(BaseModel):
    name: str


def key(asked, model="qwen", **changed):
    return call_key(asked, model=model, settings=ModelSettings.model_validate(changed))


def test_the_same_call_has_the_same_key_whatever_it_is_called():
    assert key(call()) == key(call(item="another name", purpose="evolve", check=lambda value: "no", subject="0" * 64))
    assert key(call()) == key(call(), limits={"in_flight": 1}, budget={"calls": 3}, pictures={"pixels": 5000})


@pytest.mark.parametrize(
    "changed",
    [
        {"prompt": "another text"},
        {"prompt_hash": "another prompt"},
        {"images": (PICTURE,)},
        {"images": (PICTURE, PICTURE)},
        {"form": Other},
        {"max_output_tokens": 101},
    ],
)
def test_whatever_decides_the_reply_changes_the_key(changed):
    assert key(dataclasses.replace(call(), **changed)) != key(call())


def test_the_model_and_its_parameters_change_the_key():
    shown = call(images=(PICTURE,))
    assert len({key(shown), key(shown, model="llama"), key(shown, temperature=0.5), key(shown, pictures={"pixels": 5000})}) == 4


def test_the_text_stands_before_numbered_pictures():
    (message,) = first_messages(call("look", images=(PICTURE, PICTURE)), pixels=5000)
    kinds = [part["text"] if part["type"] == "text" else part["image_url"]["url"][:22] for part in message["content"]]
    assert kinds == ["look", "Picture 1:", "data:image/png;base64,", "Picture 2:", "data:image/png;base64,"]
    assert first_messages(call("read"), pixels=5000) == [{"role": "user", "content": "read"}]


def test_the_second_question_shows_a_bounded_part_of_the_bad_reply():
    first = first_messages(call("read"), pixels=5000)
    messages = second_messages(first, "x" * 10**6 + "\ud800", "$it is not JSON")
    assert messages[0] == first[0] and len(messages[1]["content"]) == 2000
    assert "cannot be used: $it is not JSON." in messages[2]["content"]
    assert second_messages(first, "", "empty")[1]["content"] == "(nothing)"


def test_a_request_is_a_stream_with_usage_in_the_form_asked_for():
    asked = call("half a sign: \ud83d")
    request = request_of(asked, first_messages(asked, pixels=5000), model="qwen", settings=SETTINGS)
    body: dict[str, Any] = json.loads(request.body)
    assert (
        body["messages"][0]["content"] == "half a sign: ?" and body["stream"] and body["stream_options"] == {"include_usage": True}
    )
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "Summary", "schema": Summary.model_json_schema(), "strict": True},
    }
    assert request.output_tokens == 100


def test_estimates_grow_with_text_and_pictures_and_are_rather_too_large():
    text, shown = call("word " * 300), call("word " * 300, images=(PICTURE, PICTURE))
    requests = [request_of(each, first_messages(each, pixels=5000), model="m", settings=SETTINGS) for each in (text, shown)]
    assert requests[0].input_tokens == text_tokens(1500, 1, SETTINGS.estimates) == 532
    assert requests[1].input_tokens == 532 + picture_tokens(2, SETTINGS) == 532 + 2 * 988
