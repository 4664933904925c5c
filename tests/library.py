"""The library: documents that several tests ask about, and the corpus and context of a module, which say so in a line."""

from collections.abc import Iterable

import pytest

from storage.graph.search import Scope
from storage.records.answers import Answer, PagePlace, TraceKind
from storage.records.documents import EdgeKind
from tasks.asking.question import AskContext
from tests.asking_worlds import Passage, answer_at, at_context, at_place, published, written
from tests.storage.worlds import document_id

SIMILAR = EdgeKind.SEMANTIC
TIDE = written("report", Passage("the tide turns"))
NOTE = written("note", Passage("A cable costs 7 pounds."))
CREW = written("note", Passage("A crew of steel workers."))
LONELY = written(
    "lonely", *[Passage(f"The {word} weighs 12 tonnes.", page=place + 1) for place, word in enumerate(("blade", "cable"))]
)
"""Two pages that no arc joins."""


def alone(name: str, **limits) -> Scope:
    """Return the scope of one document."""
    return Scope(documents=(document_id(name),), **limits)


def asked_by(reader: str, context: AskContext, text: str, scope: Scope | None = None, **method) -> Answer:
    """Ask by this reader, with these values of its method laid over those of the context."""
    settings = getattr(context.settings, reader).model_copy(update=method)
    return answer_at(at_place(context, scope, **{reader: settings.model_dump()}), text, reader=reader)


def pages(places: Iterable[PagePlace]) -> list[int]:
    return [place.page for place in places]


def kinds(answer: Answer) -> list[TraceKind]:
    return [step.kind for step in answer.trace]


@pytest.fixture(scope="module")
def location(request, tmp_path_factory):
    """A corpus of the documents that the module names WORLD; each question leaves a run in it."""
    return published(tmp_path_factory.mktemp("world"), *request.module.WORLD)


@pytest.fixture(scope="module")
def context(request, location):
    """The context of all questions of the module, by the settings that it names SETTINGS."""
    with at_context(location, **getattr(request.module, "SETTINGS", {})) as opened:
        yield opened
