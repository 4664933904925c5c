"""The layers of a small BERT over packed tokens: the linear layers never see padding, only attention does."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
import torch.nn.functional as functional
from torch import Tensor

from tasks.models.embedding.bert_weights import HEADS, NORM_EPSILON, Affine, affine, encoder_layers


@dataclass(frozen=True, slots=True)
class Packing:
    """How packed tokens lie in a padded rectangle of (texts, longest); without gaps there is neither a mask nor places."""

    lengths: Tensor
    longest: int
    places: Tensor | None
    mask: Tensor | None


def pack(lengths: Sequence[int], precision: torch.dtype) -> Packing:
    """Describe texts of these lengths, one behind the other."""
    sizes, longest = torch.tensor(lengths), max(lengths)
    if min(lengths) == longest:
        return Packing(sizes, longest, None, None)
    inside = torch.arange(longest)[None] < sizes[:, None]
    mask = torch.zeros(len(lengths), 1, 1, longest, dtype=precision).masked_fill(~inside[:, None, None], float("-inf"))
    return Packing(sizes, longest, inside.flatten().nonzero()[:, 0], mask)


class BertLayers:
    """Linear layers and attention in `precision`; embeddings, the running sum and normalisation stay in float32."""

    def __init__(self, weights: Mapping[str, Tensor], precision: torch.dtype) -> None:
        self._precision = precision
        self._words = weights["embeddings.word_embeddings.weight"]
        self._places = weights["embeddings.position_embeddings.weight"] + weights["embeddings.token_type_embeddings.weight"][0]
        self._norm = affine(weights, "embeddings.LayerNorm")
        self._layers = encoder_layers(weights, self._joined)

    @torch.inference_mode()
    def mean_states(self, tokens: Sequence[Sequence[int]]) -> Tensor:
        """Return the mean of the last states of each text's tokens, (texts, width) in float32; no text may be empty."""
        packing = pack([len(ids) for ids in tokens], self._precision)
        states = self._words[torch.tensor([token for ids in tokens for token in ids])]
        states = _normalise(states + self._places[torch.cat([torch.arange(len(ids)) for ids in tokens])], self._norm)
        for layer in self._layers:
            attended = self._attend(functional.linear(self._cast(states), layer.attend.weight, layer.attend.bias), packing)
            attended = functional.linear(attended, layer.output.weight, layer.output.bias)
            states = _normalise(states + attended.float(), layer.output_norm)
            wide = functional.gelu(functional.linear(self._cast(states), layer.widen.weight, layer.widen.bias))
            states = _normalise(states + functional.linear(wide, layer.narrow.weight, layer.narrow.bias).float(), layer.narrow_norm)
        texts = torch.repeat_interleave(torch.arange(len(tokens)), packing.lengths)
        return torch.zeros(len(tokens), states.shape[1]).index_add_(0, texts, states) / packing.lengths[:, None]

    def _joined(self, parts: Sequence[Affine[Tensor]]) -> Affine[Tensor]:
        if len(parts) == 1:  # in float32 without a copy
            return Affine(self._cast(parts[0].weight), self._cast(parts[0].bias))
        return Affine(self._cast(torch.cat([part.weight for part in parts])), self._cast(torch.cat([part.bias for part in parts])))

    def _cast(self, states: Tensor) -> Tensor:
        return states.to(self._precision)

    def _attend(self, packed: Tensor, packing: Packing) -> Tensor:
        texts, longest, width = len(packing.lengths), packing.longest, packed.shape[1] // 3
        padded = packed
        if packing.places is not None:
            padded = packed.new_zeros(texts * longest, packed.shape[1])
            padded[packing.places] = packed
        query, key, value = padded.view(texts, longest, 3, HEADS, width // HEADS).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(query, key, value, attn_mask=packing.mask)
        mixed = mixed.transpose(1, 2).reshape(texts * longest, width)
        return mixed if packing.places is None else mixed[packing.places]


def _normalise(states: Tensor, norm: Affine[Tensor]) -> Tensor:
    return functional.layer_norm(states, (states.shape[1],), norm.weight, norm.bias, NORM_EPSILON)
