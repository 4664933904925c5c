"""A look at an embeddings server: a few texts, some of them twice and in another order."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from storage.records import Vectors
from tasks.model_settings import ChatRetries, ModelSettings
from tasks.models.checkup import Checkup, ServerCheck, problem, told
from tasks.models.embedding_service import EmbeddingService
from tasks.models.endpoints import Endpoint
from tasks.models.vector_checks import EmbeddingError, unit_vectors

TEXTS = ("The harbour was closed by ice in January.", "Revenue per share", "7")
SAME = 0.999
"""Cosine of two vectors of one text at least: batches of bf16 differ in the last digits, other texts by far more."""
UNIT_TOLERANCE = 1e-3

START = "start an embeddings server as deployments/vllm/README.md says"
OTHER = "use another embeddings server, or another model on it"


def check_embeddings(endpoint: Endpoint) -> Checkup:
    """Ask the server for its model, and for the vectors of a few texts."""
    return told("embeddings", endpoint, list(_looked_at(endpoint)))


def _looked_at(endpoint: Endpoint) -> Iterator[ServerCheck]:
    settings = ModelSettings(retries=ChatRetries(attempts=1, silent_attempts=1, busy_seconds=0))
    began = time.monotonic()
    try:
        model = EmbeddingService(endpoint, settings).served_model()
    except EmbeddingError as error:
        yield problem("answers", error, START)
        return
    yield ServerCheck("answers", f"in {time.monotonic() - began:.2f} s")
    yield ServerCheck("model", model.name + (f", reads {model.context_tokens:,} tokens" if model.context_tokens else ""))
    service = EmbeddingService(replace(endpoint, model=model.name), settings)
    first, second, third = TEXTS
    try:
        rows = service.rows([first, second, third, first], seconds=settings.embeddings.question_seconds)
        turned = service.rows([third, first], seconds=settings.embeddings.question_seconds)
        vectors = unit_vectors([*rows, *turned], count=6, dimension=len(rows[0]), source=service.source)
    except EmbeddingError as error:
        yield problem("vectors", error, OTHER)
        return
    yield ServerCheck("dimension", f"{len(rows[0])} numbers a text")
    yield _length_check(rows)
    yield from _place_checks(vectors)


def _length_check(rows: list[Vectors]) -> ServerCheck:
    lengths = np.array([np.linalg.norm(row.astype(np.float64)) for row in rows])
    unit = bool(np.all(np.abs(lengths - 1) < UNIT_TOLERANCE))
    found = "1" if unit else f"{lengths.min():.3g} to {lengths.max():.3g}; brought to 1 before they are stored"
    return ServerCheck("length", found)


def _place_checks(vectors: Vectors) -> Iterator[ServerCheck]:
    """Look whether the vectors of the first, second, third and first text, then the third and first, are where they belong."""
    first, second, third, again, turned_third, turned_first = vectors
    apart = max(float(first @ second), float(first @ third), float(second @ third))
    alike = apart > SAME
    found = f"up to cosine {apart:.2f} alike" + (": the vectors say nothing of the texts" if alike else "")
    yield ServerCheck("other texts", found, OTHER if alike else "")
    twice = float(first @ again)
    yield ServerCheck("same text twice", f"cosine {twice:.6f}", "" if twice >= SAME else OTHER)
    kept = float(first @ turned_first) >= SAME and float(third @ turned_third) >= SAME
    yield ServerCheck(
        "order", "kept" if kept else "the vectors of a request do not stand in the order of its texts", "" if kept else OTHER
    )
