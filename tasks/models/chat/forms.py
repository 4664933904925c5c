"""The forms of replies: their strings, lists and numbers have bounds, so that a reply ends."""

import math
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Form(BaseModel):
    """Every field is given, no other is; reasoning stands first, because a model writes the fields in their order.

    `characters` and `items` stand in the JSON schema only: a server that decodes by it can write no more. One that does not may,
    and such a reply is read whole: a long reason does no harm, and a quote or an id that we had cut would not be the model's.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)


def characters(most: int) -> Any:  # noqa: ANN401 - pydantic's own type for what goes into Annotated
    """Bound a string: `Annotated[str, characters(200)]`."""
    return Field(json_schema_extra={"maxLength": most})


def items(most: int, fewest: int = 0) -> Any:  # noqa: ANN401 - as above
    """Bound a list: `Annotated[list[Cited], items(3)]`."""
    return Field(json_schema_extra={"minItems": fewest, "maxItems": most} if fewest else {"maxItems": most})


NUMBER_CHARACTERS = 52
"""What grammars of JSON allow a number: sign, 16 digits, point, 16 digits, exponent."""


GAP = 3
"""Tokens of white space wherever JSON has room for some: llama.cpp's grammar lets two lines and twenty blanks stand there."""


FEWEST_TOKENS = 8
"""Of any reply: a number alone needs room for its end, too, which llama.cpp counts."""
SHORT_CHARACTERS = 8
"""Strings of at most this length hold ids, and each of their characters may be a token."""


def largest_reply(form: type[BaseModel]) -> int:
    """Return how many tokens the longest value of a form takes: one for each of its signs, and for two characters of its strings.

    Words take a quarter of a token a character, digits and tables about a half; what takes more is cut, and asked once more. Raises
    TypeError where a string, list or integer has no bound.
    """
    schema = form.model_json_schema()
    return max(FEWEST_TOKENS, _largest(schema, schema.get("$defs", {}), form.__name__))


def _largest(schema: Mapping[str, Any], definitions: Mapping[str, Any], place: str) -> int:
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in definitions:
            raise TypeError(f"{place} holds itself, without end")
        return _largest(definitions[name], {key: definitions[key] for key in definitions if key != name}, place)
    if "anyOf" in schema:
        return max(_largest(choice, definitions, place) for choice in schema["anyOf"])
    if values := schema.get("enum", [schema["const"]] if "const" in schema else []):
        return max(len(str(value)) + len('""') for value in values)
    if schema.get("type") == "array":
        item = _largest(schema["items"], definitions, f"an item of {place}")
        return int(_bound(schema, "maxItems", place)) * (item + len(",") + 2 * GAP) + len("[]") + 2 * GAP
    if schema.get("type") == "object" and schema.get("additionalProperties") is False:
        fields: Mapping[str, Any] = schema.get("properties", {})
        framed = (len(f'"{name}":,') + 4 * GAP + _largest(field, definitions, f"{place}.{name}") for name, field in fields.items())
        return sum(framed) + len("{}") + 2 * GAP
    return _largest_scalar(schema, place)


def _largest_scalar(schema: Mapping[str, Any], place: str) -> int:
    match schema.get("type"):
        case "string":
            # A pattern is of an id.
            most = SHORT_CHARACTERS if "pattern" in schema else int(_bound(schema, "maxLength", place))
            return (most if most <= SHORT_CHARACTERS else math.ceil(most / 2)) + len('""')
        case "integer":
            return max(len(str(_bound(schema, key, place))) for key in ("minimum", "maximum"))
        case "number":
            return NUMBER_CHARACTERS
        case "boolean" | "null":
            return len("false")
    raise TypeError(f"{place} may be anything; give it a type with bounds")


def _bound(schema: Mapping[str, Any], name: str, place: str) -> Any:  # noqa: ANN401 - a number of JSON
    if name not in schema:
        raise TypeError(f"{place} has no {name}; bound it, or a reply may have no end")
    return schema[name]
