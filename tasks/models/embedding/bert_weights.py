"""The weights of all-MiniLM-L6-v2 by their names, as arrays of numpy or tensors of torch."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

LAYERS = 6
HEADS = 12
NORM_EPSILON = 1e-12

Array = TypeVar("Array")


@dataclass(frozen=True, slots=True)
class Affine(Generic[Array]):
    """Weight and bias, of a linear layer or of a normalisation."""

    weight: Array
    bias: Array


@dataclass(frozen=True, slots=True)
class Layer(Generic[Array]):
    """One encoder layer; `attend` is query, key and value in one matrix."""

    attend: Affine[Array]
    output: Affine[Array]
    output_norm: Affine[Array]
    widen: Affine[Array]
    narrow: Affine[Array]
    narrow_norm: Affine[Array]


def affine(weights: Mapping[str, Array], name: str) -> Affine[Array]:
    return Affine(weights[f"{name}.weight"], weights[f"{name}.bias"])


def encoder_layers(weights: Mapping[str, Array], joined: Callable[[list[Affine[Array]]], Affine[Array]]) -> list[Layer[Array]]:
    """Return the layers; `joined` makes linear layers one that gives the results of all, side by side."""

    def layer(name: str) -> Layer[Array]:
        def linear(*parts: str) -> Affine[Array]:
            return joined([affine(weights, f"{name}.{part}") for part in parts])

        return Layer(
            attend=linear(*(f"attention.self.{part}" for part in ("query", "key", "value"))),
            output=linear("attention.output.dense"),
            output_norm=affine(weights, f"{name}.attention.output.LayerNorm"),
            widen=linear("intermediate.dense"),
            narrow=linear("output.dense"),
            narrow_norm=affine(weights, f"{name}.output.LayerNorm"),
        )

    return [layer(f"encoder.layer.{number}") for number in range(LAYERS)]
