"""An embedder behind an OpenAI-compatible embeddings endpoint."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from storage.records import EmbedderIdentity, Vectors
from tasks.models.endpoints import Endpoint
from tasks.models.vector_checks import EmbeddingError, unit_vectors

PRECISION = "served"
CONNECT_SECONDS = 5.0
REPLY_SECONDS = 120.0
RETRIES = 2

PREFIXES = {"nomic-embed-text-v1.5": ("search_document: ", "search_query: ")}
"""What a model wants before a document and before a question, by the last part of its name."""


class ServedEmbedder:
    """A model that someone serves; the connection is made when the first text is embedded."""

    def __init__(self, endpoint: Endpoint, identity: EmbedderIdentity, *, retries: int = RETRIES) -> None:
        """Prepare the client; nothing is sent."""
        from openai import OpenAI, Timeout

        self.identity = identity
        self._endpoint = endpoint
        self._prefixes = PREFIXES.get(endpoint.model.rsplit("/", 1)[-1], ("", ""))
        timeout = Timeout(REPLY_SECONDS, connect=CONNECT_SECONDS)
        self._client = OpenAI(base_url=endpoint.base_url, api_key="none", timeout=timeout, max_retries=retries)

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts in their order, in one request; raise EmbeddingError where the reply is not to be trusted."""
        return self._embed(texts, self._prefixes[0])

    def embed_query(self, text: str) -> Vectors:
        """Embed a question."""
        return self._embed([text], self._prefixes[1])

    def _embed(self, texts: Sequence[str], prefix: str) -> Vectors:
        if not texts:
            return np.zeros((0, self.identity.dimension), dtype=np.float32)
        rows = self.request([prefix + (text or " ") for text in texts])
        return unit_vectors(rows, count=len(texts), dimension=self.identity.dimension, source=self._source)

    def request(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the server's vectors in the order of the texts; servers refuse empty texts."""
        from openai import OpenAIError

        sent = [text.encode("utf-8", "replace").decode() for text in texts]
        try:
            reply = self._client.embeddings.create(model=self._endpoint.model, input=sent, encoding_format="float")
        except (OpenAIError, ValueError) as error:
            raise EmbeddingError(f"{self._source} did not embed {len(texts)} texts: {error}; check that it is up") from error
        rows = {item.index: item.embedding for item in reply.data or ()}
        if sorted(rows) != list(range(len(texts))) or len(reply.data) != len(texts):
            raise EmbeddingError(f"{self._source} answered {len(rows)} of {len(texts)} texts; nothing was stored")
        return [rows[position] for position in range(len(texts))]

    @property
    def _source(self) -> str:
        return f"embeddings endpoint {self._endpoint.base_url} ({self._endpoint.model})"


@lru_cache
def served_identity(endpoint: Endpoint) -> EmbedderIdentity:
    """Return the identity of a served model; its dimension is asked of the server, once a process and once only."""
    unknown = EmbedderIdentity(name=endpoint.model, precision=PRECISION, dimension=0)
    dimension = len(ServedEmbedder(endpoint, unknown, retries=0).request(["dimension"])[0])
    return EmbedderIdentity(name=endpoint.model, precision=PRECISION, dimension=dimension)
