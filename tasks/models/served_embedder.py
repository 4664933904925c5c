"""An embedder behind an OpenAI-compatible embeddings server, such as vLLM's."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from storage.records import EmbedderIdentity, Vectors
from tasks.model_settings import ChatRetries, ModelSettings
from tasks.models.embedding_service import EmbeddingService
from tasks.models.endpoints import SERVED, Endpoint
from tasks.models.vector_checks import unit_vectors

SOON = ChatRetries(attempts=3, silent_attempts=1, busy_seconds=15.0)
"""How a server is asked while somebody waits, or before anything has begun: a stumble is forgiven, an absence soon told."""

BLANK = " "
"""Sent in place of an empty text, which servers refuse."""

PREFIXES = {"nomic-embed-text-v1.5": ("search_document: ", "search_query: ")}
"""What a model wants before a document and before a question, by the last part of its name."""


class ServedEmbedder:
    """A model that someone serves; nothing is sent before the first text is embedded."""

    def __init__(self, endpoint: Endpoint, identity: EmbedderIdentity, settings: ModelSettings) -> None:
        """Prepare; the server is asked for the model of the identity."""
        self.identity = identity
        self._question_seconds = settings.embeddings.question_seconds
        self._for_documents, self._for_questions = PREFIXES.get(identity.name.rsplit("/", 1)[-1], ("", ""))
        named = replace(endpoint, model=identity.name)
        self._patient = EmbeddingService(named, settings)
        self._hurried = EmbeddingService(named, settings.model_copy(update={"retries": SOON}))

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in their order; raise EmbeddingError where a vector cannot be had or must not be used."""
        return self._unit(self._patient.rows([self._for_documents + (text or BLANK) for text in texts]))

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; raise EmbeddingError as soon as it has waited for longer than somebody would."""
        return self._unit(self._hurried.rows([self._for_questions + (text or BLANK)], seconds=self._question_seconds))

    def _unit(self, rows: Sequence[Vectors]) -> Vectors:
        return unit_vectors(rows, count=len(rows), dimension=self.identity.dimension, source=self._patient.source)


@lru_cache
def served_identity(endpoint: Endpoint) -> EmbedderIdentity:
    """Return the identity of a served model; the server is asked for its dimension, and its name where none is set, once a process.

    Raises EmbeddingError soon where it does not answer: nothing has begun that would be worth waiting for.
    """
    settings = ModelSettings(retries=SOON)
    name = endpoint.model or EmbeddingService(endpoint, settings).served_model().name
    service = EmbeddingService(replace(endpoint, model=name), settings)
    rows = service.rows(["dimension"], seconds=settings.embeddings.question_seconds)
    vectors = unit_vectors(rows, count=1, dimension=len(rows[0]), source=service.source)
    return EmbedderIdentity(name=name, precision=SERVED, dimension=vectors.shape[1])
