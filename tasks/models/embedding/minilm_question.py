"""all-MiniLM-L6-v2 for questions: one text at a time, without torch, which takes longer to load than all else of an answer.

In float32, whatever the documents were embedded in: bfloat16 is there for much text, and its vectors have a cosine of 0.9999 with
these.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from storage.records.documents import EmbedderIdentity, Vectors
from tasks.models.embedding.bert_weights import HEADS, NORM_EPSILON, Affine, affine, encoder_layers
from tasks.models.embedding.minilm import LAST_TOKEN, NAME, WEIGHTS_SHA256, checked_weights, model_folder
from tasks.models.embedding.vectors import unit_vectors

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

States = npt.NDArray[np.float32]

ERROR_FUNCTION = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
ERROR_SCALE = 0.3275911
"""Abramowitz and Stegun, 7.1.26: the error function, which numpy lacks, to 0.00000015."""


class BertInNumpy:
    def __init__(self, weights: Mapping[str, States]) -> None:
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        self._norm = affine(weights, "embeddings.LayerNorm")
        self._layers = encoder_layers(weights, _joined)

    def mean_state(self, tokens: Sequence[int]) -> States:
        """Return the mean of the last states of a text's tokens, (width,); it may not be empty."""
        states = _normalised(self._words[list(tokens)] + self._places[: len(tokens)], self._norm)
        for layer in self._layers:
            attended = _linear(_attended(_linear(states, layer.attend)), layer.output)
            states = _normalised(states + attended, layer.output_norm)
            narrowed = _linear(_gelu(_linear(states, layer.widen)), layer.narrow)
            states = _normalised(states + narrowed, layer.narrow_norm)
        return np.asarray(states.mean(axis=0))


def _linear(states: States, layer: Affine[States]) -> States:
    return np.asarray(states @ layer.weight + layer.bias)


def _attended(packed: States) -> States:
    """Mix the values of the tokens by how well their keys fit each query, head by head."""
    query, key, value = packed.reshape(len(packed), 3, HEADS, -1).transpose(1, 2, 0, 3)
    fit = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[2]))
    shares = np.exp(fit - fit.max(axis=2, keepdims=True))
    mixed = shares / shares.sum(axis=2, keepdims=True) @ value
    return np.asarray(mixed.transpose(1, 0, 2).reshape(len(packed), -1))


def _gelu(values: States) -> States:
    size = np.abs(values) / np.float32(np.sqrt(2))
    step = 1 / (1 + np.float32(ERROR_SCALE) * size)
    terms = np.zeros_like(step)
    for factor in reversed(ERROR_FUNCTION):
        terms = (terms + np.float32(factor)) * step
    error = 1 - terms * np.exp(-size * size)
    return np.asarray(values * (1 + np.copysign(error, values)) / 2)


def _normalised(states: States, norm: Affine[States]) -> States:
    centred = states - states.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(NORM_EPSILON))
    return np.asarray(centred / spread * norm.weight + norm.bias)


def _joined(parts: Sequence[Affine[States]]) -> Affine[States]:
    return Affine(np.concatenate([part.weight for part in parts]).T, np.concatenate([part.bias for part in parts]))


class QuestionMiniLM:
    """The model in memory; it loads while its owner does something else."""

    def __init__(self, identity: EmbedderIdentity) -> None:
        """Begin to load; `identity` is one of this model's."""
        self.identity = identity
        loader = ThreadPoolExecutor(1, thread_name_prefix="question-embedder")
        self._asking = threading.Lock()
        self._loaded = loader.submit(_load)
        loader.shutdown(wait=False)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; raise EmbeddingError where the model's files are not the published ones."""
        tokenizer, layers, threads = self._loaded.result()
        tokens = tokenizer.encode(text.encode("utf-8", "replace").decode()).ids
        # For so small products threads wait for each other: 90 ms were seen where one needs 13. The limit is of the process, and
        # another number of threads gives other bits: one text at a time.
        with self._asking, threads.limit(limits=1, user_api="blas"):
            state = layers.mean_state(tokens)
        return unit_vectors([state], count=1, dimension=self.identity.dimension, source=NAME)


def _load() -> tuple[Tokenizer, BertInNumpy, ThreadpoolController]:
    from safetensors.numpy import load
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

    folder = model_folder()
    weights = load(checked_weights(folder / "model.safetensors", WEIGHTS_SHA256))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=LAST_TOKEN)
    return tokenizer, BertInNumpy(weights), ThreadpoolController()
