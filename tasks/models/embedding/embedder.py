"""The embedder of a corpus: a model on this machine, or one behind an endpoint.

A corpus keeps the identity it was made with, precision included, so vectors of two kinds never meet in a search. Precision
is chosen when a corpus is made, from the processor's flags: bf16 where it computes bfloat16 itself, else fp32. Any machine
can embed in either, only slower.
"""

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import TYPE_CHECKING, Protocol

from storage.records.documents import EmbedderIdentity, Vectors
from storage.records.embedded import Embedded
from tasks.models.embedding.local import PRECISIONS, LocalEmbedder, model_folder, model_name, this_precision
from tasks.models.embedding.minilm import DIMENSION, NAME, QuestionMiniLM
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import SERVED, Endpoint, embedding_endpoint, local_embedding_model, second_endpoint
from tasks.settings.models import ModelSettings

if TYPE_CHECKING:
    from tasks.models.embedding.served import ServedEmbedder

DEFAULT_MODELS = ModelSettings()
SECOND = "reading.embedding.second"


class Embedder(Protocol):
    """Texts in, unit vectors out; safe to call from many threads."""

    identity: EmbedderIdentity

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts of nodes, (texts, dimension), in their order; raise EmbeddingError where that fails."""
        ...


class QuestionEmbedder(Protocol):
    """A question in, its unit vector out; safe to call from many threads."""

    identity: EmbedderIdentity

    def embed_query(self, text: str) -> Vectors:
        """Embed a question, (1, dimension); raise EmbeddingError where that fails."""
        ...

    def states_of_query(self, text: str) -> Vectors | None:
        """Return the states of a question's tokens worth comparing (t, width), None from a server; raise EmbeddingError."""
        ...


class UnopenedEmbedder:
    """An embedder that is opened by the first text: for a process that mostly has others embed."""

    def __init__(self, identity: EmbedderIdentity, models: ModelSettings) -> None:
        """Take what `open_embedder` takes."""
        self.identity = identity
        self._models = models
        self._opening, self._opened = threading.Lock(), list[Embedder]()

    def open(self) -> Embedder:
        """Return the embedder, opened once: a served one bounds all its requests together."""
        with self._opening:
            if not self._opened:
                self._opened.append(open_embedder(self.identity, models=self._models))
            return self._opened[0]

    def embed_documents(self, texts: Sequence[str]) -> Embedded:
        """Embed the texts; raise EmbeddingError where there is no such embedder here, too."""
        with wrongs_of_second(self.identity.named):
            return self.open().embed_documents(texts)


def unopened_embedders(identity: EmbedderIdentity, models: ModelSettings) -> tuple[UnopenedEmbedder, UnopenedEmbedder | None]:
    """Return the embedder of a corpus, and its second where it has one."""
    second = UnopenedEmbedder(identity.second, models) if identity.second else None
    return UnopenedEmbedder(replace(identity, second=None), models), second


_opened: dict[EmbedderIdentity, LocalEmbedder] = {}
_for_questions: dict[EmbedderIdentity, QuestionEmbedder] = {}
_opening = threading.Lock()


def default_identity() -> EmbedderIdentity:
    """Return what a new corpus is embedded with; cheap for the default, others are asked for their dimension once."""
    return _identity(embedding_endpoint(), local_embedding_model() or NAME)


def second_identity(named: str) -> EmbedderIdentity:
    """Return what the model that `reading.embedding.second` names makes, asked as `default_identity` asks."""
    with wrongs_of_second(named):
        return replace(_identity(second_endpoint(named), named), named=named)


@contextmanager
def wrongs_of_second(named: str) -> Iterator[None]:
    """Have what is wrong with a second embedder, which is `named`, name its own setting and variables."""
    try:
        yield
    except EmbeddingError as error:
        if not named:
            raise
        what, remedy = (
            part.replace("FLOWREADER_EMBED_MODEL", SECOND).replace("FLOWREADER_EMBED_", "FLOWREADER_SECOND_")
            for part in (error.what, error.remedy)
        )
        raise EmbeddingError(what, error.value, remedy) from error


