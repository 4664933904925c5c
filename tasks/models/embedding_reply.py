"""From the bytes that an embeddings server sends to rows of numbers, or to what is wrong with them."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from storage.records import Vectors
from tasks.models.served_models import same_model
from tasks.models.vector_checks import EmbeddingError

SHOWN_CHARACTERS = 80


def rows_of(body: bytes, *, texts: int, model: str, source: str) -> list[Vectors]:
    """Return the vector of each text, in the order of the texts, of any length and not yet looked into.

    Raises EmbeddingError where the reply is not the protocol, is of another model, or does not answer text by text, in their
    order: whoever mixes up places may mix up texts.
    """
    try:
        told = json.loads(body)
        model_told, entries = told.get("model") or "", told["data"]
        places = [entry["index"] for entry in entries]
        rows = [_row(entry["embedding"]) for entry in entries]
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as error:
        raise EmbeddingError(
            f"{source} gave no vectors as the OpenAI protocol has them ({_short(error)}); nothing was stored: set "
            "FLOWREADER_EMBED_BASE_URL to an embeddings server"
        ) from error
    if not isinstance(model_told, str) or not same_model(model, model_told):
        raise EmbeddingError(
            f"{source} was asked for {model} and answered as {_short(model_told)!r}; nothing was stored: set FLOWREADER_EMBED_MODEL"
        )
    if len(rows) != texts:
        raise EmbeddingError(f"{source} gave {len(rows)} vectors for {texts} texts; nothing was stored: use another server")
    if places != list(range(texts)):
        order = f"in the order {_short(places)}, not in that of the texts"
        raise EmbeddingError(f"{source} gave its vectors {order}; nothing was stored: use another server")
    return rows


def _row(numbers: Any) -> Vectors:  # noqa: ANN401 - whatever JSON can hold
    """Return a list of numbers as an array; raise ValueError for anything else, a list of words among them."""
    row = np.asarray(numbers)
    if row.ndim != 1 or row.dtype.kind not in "fi":
        raise ValueError(f"{_short(numbers)} where a list of numbers belongs")
    return row


def _short(value: object) -> str:
    shown = "".join(sign if sign.isprintable() else " " for sign in str(value)[:SHOWN_CHARACTERS])
    return " ".join(shown.split())
