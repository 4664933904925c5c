"""The forms of a model's replies to the readers, beside readings; small models get short ones, a single value."""

from typing import Annotated, Literal

from pydantic import Field, RootModel
from pydantic.config import JsonDict

from tasks.algorithms.graphs.graph_query import EDGES, OPERATORS
from tasks.asking.request import clean
from tasks.models.chat.forms import Form, characters, items
from tasks.prompts.prompt import cut

MOST_CHARACTERS = 300
MOST_STEPS = 12
"""Of a plan that a form has room for; the method allows fewer."""

Name = Annotated[str, characters(8)]
"""An id that was shown."""
Names = Annotated[list[Name], items(12)]
PLACE: JsonDict = {"pattern": "^(d[0-9])?[spe][0-9]{1,5}$"}
"""An id of a place on a map: what a small model writes without it is a title, or a number. It bounds the length, too, for which no
`maxLength` may stand beside it: vLLM's grammar refuses the two together.
"""
Rating = Annotated[int, Field(ge=1, le=5)]


def model_words(text: str) -> str:
    """Return words of a model that are used again: on one line, and no more than any form has room for."""
    return cut(clean(text), MOST_CHARACTERS)


class Step(Form):
    """A sub-question, and the ids of the steps whose answers it needs."""

    id: Name
    question: Annotated[str, characters(200)]
    needs: Annotated[list[Name], items(4)]


class Planned(Form):
    """A question taken apart, or a plan mended."""

    thought: Annotated[str, characters(300)]
    steps: Annotated[list[Step], items(MOST_STEPS)]


class PlanCheck(Form):
    """Whether what was found answers the question, and what is missing."""

    reason: Annotated[str, characters(200)]
    sufficient: bool
    missing: Annotated[list[Annotated[str, characters(80)]], items(5)]


class Filter(Form):
    """A condition of a query of the graph."""

    field: Literal[*OPERATORS]  # type: ignore[valid-type]
    op: Literal["is", "is_not", "has", "lacks", "from", "to"]
    value: Annotated[str, characters(80)]


class Turn(Form):
    """What to keep of what was shown, and the next look; fields that its tool does not need are empty."""

    thought: Annotated[str, characters(300)]
    keep: Names
    drop: Names
    tool: Literal["search", "query", "more", "context", "done"]
    words: Annotated[str, characters(120)]
    node: Name
    where: Annotated[list[Filter], items(4)]
    edge: Literal["", *EDGES]  # type: ignore[valid-type]


class Located(Form):
    """The places of a map where the answer is likeliest, the best first."""

    thought: Annotated[str, characters(200)]
    places: Annotated[list[Name], items(8)]


class Reflected(Form):
    """Whether the question is answered, and where else on the map to look."""

    reason: Annotated[str, characters(200)]
    answered: bool
    look_at: Annotated[list[Name], items(8)]


class RatedPage(Form):
    """How much of the answer a page holds."""

    needed: Annotated[str, characters(120)]
    relevance: Rating


class ShortTurn(RootModel[Annotated[str, characters(40)]]):
    """Words to search for next, or none where enough was found."""


class ShortPlaces(RootModel[Annotated[list[Annotated[str, Field(json_schema_extra=PLACE)]], items(4)]]):
    """Places of a map."""


class ShortRating(RootModel[Rating]):
    """How much of the answer a page holds."""
