"""The layers of a small BERT for one text, in numpy and float32: those of tasks/models/bert_layers.py, without torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

States = npt.NDArray[np.float32]

LAYERS = 6
HEADS = 12
NORM_EPSILON = 1e-12
ERROR_FUNCTION = (0.254829592, -0.284496736, 1.421413741, -1.453152027, 1.061405429)
ERROR_SCALE = 0.3275911
"""Abramowitz and Stegun, 7.1.26: the error function, which numpy lacks, to 0.00000015."""


@dataclass(frozen=True, slots=True)
class Affine:
    """A linear layer's weight (in, out) and bias (out,), or a normalisation's, both (width,)."""

    weight: States
    bias: States


@dataclass(frozen=True, slots=True)
class Layer:
    """One encoder layer; `attend` is query, key and value in one matrix."""

    attend: Affine
    output: Affine
    output_norm: Affine
    widen: Affine
    narrow: Affine
    narrow_norm: Affine


class BertInNumpy:
    """The layers with their weights."""

    def __init__(self, weights: Mapping[str, States]) -> None:
        """Take the arrays of a safetensors file under the names that Transformers gives them."""
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        self._norm = _affine(weights, "embeddings.LayerNorm")
        self._layers = [_layer(weights, f"encoder.layer.{number}.") for number in range(LAYERS)]

    def mean_state(self, tokens: Sequence[int]) -> States:
        """Return the mean of the last states of a text's tokens, (width,); it may not be empty."""
        states = _normalised(self._words[list(tokens)] + self._places[: len(tokens)], self._norm)
        for layer in self._layers:
            attended = _linear(_attended(_linear(states, layer.attend)), layer.output)
            states = _normalised(states + attended, layer.output_norm)
            narrowed = _linear(_gelu(_linear(states, layer.widen)), layer.narrow)
            states = _normalised(states + narrowed, layer.narrow_norm)
        return np.asarray(states.mean(axis=0))


def _linear(states: States, layer: Affine) -> States:
    return np.asarray(states @ layer.weight + layer.bias)


def _attended(packed: States) -> States:
    """Mix the values of the tokens by how well their keys fit each query, head by head."""
    query, key, value = packed.reshape(len(packed), 3, HEADS, -1).transpose(1, 2, 0, 3)
    fit = query @ key.transpose(0, 2, 1) / np.float32(np.sqrt(query.shape[2]))
    shares = np.exp(fit - fit.max(axis=2, keepdims=True))
    mixed = shares / shares.sum(axis=2, keepdims=True) @ value
    return np.asarray(mixed.transpose(1, 0, 2).reshape(len(packed), -1))


def _gelu(values: States) -> States:
    """Return x times the share of a normal distribution below x."""
    size = np.abs(values) / np.float32(np.sqrt(2))
    step = 1 / (1 + np.float32(ERROR_SCALE) * size)
    terms = np.zeros_like(step)
    for factor in reversed(ERROR_FUNCTION):
        terms = (terms + np.float32(factor)) * step
    error = 1 - terms * np.exp(-size * size)
    return np.asarray(values * (1 + np.copysign(error, values)) / 2)


def _normalised(states: States, norm: Affine) -> States:
    centred = states - states.mean(axis=1, keepdims=True)
    spread = np.sqrt((centred * centred).mean(axis=1, keepdims=True) + np.float32(NORM_EPSILON))
    return np.asarray(centred / spread * norm.weight + norm.bias)


def _affine(weights: Mapping[str, States], name: str) -> Affine:
    return Affine(weights[f"{name}.weight"], weights[f"{name}.bias"])


def _joined(weights: Mapping[str, States], *names: str) -> Affine:
    """Return linear layers as one that gives the results of all, side by side."""
    parts = [_affine(weights, name) for name in names]
    return Affine(np.concatenate([part.weight for part in parts]).T, np.concatenate([part.bias for part in parts]))


def _layer(weights: Mapping[str, States], name: str) -> Layer:
    return Layer(
        attend=_joined(weights, *(f"{name}attention.self.{part}" for part in ("query", "key", "value"))),
        output=_joined(weights, f"{name}attention.output.dense"),
        output_norm=_affine(weights, f"{name}attention.output.LayerNorm"),
        widen=_joined(weights, f"{name}intermediate.dense"),
        narrow=_joined(weights, f"{name}output.dense"),
        narrow_norm=_affine(weights, f"{name}output.LayerNorm"),
    )
