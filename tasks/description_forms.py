"""The form of the model's descriptions, and what can be wrong with them."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict

from tasks.analysis import NO_MEANING

FEWEST_TAGS = 3


class Description(BaseModel):
    """What the model says of a node."""

    model_config = ConfigDict(extra="forbid")

    id: str
    keywords: list[str]
    summary: str
    tags: list[str]


class VisualDescription(Description):
    """What it says of a figure or table."""

    words: str


class Descriptions(BaseModel):
    """What it says of some passages."""

    model_config = ConfigDict(extra="forbid")

    nodes: list[Description]


class VisualDescriptions(BaseModel):
    """What it says of some figures and tables."""

    model_config = ConfigDict(extra="forbid")

    nodes: list[VisualDescription]


def wrong_description(value: Descriptions | VisualDescriptions, ids: Sequence[str]) -> str:
    """Say what is wrong with descriptions of these nodes, "" where nothing is: each once, none unknown, all with a summary."""
    told = [description.id for description in value.nodes]
    if wrong := wrong_ids(told, ids):
        return wrong
    for description in value.nodes:
        if not description.summary.strip():
            return f"the summary of {description.id} is empty"
        visual = isinstance(description, VisualDescription)
        if visual and not says_nothing(description) and len(description.tags) < FEWEST_TAGS:
            return f"{description.id} has {len(description.tags)} tags; give at least {FEWEST_TAGS}"
    return ""


def wrong_ids(told: Sequence[str], asked: Sequence[str]) -> str:
    """Say which id is unknown, missing or there twice; "" where each asked one stands once."""
    if any(name not in asked for name in told):
        return "an id stands there that is none of the ids that were asked for"
    if missing := next((name for name in asked if name not in told), None):
        return f"{missing} is missing"
    return "" if len(told) == len(asked) else "an id stands twice"


def says_nothing(description: Description) -> bool:
    """Say whether the model found nothing that a reader could search for."""
    return description.summary.strip(" .\"'").casefold() == NO_MEANING.casefold()
