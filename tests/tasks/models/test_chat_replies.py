import random
from typing import Annotated, Literal

import pytest
from pydantic import BaseModel, ConfigDict, Field

from tasks.models.chat_replies import SHOWN_CHARACTERS, DeclinedReplyError, UnusableReplyError, parsed, value_of
from tasks.models.chat_stream import Completion
from tests.tasks.models.chat_worlds import Summary, call


class Link(BaseModel):
    model_config = ConfigDict(extra="forbid")

    target: str
    weight: float
    kind: Literal["explains", "continues"]


class Analysis(BaseModel):
    model_config = ConfigDict(extra="forbid")

    summary: str
    keywords: tuple[str, ...]
    links: list[Link]
    pages: Annotated[int, Field(ge=1)]


GOOD = (
    '{"summary": "Sales \\u00e9 grew", "keywords": ["sales", "north"], "links": '
    '[{"target": "n2", "weight": 0.5, "kind": "explains"}], "pages": 3}'
)


def completion(text, **more):
    named = {"finish_reason": "stop", "refusal": "", "model": "m", "input_tokens": 1, "output_tokens": 1, "problem": ""}
    return Completion(text=text, **(named | more))


def test_json_alone_becomes_a_value():
    value = parsed(f" \n{GOOD}\n", Analysis)
    assert value.summary == "Sales é grew" and value.keywords == ("sales", "north") and value.links[0].weight == 0.5


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "it is empty"),
        ("  \n", "it is empty"),
        (f"Here it is: {GOOD}", "not JSON alone"),
        (f"```json\n{GOOD}\n```", "not JSON alone"),
        (f"{GOOD} I hope this helps.", "not JSON alone"),
        (GOOD + GOOD, "not JSON alone"),
        (GOOD[:-1], "not JSON alone"),
        (GOOD.replace('"pages": 3', '"pages": 3, "pages": 4'), "a name stands twice"),
        (GOOD.replace("0.5", "NaN"), "NaN is not a JSON value"),
        (GOOD.replace("0.5", "-Infinity"), "-Infinity is not a JSON value"),
        (GOOD.replace("3", '"3"'), "pages: Input should be a valid integer"),
        (GOOD.replace("3", "0"), "pages: Input should be greater than or equal to 1"),
        (GOOD.replace("3", "9" * 5000), "not JSON alone"),
        (GOOD.replace("0.5", "true"), "links.0.weight: Input should be a valid number"),
        (GOOD.replace("explains", "obeys"), "links.0.kind: Input should be 'explains' or 'continues'"),
        (GOOD.replace("Sales", "\\ud800"), "not|JSON"),
        (GOOD.replace("Sales", "\ud800"), "."),
        ("[" * 100_000, "nested too deeply|not JSON alone"),
        ("[]", "the reply: Input should be an object"),
        ("null", "the reply: Input should be an object"),
        ('{"a": 1, "b": 2, "c": 3}', "and 4 more errors"),
    ],
)
def test_anything_else_is_refused_in_words_for_the_model(text, says):
    with pytest.raises(UnusableReplyError, match=says) as refused:
        parsed(text, Analysis)
    assert len(str(refused.value)) < 4 * 2 * SHOWN_CHARACTERS and str(refused.value).isprintable()


def test_ten_thousand_mutated_replies_are_values_or_refused():
    dice = random.Random(3)
    signs = ['"', "{", "}", "[", "]", ",", ":", "\\", "\0", "\ud800", "é", " ", "\n", "9", "-", "e", "null", "NaN", "\\u", "𝄞"]
    refused = 0
    for _ in range(10_000):
        text = list(GOOD)
        for _ in range(dice.randrange(1, 5)):
            where = dice.randrange(len(text))
            change = dice.randrange(4)
            if change == 0:
                text[where] = dice.choice(signs)
            elif change == 1:
                del text[where]
            elif change == 2:
                text[where:where] = text[dice.randrange(len(text)) :][:20]
            else:
                text = text[: max(1, where)] if dice.random() < 0.2 else [*text, dice.choice(signs)]
        try:
            assert isinstance(parsed("".join(text), Analysis), Analysis)
        except UnusableReplyError:
            refused += 1
    assert 5000 < refused < 10_000


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"problem": "it has more than one choice"}, "more than one choice"),
        ({"finish_reason": "length"}, "cut after 100 tokens"),
        ({"finish_reason": "abort"}, "ended by 'abort'"),
        ({"finish_reason": "tool_calls"}, "ended by 'tool_calls'"),
    ],
)
def test_a_reply_that_did_not_end_by_itself_is_refused_though_it_fits(more, says):
    with pytest.raises(UnusableReplyError, match=says):
        value_of(completion('{"summary": "s", "node_id": "n1"}', **more), call())


@pytest.mark.parametrize(
    ("more", "says"), [({"refusal": "No.\x1b[31m"}, r"No\. \[31m"), ({"finish_reason": "content_filter"}, "filter")]
)
def test_a_refusal_is_no_value_and_worth_no_second_question(more, says):
    with pytest.raises(DeclinedReplyError, match=says):
        value_of(completion('{"summary": "s", "node_id": "n1"}', **more), call())


def test_the_callers_check_has_the_last_word():
    assert value_of(completion('{"summary": "s", "node_id": "n1"}'), call()) == Summary(summary="s", node_id="n1")
    with pytest.raises(UnusableReplyError, match="node id n7 was not shown"):
        value_of(completion('{"summary": "s", "node_id": "n7"}'), call())


def test_the_name_of_a_field_that_nobody_asked_for_is_not_said_to_the_model():
    with pytest.raises(UnusableReplyError) as refused:
        parsed(GOOD.replace('"weight"', '"Obey me": 1, "weight"').replace('"pages"', '"Now obey": 2, "pages"'), Analysis)
    assert str(refused.value) == "links.0: Extra inputs are not permitted; the reply: Extra inputs are not permitted"
