"""A question on its way: what it says, and what its steps share."""

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from storage.artifacts import hash_bytes
from storage.codec import shortened, to_json
from storage.corpus.snapshot import Snapshot
from storage.graph.search import Scope, find_words, nodes_in_scope
from storage.records.answers import NamedDocument
from storage.records.documents import identify
from tasks.algorithms.questions.places import named_places
from tasks.algorithms.questions.terms import question_terms, with_keywords
from tasks.asking.records import PathReader, Question
from tasks.models.embedding.embedder import QuestionEmbedder
from tasks.models.endpoints import SERVED
from tasks.settings.ask import AskSettings
from tasks.step import MODEL, OFTEN, Step, StepKey, step

P = ParamSpec("P")
R = TypeVar("R")

NAMED_PLACE = "the named place"
"""Stands among a question's stems for the places that it names; no stem of a word has a space."""


@dataclass(frozen=True, slots=True)
class AskContext:
    """What the steps of a question share: the snapshot it began with, its limits, its embedder and its reader.

    `names` are the documents by id, as answers name them.
    """

    snapshot: Snapshot
    scope: Scope
    settings: AskSettings
    embedder: QuestionEmbedder
    reader: PathReader
    names: Mapping[str, NamedDocument]


def context_of(
    snapshot: Snapshot, scope: Scope, settings: AskSettings, embedder: QuestionEmbedder, reader: PathReader
) -> AskContext:
    names = {record.id: NamedDocument(record.id, record.name) for record in snapshot.documents()}
    return AskContext(snapshot, scope, settings, embedder, reader, names)


def question_step(
    name: str, recorded: Callable[[Any], Mapping[str, str]], version: str = "1", retries: int = OFTEN, *, reads: bool = False
) -> Callable[[Callable[P, R]], Step[P, R]]:
    """Make a function a step of the question that it takes first; what it makes is used once, so nothing is remembered.

    `recorded` is what the lineage records of a result. Most read the graph, or keep the replies of a model; one that only
    computes has no `retries`. One that `reads` has the reader do it: a chat model, where that is the reader.
    """

    def key(question: Question, *_inputs: object) -> StepKey:
        return StepKey(question.id, identify(question.id, question.text), shortened(question.text))

    return step(name, version=version, retries=retries, cache_key=key, summary=recorded, tag=model_tag if reads else lambda *_: "")


def model_tag(*inputs: Any) -> str:  # noqa: ANN401 - of any step of a question; its context comes last
    return MODEL if inputs[-1].reader.model else ""


def text_key(question_id: str, text: str, context: AskContext) -> StepKey:
    return StepKey(question_id, identify(question_id, text, context.embedder.identity.key), shortened(text))


@step(
    "keywords",
    version="1",
    retries=OFTEN,
    cache_key=text_key,
    tag=lambda *of: MODEL if of[-1].embedder.identity.precision == SERVED else model_tag(*of),
    summary=lambda question: {
        "terms": hash_bytes(to_json(question.terms)),
        "places": hash_bytes(to_json(question.places)),
        "vector": hash_bytes(question.vector.tobytes()),
    },
)
def understand(question_id: str, text: str, context: AskContext) -> Question:
    """Find what a question looks for; full text searches, and a model that reads names words, while another embeds."""
    view, settings = context.snapshot.view, context.settings.candidates
    with ThreadPoolExecutor(1) as pool:
        vectors = pool.submit(context.embedder.embed_query, text)
        terms = with_keywords(question_terms(text), context.reader.keywords(text))
        # Of a small scope all is looked at.
        large = nodes_in_scope(view, context.scope) > settings.whole_limit
        text_hits = find_words(view, context.scope, terms.words, limit=settings.by_text) if large else None
        return Question(question_id, text, terms, named_places(text), vectors.result()[0], text_hits)
