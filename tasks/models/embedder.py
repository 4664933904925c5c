"""The embedder of a corpus: the model on this machine, or one behind an endpoint.

A corpus keeps the identity it was made with, precision included, so vectors of two kinds never meet in a search. Precision
is chosen when a corpus is made, from the processor's flags: bf16 where it computes bfloat16 itself, else fp32. Any machine
can embed in either, only slower.
"""

import threading
from collections.abc import Sequence
from typing import Protocol

from storage.records import EmbedderIdentity, Vectors
from tasks.model_settings import ModelSettings
from tasks.models import minilm
from tasks.models.endpoints import SERVED, embedding_endpoint
from tasks.models.minilm_process import MiniLMProcess
from tasks.models.minilm_question import QuestionMiniLM
from tasks.models.vector_checks import EmbeddingError

DEFAULT_MODELS = ModelSettings()


class Embedder(Protocol):
    """Texts in, unit vectors out; safe to call from many threads."""

    identity: EmbedderIdentity

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts of nodes, (texts, dimension), in their order; raise EmbeddingError where that fails."""
        ...

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, (1, dimension)."""
        ...


class UnopenedEmbedder:
    """An embedder that is opened, in a process of its own, by the first text: for whoever mostly has others embed."""

    def __init__(self, identity: EmbedderIdentity, models: ModelSettings) -> None:
        """Take what `open_embedder` takes."""
        self.identity = identity
        self._models = models

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts; raise EmbeddingError where there is no such embedder here, too."""
        return open_embedder(self.identity, apart=True, models=self._models).embed_documents(texts)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, (1, dimension)."""
        return open_embedder(self.identity, apart=True, models=self._models).embed_query(text)


_opened: dict[tuple[EmbedderIdentity, bool], Embedder] = {}
_for_questions: dict[EmbedderIdentity, Embedder] = {}
_opening = threading.Lock()


def default_identity() -> EmbedderIdentity:
    """Return what a new corpus is embedded with; cheap, only an endpoint is asked once for its dimension."""
    endpoint = embedding_endpoint()
    if endpoint is None:
        return minilm.minilm_identity()
    # What speaks to servers takes long to load, and the model on this machine needs none of it.
    from tasks.models.served_embedder import served_identity

    return served_identity(endpoint)


def open_embedder(identity: EmbedderIdentity, *, apart: bool, models: ModelSettings = DEFAULT_MODELS) -> Embedder:
    """Return the embedder, a local one opened once a process; raise EmbeddingError where there is none of this identity.

    `apart` puts a model of this machine into a process of its own, where it loads while other things start: for much text.
    `models` says how a server is asked, where the model is one that is served.
    """
    if identity.precision == SERVED:
        return _open_served(identity, models)
    with _opening:
        if (identity, apart) not in _opened:
            _opened[identity, apart] = _open_local(identity, apart)
        return _opened[identity, apart]


def open_question_embedder(identity: EmbedderIdentity, *, models: ModelSettings = DEFAULT_MODELS) -> Embedder:
    """Return who embeds the questions of a corpus, a local one opened once a process; raise EmbeddingError where there is none."""
    if identity.precision == SERVED:
        return _open_served(identity, models)
    with _opening:
        if identity not in _for_questions:
            _for_questions[identity] = QuestionMiniLM(_known_here(identity))
        return _for_questions[identity]


def _open_local(identity: EmbedderIdentity, apart: bool) -> Embedder:
    known = _known_here(identity)
    return MiniLMProcess(known) if apart else minilm.MiniLM(known.precision)


def _known_here(identity: EmbedderIdentity) -> EmbedderIdentity:
    """Return the identity of a model that runs on this machine; raise EmbeddingError for any other."""
    if identity.name != minilm.NAME:
        raise EmbeddingError(f"embedder {identity.key} is unknown here; only {minilm.NAME} runs on this machine itself")
    minilm.require_known(identity)
    return identity


def _open_served(identity: EmbedderIdentity, models: ModelSettings) -> Embedder:
    endpoint = embedding_endpoint()
    if endpoint is None or endpoint.model not in {"", identity.name}:
        raise EmbeddingError(
            f"the corpus was embedded by {identity.name} behind an endpoint; set FLOWREADER_EMBED_BASE_URL to where it is "
            f"served and FLOWREADER_EMBED_MODEL={identity.name}"
        )
    from tasks.models.served_embedder import ServedEmbedder

    return ServedEmbedder(endpoint, identity, models)
