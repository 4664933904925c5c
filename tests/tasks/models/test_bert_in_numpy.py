"""The layers in numpy are those in torch."""

import numpy as np
import pytest
import torch

from tasks.models.bert_in_numpy import BertInNumpy
from tasks.models.bert_layers import BertLayers
from tests.tasks.models.test_bert_layers import seeded_weights


@pytest.mark.parametrize("tokens", [[7], [3, 3], list(range(16))])
def test_the_mean_state_is_that_of_the_layers_in_torch(tokens):
    weights = seeded_weights()
    expected = BertLayers(weights, torch.float32).mean_states([tokens])[0].numpy()
    found = BertInNumpy({name: values.numpy() for name, values in weights.items()}).mean_state(tokens)
    assert found.dtype == np.float32 and np.allclose(found, expected, atol=1e-5)
