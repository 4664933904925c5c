"""What a reader of passages replies in full forms: answers are made of it, and by it a model is tried when it is first met."""

from typing import Annotated, Literal

from tasks.models.chat.forms import Form, characters, items

QUOTE_CHARACTERS = 200
"""A row of a table is as long; words that are cut by this bound are left out."""


class Cited(Form):
    """Words of a passage, by the id that it was shown under."""

    passage: Annotated[str, characters(8)]
    quote: Annotated[str, characters(QUOTE_CHARACTERS)]


class PathAnswer(Form):
    """What one path says to the question."""

    facts: Annotated[str, characters(400)]
    status: Literal["supported", "not_reported"]
    whole: bool
    answer: Annotated[str, characters(400)]
    citations: Annotated[list[Cited], items(6)]
