"""A model that reads a question with each passage: a cross-encoder, or late interaction (a vector for each token).

One of this machine runs in a process of its own, `python -m tasks.models.reranker FOLDER KIND`: a request is a question and
passages, the reply a score for each of these in float32. Another is behind the server at FLOWREADER_RERANK_BASE_URL.
"""

import json
import sys
from collections.abc import Callable, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from storage.system import bound_arenas
from tasks.algorithms.arrays import FloatArray
from tasks.models.embedding.local import SECONDS_PER_TEXT, model_folder
from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.endpoints import rerank_endpoint
from tasks.models.process import ModelProcess, speak
from tasks.settings.ask import AskSettings

SETTING = "ask.rerank"
CROSS, LATE = "cross-encoder", "late interaction"


def kind_of_model(folder: Path, named: str) -> str:
    """Return CROSS or LATE by what the folder's files say; raise EmbeddingError for another kind of model.

    sentence-transformers would give any of them a head of random weights.
    """
    saved = _read_json(folder / "config_sentence_transformers.json").get("model_type", "")
    made = " ".join(_read_json(folder / "config.json").get("architectures") or [])
    if saved in {"MultiVectorEncoder", "ColBERT"} or "HF_ColBERT" in made:
        return LATE
    if saved == "CrossEncoder" or (not saved and "ForSequenceClassification" in made):
        return CROSS
    raise EmbeddingError(
        f"{named!r} is neither a cross-encoder nor a model of late interaction", named, f'set {SETTING} to one, or to ""'
    )


def _read_json(config: Path) -> dict[str, Any]:
    return dict(json.loads(config.read_text("utf-8"))) if config.is_file() else {}


class Reranker(Protocol):
    """A question and passages in, a score for each passage out; safe to call from many threads."""

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        """Return the scores (n,), of any scale; raise EmbeddingError where that fails, in words that name the reranker."""
        ...


class LocalReranker:
    """The model in its process."""

    def __init__(self, named: str) -> None:
        """Start the model of this name or folder; raise EmbeddingError where it is not on this machine."""
        try:
            folder = model_folder(named)
        except EmbeddingError as error:
            what, remedy = (
                error.what.replace("embedding model", "reranker"),
                error.remedy.replace("FLOWREADER_EMBED_MODEL", SETTING),
            )
            raise EmbeddingError(what, error.value, remedy) from error
        self._named = named
        kind, offline = kind_of_model(folder, named), {"HF_HUB_OFFLINE": "1"}
        self._process = ModelProcess("tasks.models.reranker", str(folder), kind, failure=EmbeddingError, environment=offline)

    def scores(self, question: str, passages: Sequence[str]) -> FloatArray:
        if not passages:
            return np.zeros(0)
        request, seconds = [question, *passages], SECONDS_PER_TEXT * len(passages)
        reply = self._process.ask(request, seconds=seconds) or self._process.ask(request, seconds=seconds)
        scores = np.frombuffer(reply or b"", np.float32)
        if len(scores) != len(passages) or not np.isfinite(scores).all():
            raise EmbeddingError(
                f"reranker {self._named!r} gave no score for each passage", self._named, f'set {SETTING} to another, or to ""'
            )
        return scores.astype(np.float64)


def name_of_reranker(settings: AskSettings) -> str:
    """Return the model that ask.rerank names, else the one of the server that the environment names; "" where none is to look."""
    if settings.second.rerank_weight == 0:
        return ""
    served = None if settings.rerank else rerank_endpoint()
    return served.model if served else settings.rerank


def open_reranker(settings: AskSettings, *, until: float | None) -> Reranker:
    """Return the reranker that `name_of_reranker` names; raise EmbeddingError where it is not on this machine.

    A server is waited for until this moment of time.monotonic() at the latest.
    """
    if settings.rerank:
        return _open_local(settings.rerank)
    endpoint = rerank_endpoint()
    assert endpoint is not None
    # The client takes long to load, and a model on this machine needs none of it.
    from tasks.models.served_reranker import ServedReranker

    return ServedReranker(endpoint, settings.models, until=until)


@lru_cache
def _open_local(named: str) -> LocalReranker:
    """Return the model, opened once a process; it loads with its first passages."""
    return LocalReranker(named)


def load() -> Callable[[list[str]], bytes]:
    bound_arenas()
    folder, kind = sys.argv[1:]
    try:
        score = _scorer(folder, kind)
    except (OSError, ValueError, RuntimeError, LookupError, ImportError) as error:
        what = f"{folder} is no model that sentence-transformers loads ({error})"
        raise EmbeddingError(what, folder, f"set {SETTING} to another") from error

    def reply(request: list[str]) -> bytes:
        question, *passages = (text.encode("utf-8", "replace").decode() for text in request)
        return np.asarray(score(question, passages), np.float32).tobytes()

    return reply


def _scorer(folder: str, kind: str) -> Callable[[str, list[str]], Any]:
    """Return what scores passages for a question."""
    from sentence_transformers import CrossEncoder, MultiVectorEncoder
    from torch.nn import Identity

    if kind == CROSS:
        # Logits: of two sure ones a sigmoid makes the same 1.
        cross = CrossEncoder(folder, device="cpu", local_files_only=True, activation_fn=Identity())
        return lambda question, passages: cross.predict([(question, passage) for passage in passages], show_progress_bar=False)
    late = MultiVectorEncoder(folder, device="cpu", local_files_only=True)
    return lambda question, passages: late.similarity(late.encode_query([question]), late.encode_document(passages))[0]


if __name__ == "__main__":
    speak(load)
