import json
from typing import Annotated, Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field, create_model

from tasks.models.chat.forms import Form, characters, items, largest_reply
from tasks.readers import forms

LETTERS = st.characters(codec="ascii", exclude_categories=("Cc",), exclude_characters='"\\')


class Quote(Form):
    passage: Annotated[str, characters(4)]
    words: Annotated[str, characters(20)]


class Verdict(Form):
    thought: Annotated[str, characters(10)]
    kind: Literal["yes", "unknown"]
    sure: bool
    place: Annotated[int, Field(ge=-1, le=150)]
    strength: float
    value: Annotated[str, characters(3)] | None
    always: Literal["so"]
    quotes: Annotated[list[Quote], items(2)]


class Nested(Form):
    inner: "Annotated[list[Nested], items(1)]"


def longest(size: int) -> st.SearchStrategy[str]:
    return st.text(LETTERS, min_size=size, max_size=size)


QUOTE = st.fixed_dictionaries({"passage": longest(4), "words": longest(20)})
VERDICT = st.fixed_dictionaries(
    {
        "thought": longest(10),
        "kind": st.sampled_from(["yes", "unknown"]),
        "sure": st.booleans(),
        "place": st.integers(-1, 150),
        "strength": st.floats(allow_nan=False, allow_infinity=False),
        "value": st.none() | longest(3),
        "always": st.just("so"),
        "quotes": st.lists(QUOTE, min_size=2, max_size=2),
    }
)


@given(VERDICT)
def test_no_value_within_the_bounds_is_longer_than_the_largest_reply(value: dict[str, Any]) -> None:
    Verdict.model_validate(value)
    halves = (10 + 3 + 2 * (4 + 20)) // 2  # of the strings: a token has two characters
    assert len(json.dumps(value)) <= largest_reply(Verdict) + halves


def test_the_bounds_stand_in_the_schema_and_a_longer_value_is_read_whole() -> None:
    schema = Verdict.model_json_schema()
    assert schema["properties"]["thought"]["maxLength"] == 10 and schema["properties"]["quotes"]["maxItems"] == 2
    quotes = [Quote(passage="n12345", words="w" * 50)] * 3
    assert Quote.model_validate(quotes[0].model_dump()).words == "w" * 50


@pytest.mark.parametrize(
    ("kind", "complaint"),
    [
        (str, r"Open\.field has no maxLength"),
        (list[Annotated[str, characters(3)]], r"Open\.field has no maxItems"),
        (Annotated[int, Field(ge=0)], r"Open\.field has no maximum"),
        (dict[str, bool], r"Open\.field may be anything"),
        (Nested, "holds itself"),
    ],
)
def test_a_form_without_a_bound_is_refused_by_name(kind: Any, complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        largest_reply(create_model("Open", __base__=Form, field=(kind, ...)))


def test_no_string_has_a_length_beside_a_pattern_which_the_grammar_of_vllm_refuses() -> None:
    kinds = [kind for kind in vars(forms).values() if isinstance(kind, type) and issubclass(kind, BaseModel)]
    parts: list[dict[str, Any]] = []
    json.loads(json.dumps([kind.model_json_schema() for kind in kinds]), object_hook=parts.append)
    strings = [part for part in parts if "pattern" in part]
    assert strings and not any("maxLength" in part or "minLength" in part for part in strings)
    assert largest_reply(forms.ShortPlaces) >= len(json.dumps(["d9s12345"] * 4))