def _identity(endpoint: Endpoint | None, named: str) -> EmbedderIdentity:
    if endpoint is not None:
        from tasks.models.embedding.served import ask_identity

        return ask_identity(endpoint)
    name, precision = model_name(named), this_precision()
    if name == NAME:
        return EmbedderIdentity(NAME, precision, DIMENSION)
    with _opening:
        known = [identity for identity in _opened if (identity.name, identity.precision) == (name, precision)]
        if not known:
            embedder = LocalEmbedder(named, EmbedderIdentity(name, precision, 0))
            known = [embedder.with_dimension()]
            _opened[known[0]] = embedder
        return known[0]


def open_embedder(identity: EmbedderIdentity, *, models: ModelSettings = DEFAULT_MODELS) -> Embedder:
    """Return the embedder, a local one opened once a process; raise EmbeddingError where there is none of this identity.

    A model of this machine gets a process of its own, where it loads while other things start. `models` says how a server is
    asked, where the model is one that is served.
    """
    identity = replace(identity, second=None, texts="content")  # one of each model, whatever it embeds of nodes
    return _open_served(identity, models) if identity.precision == SERVED else _open_local(identity)


def open_question_embedder(identity: EmbedderIdentity, *, models: ModelSettings = DEFAULT_MODELS) -> QuestionEmbedder:
    """Return the embedder of a corpus's questions, a local one opened once a process; raise EmbeddingError where there is none."""
    identity = replace(identity, second=None, texts="content")  # one of each model, whatever it embeds of nodes
    if identity.precision == SERVED:
        return _open_served(identity, models)
    if identity.name != NAME:
        return _open_local(identity)
    _local_model(identity)
    with _opening:
        if identity not in _for_questions:
            _for_questions[identity] = QuestionMiniLM(identity)
        return _for_questions[identity]


def open_second(identity: EmbedderIdentity, models: ModelSettings) -> QuestionEmbedder | None:
    """Return the second embedder of a corpus's questions, None where it has one embedder; raise EmbeddingError as that does."""
    if identity.second is None:
        return None
    with wrongs_of_second(identity.second.named):
        return open_question_embedder(identity.second, models=models)


def _open_local(identity: EmbedderIdentity) -> LocalEmbedder:
    named = _local_model(identity)
    with _opening:
        if identity not in _opened:
            _opened[identity] = LocalEmbedder(named, identity)
        return _opened[identity]


def _local_model(identity: EmbedderIdentity) -> str:
    """Return the name or folder of the model; raise EmbeddingError unless it gives what the corpus was embedded by."""
    if identity.precision not in PRECISIONS:
        known = ", ".join(PRECISIONS)
        raise EmbeddingError(
            f"{identity.name} has no precision {identity.precision!r}, only {known}", identity.precision, "ingest into a new corpus"
        )
    if identity.named:
        return _second_local_model(identity)
    named = local_embedding_model()
    if identity.name == NAME:
        if identity.dimension != DIMENSION:
            raise EmbeddingError(
                f"the corpus was embedded by {identity.key}, {NAME} gives {DIMENSION}", remedy="ingest into a new corpus"
            )
        if named:
            model_folder(named)  # of other corpora; a name of nothing is refused here, too
        return NAME
    if not named or model_name(named) != identity.name:
        found = f"FLOWREADER_EMBED_MODEL is {model_name(named)}" if named else "FLOWREADER_EMBED_MODEL is not set"
        raise EmbeddingError(
            f"the corpus was embedded by {identity.name}, {found}", remedy="set it to the folder or name of that model"
        )
    return named


def _second_local_model(identity: EmbedderIdentity) -> str:
    if model_name(identity.named) != identity.name:
        raise EmbeddingError(
            f"the corpus was embedded a second time by {identity.name}, {identity.named!r} is {model_name(identity.named)} now",
            identity.named,
            "put that model back there, or ingest into a new corpus",
        )
    return identity.named


def _open_served(identity: EmbedderIdentity, models: ModelSettings) -> "ServedEmbedder":
    endpoint = second_endpoint(identity.name) if identity.named else embedding_endpoint()
    if endpoint is None or endpoint.model not in {"", identity.name}:
        model = "" if identity.named else f" and FLOWREADER_EMBED_MODEL={identity.name}"
        raise EmbeddingError(
            f"the corpus was embedded by {identity.name} behind an endpoint",
            remedy=f"set FLOWREADER_EMBED_BASE_URL to where it is served{model}",
        )
    # The client takes long to load, and a model on this machine needs none of it.
    from tasks.models.embedding.served import ServedEmbedder

    return ServedEmbedder(endpoint, identity, models)
