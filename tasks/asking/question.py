"""A question on its way: what it says, and what its steps share."""

from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Any, ParamSpec, TypeVar

import numpy as np

from storage.artifacts import hash_bytes
from storage.codec import from_json, to_json
from storage.corpus.snapshot import Snapshot
from storage.graph.search import Scope
from storage.records.answers import NamedDocument
from storage.records.documents import DocumentState, PageKey, identify
from storage.records.language import language
from storage.text import shorten
from tasks.algorithms.questions.places import NamedPlace, named_places
from tasks.algorithms.questions.terms import QuestionTerms, keyword_terms, question_terms
from tasks.asking.deciding import code_identity
from tasks.asking.records import PathReader, Question
from tasks.asking.weights import ScopeWeights, Weights, weights_of
from tasks.models.embedding.embedder import QuestionEmbedder, open_second
from tasks.models.endpoints import SERVED
from tasks.models.reranker import name_of_reranker
from tasks.settings.ask import AskSettings
from tasks.step import MODEL, OFTEN, Codec, Step, StepKey, step

P = ParamSpec("P")
R = TypeVar("R")

NAMED_PLACE = "the named place"
"""Stands among a question's stems for the places that it names; no stem of a word has a space."""


@dataclass(frozen=True, slots=True)
class AskContext:
    """What the steps of a question share: the snapshot it began with, its limits, its embedder and its reader.

    `names` are the documents by id, as answers name them; `weights` are those of its probabilities; `second` is the second embedder
    of a corpus that has one. `right` are the pages that an evaluation knows to hold the answer, where these are to be read.
    """

    snapshot: Snapshot
    scope: Scope
    settings: AskSettings
    embedder: QuestionEmbedder
    reader: PathReader
    names: Mapping[str, NamedDocument]
    weights: Weights
    second: QuestionEmbedder | None = None
    right: tuple[PageKey, ...] | None = None

    @property
    def documents(self) -> list[str]:
        """Return the ids of the documents that are asked, of all that can be read where none is named."""
        readable = [record.id for record in self.snapshot.documents() if record.state is DocumentState.READY]
        return list(self.scope.documents) or readable


def context_of(
    snapshot: Snapshot, scope: Scope, settings: AskSettings, embedder: QuestionEmbedder, reader: PathReader
) -> AskContext:
    names = {record.id: NamedDocument(record.id, record.name) for record in snapshot.documents()}
    weights = weights_of(settings.weights, snapshot.embedder, name_of_reranker(settings))
    second = open_second(snapshot.embedder, settings.models)
    return AskContext(snapshot, scope, settings, embedder, reader, names, weights, second)


def scope_weights(weights: Weights, context: AskContext) -> ScopeWeights:
    """Return the weights for questions of one document, or of several."""
    return weights.document if len(context.documents) == 1 else weights.corpus


def question_step(
    name: str, recorded: Callable[[Any], Mapping[str, str]], version: str = "1", retries: int = OFTEN, *, reads: bool = False
) -> Callable[[Callable[P, R]], Step[P, R]]:
    """Make a function a step of the question that it takes first; what it makes is used once, so nothing is remembered.

    `recorded` is what the lineage records of a result. Most read the graph, or keep the replies of a model; one that only
    computes has no `retries`. One that `reads` has the reader do it: a chat model, where that is the reader.
    """

    def key(question: Question, *_inputs: object, **_named: object) -> StepKey:
        return StepKey(question.id, identify(question.id, question.text), shorten(question.text))

    return step(name, version=version, retries=retries, cache_key=key, summary=recorded, tag=model_tag if reads else lambda *_: "")


def model_tag(*inputs: Any) -> str:  # noqa: ANN401 - of any step of a question; its context comes last
    return MODEL if inputs[-1].reader.model else ""


def owner_of(text: str) -> str:
    """Return the owner under which a question's results are kept, however often it is asked."""
    return identify("question", text)


def text_key(question_id: str, text: str, context: AskContext) -> StepKey:
    inputs = identify(text, context.embedder.identity.key, language(), code_identity())
    return StepKey(question_id, inputs, shorten(text), owner_of(text))


def encode_question(question: Question) -> tuple[bytes, bytes, bytes]:
    return to_json(question.terms), to_json(question.places), question.vector.tobytes()


def decode_question(parts: Sequence[bytes]) -> Question:
    terms, places, vector = parts
    return Question(
        id="",
        text="",
        terms=from_json(QuestionTerms, terms),
        places=from_json(tuple[NamedPlace, ...], places),
        vector=np.frombuffer(vector, np.float32),
    )


@step(
    "keywords",
    version="2",
    retries=OFTEN,
    cache_key=text_key,
    tag=lambda _id, _text, context: MODEL if context.embedder.identity.precision == SERVED else "",
    codec=Codec(encode_question, decode_question),
    summary=lambda question: dict(zip(("terms", "places", "vector"), map(hash_bytes, encode_question(question)), strict=True)),
)
def find_terms(question_id: str, text: str, context: AskContext) -> Question:
    """Find what a question looks for: its terms, the places that it names, and its vector."""
    with ThreadPoolExecutor(1) as pool:
        # The graph, which the next step needs, is opened meanwhile.
        pool.submit(lambda: context.snapshot.view)
        return Question(question_id, text, question_terms(text), named_places(text), context.embedder.embed_query(text)[0])


@question_step("model-keywords", lambda question: {"terms": hash_bytes(to_json(question.terms))}, version="2", reads=True)
def ask_for_keywords(question: Question, context: AskContext) -> Question:
    """Look for what the model names of the question, in place of all its words; its replies are kept."""
    return replace(question, terms=keyword_terms(question.terms, context.reader.keywords(question.text)))


async def understand(question_id: str, text: str, context: AskContext) -> Question:
    """Return what a question looks for; or what the model that reads names of it, where the method asks it."""
    found = replace(await find_terms.submit(question_id, text, context), id=question_id, text=text)
    asks = context.settings.keywords and context.reader.model
    return await ask_for_keywords.submit(found, context) if asks else found
