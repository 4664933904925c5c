"""The embedder of a corpus: the model on this machine, or one behind an endpoint.

A corpus keeps the identity it was made with, precision included, so vectors of two kinds never meet in a search. Precision
is chosen when a corpus is made, from the processor's flags: bf16 where it computes bfloat16 itself, else fp32. Any machine
can embed in either, only slower.
"""

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

from storage.records.documents import EmbedderIdentity, Vectors
from tasks.models.embedding import minilm
from tasks.models.embedding.minilm_process import MiniLMProcess
from tasks.models.embedding.minilm_question import QuestionMiniLM
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import SERVED, embedding_endpoint
from tasks.settings.models import ModelSettings

if TYPE_CHECKING:
    from tasks.models.embedding.served import ServedEmbedder

DEFAULT_MODELS = ModelSettings()


class Embedder(Protocol):
    """Texts in, unit vectors out; safe to call from many threads."""

    identity: EmbedderIdentity

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts of nodes, (texts, dimension), in their order; raise EmbeddingError where that fails."""
        ...


class QuestionEmbedder(Protocol):
    """Who embeds the questions of a corpus; safe to call from many threads."""

    identity: EmbedderIdentity

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, (1, dimension); raise EmbeddingError where that fails."""
        ...


class UnopenedEmbedder:
    """An embedder that is opened, in a process of its own, by the first text: for whoever mostly has others embed."""

    def __init__(self, identity: EmbedderIdentity, models: ModelSettings) -> None:
        """Take what `open_embedder` takes."""
        self.identity = identity
        self._models = models

    def embed_documents(self, texts: Sequence[str]) -> Vectors:
        """Embed the texts; raise EmbeddingError where there is no such embedder here, too."""
        return open_embedder(self.identity, models=self._models).embed_documents(texts)


_opened: dict[EmbedderIdentity, Embedder] = {}
_for_questions: dict[EmbedderIdentity, QuestionEmbedder] = {}
_opening = threading.Lock()


def default_identity() -> EmbedderIdentity:
    """Return what a new corpus is embedded with; cheap, only an endpoint is asked once for its dimension."""
    endpoint = embedding_endpoint()
    if endpoint is None:
        return minilm.minilm_identity()
    from tasks.models.embedding.served import served_identity

    return served_identity(endpoint)


def open_embedder(identity: EmbedderIdentity, *, models: ModelSettings = DEFAULT_MODELS) -> Embedder:
    """Return the embedder, a local one opened once a process; raise EmbeddingError where there is none of this identity.

    A model of this machine gets a process of its own, where it loads while other things start. `models` says how a server is
    asked, where the model is one that is served.
    """
    if identity.precision == SERVED:
        return _open_served(identity, models)
    with _opening:
        if identity not in _opened:
            minilm.require_known(identity)
            _opened[identity] = MiniLMProcess(identity)
        return _opened[identity]


def open_question_embedder(identity: EmbedderIdentity, *, models: ModelSettings = DEFAULT_MODELS) -> QuestionEmbedder:
    """Return who embeds the questions of a corpus, a local one opened once a process; raise EmbeddingError where there is none."""
    if identity.precision == SERVED:
        return _open_served(identity, models)
    with _opening:
        if identity not in _for_questions:
            minilm.require_known(identity)
            _for_questions[identity] = QuestionMiniLM(identity)
        return _for_questions[identity]


def _open_served(identity: EmbedderIdentity, models: ModelSettings) -> "ServedEmbedder":
    endpoint = embedding_endpoint()
    if endpoint is None or endpoint.model not in {"", identity.name}:
        raise EmbeddingError(
            f"the corpus was embedded by {identity.name} behind an endpoint; set FLOWREADER_EMBED_BASE_URL to where it is "
            f"served and FLOWREADER_EMBED_MODEL={identity.name}"
        )
    # What speaks to servers takes long to load, and the model on this machine needs none of it.
    from tasks.models.embedding.served import ServedEmbedder

    return ServedEmbedder(endpoint, identity, models)
