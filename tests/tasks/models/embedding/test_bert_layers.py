import numpy as np
import pytest
import torch

from tasks.models.embedding.bert_layers import BertLayers, pack

WIDTH = 24


def seeded_weights() -> dict[str, torch.Tensor]:
    generator = torch.Generator().manual_seed(3)
    shapes = {
        "embeddings.word_embeddings.weight": (50, WIDTH),
        "embeddings.position_embeddings.weight": (16, WIDTH),
        "embeddings.token_type_embeddings.weight": (2, WIDTH),
    }
    linear = {
        "attention.self.query": (WIDTH, WIDTH),
        "attention.self.key": (WIDTH, WIDTH),
        "attention.self.value": (WIDTH, WIDTH),
        "attention.output.dense": (WIDTH, WIDTH),
        "intermediate.dense": (4 * WIDTH, WIDTH),
        "output.dense": (WIDTH, 4 * WIDTH),
    }
    for number in range(6):
        for name, shape in linear.items():
            shapes[f"encoder.layer.{number}.{name}.weight"] = shape
            shapes[f"encoder.layer.{number}.{name}.bias"] = shape[:1]
    weights = {name: torch.randn(shape, generator=generator) * 0.2 for name, shape in shapes.items()}
    norms = ["embeddings.LayerNorm"]
    norms += [f"encoder.layer.{number}.{part}.LayerNorm" for number in range(6) for part in ("attention.output", "output")]
    for name in norms:
        weights[f"{name}.weight"], weights[f"{name}.bias"] = torch.ones(WIDTH), torch.zeros(WIDTH)
    return weights


@pytest.mark.parametrize(("precision", "tolerance"), [(torch.float32, 1e-5), (torch.bfloat16, 0.1)])
def test_a_text_means_the_same_alone_and_beside_longer_ones(precision, tolerance):
    layers = BertLayers(seeded_weights(), precision)
    texts = [[1, 2, 3], [4, 5, 6, 7, 8, 9, 10], [11, 12, 13, 14], [1, 2, 3]]
    together = layers.mean_states(texts).numpy()
    alone = np.concatenate([layers.mean_states([text]).numpy() for text in texts])
    np.testing.assert_allclose(together, alone, atol=tolerance)
    assert together.dtype == np.float32


def test_texts_of_one_length_need_no_padding():
    assert pack([4, 4], torch.float32).mask is None
    uneven = pack([1, 3], torch.float32)
    assert uneven.places is not None and uneven.places.tolist() == [0, 3, 4, 5]
    assert uneven.mask is not None and torch.isinf(uneven.mask[0, 0, 0]).tolist() == [False, True, True]
