"""The embedder of a corpus: the model on this machine, or one behind an endpoint.

A corpus keeps the identity it was made with, precision included, so vectors of two kinds never meet in a search. Precision
is chosen when a corpus is made, from the processor's flags: bf16 where it computes bfloat16 itself, else fp32. Any machine
can embed in either, only slower.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Protocol

from storage.records import EmbedderIdentity, Vectors
from tasks.models import minilm, served_embedder
from tasks.models.endpoints import embedding_endpoint
from tasks.models.vector_checks import EmbeddingError


class Embedder(Protocol):
    """Texts in, unit vectors out; safe to call from many threads."""

    identity: EmbedderIdentity

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts of nodes, (texts, dimension), in their order; raise EmbeddingError where that fails."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, (1, dimension)."""
        ...


_opened: dict[EmbedderIdentity, Embedder] = {}
_opening = threading.Lock()


def default_identity() -> EmbedderIdentity:
    """Return what a new corpus is embedded with; cheap, only an endpoint is asked once for its dimension."""
    endpoint = embedding_endpoint()
    return served_embedder.served_identity(endpoint) if endpoint else minilm.minilm_identity()


def open_embedder(identity: EmbedderIdentity | None) -> Embedder:
    """Return the embedder of this identity (None: the default), loaded once a process; raise EmbeddingError where it fails."""
    wanted = identity or default_identity()
    with _opening:
        if wanted not in _opened:
            _opened[wanted] = _open_served(wanted) if wanted.precision == served_embedder.PRECISION else _open_local(wanted)
        return _opened[wanted]


def _open_local(identity: EmbedderIdentity) -> Embedder:
    if identity.name != minilm.NAME:
        raise EmbeddingError(f"embedder {identity.key} is unknown here; only {minilm.NAME} runs on this machine itself")
    model = minilm.MiniLM(identity.precision)
    if model.identity != identity:
        raise EmbeddingError(f"the corpus was embedded by {identity.key}, this is {model.identity.key}; ingest into a new corpus")
    return model


def _open_served(identity: EmbedderIdentity) -> Embedder:
    endpoint = embedding_endpoint()
    if endpoint is None or endpoint.model != identity.name:
        raise EmbeddingError(
            f"the corpus was embedded by {identity.name} behind an endpoint; set FLOWREADER_EMBED_BASE_URL to where it is "
            f"served and FLOWREADER_EMBED_MODEL={identity.name}"
        )
    return served_embedder.ServedEmbedder(endpoint, identity)
