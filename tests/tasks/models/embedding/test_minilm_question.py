"""A question is embedded without torch, and as the documents are."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from storage.artifacts import hash_bytes
from tasks.models.embedding import minilm_question
from tasks.models.embedding.bert_layers import BertLayers
from tasks.models.embedding.minilm import MiniLM, minilm_identity, model_folder
from tasks.models.embedding.minilm_question import BertInNumpy, QuestionMiniLM
from tasks.models.embedding.vectors import EmbeddingError
from tests.tasks.models.embedding.test_bert_layers import seeded_weights


@pytest.mark.parametrize("tokens", [[7], [3, 3], list(range(16))])
def test_the_mean_state_is_that_of_the_layers_in_torch(tokens):
    weights = seeded_weights()
    expected = BertLayers(weights, torch.float32).mean_states([tokens])[0].numpy()
    found = BertInNumpy({name: values.numpy() for name, values in weights.items()}).mean_state(tokens)
    assert found.dtype == np.float32 and np.allclose(found, expected, atol=1e-5)


QUESTIONS = [
    "How many megawatts are possible at the Aldre coast?",
    "Wie hoch war der Umsatz?",
    "収益はいくらですか",
    "tide " * 400,
    "\udcff?",
    "",
]


@pytest.fixture(scope="module")
def model():
    return QuestionMiniLM(minilm_identity())


@pytest.mark.parametrize(("precision", "least"), [("fp32", 0.99999), ("bf16", 0.9995)])
def test_a_question_lies_where_the_embedder_of_the_documents_puts_it(model, precision, least):
    expected = MiniLM(precision).embed_documents(QUESTIONS)
    found = np.concatenate([model.embed_query(text) for text in QUESTIONS])
    assert found.shape == expected.shape and found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    assert (found * expected).sum(axis=1).min() > least


def test_many_threads_get_the_bits_that_one_gets(model):
    alone = [model.embed_query(text) for text in QUESTIONS]
    with ThreadPoolExecutor(8) as pool:
        assert all(map(np.array_equal, pool.map(model.embed_query, QUESTIONS * 2), alone * 2))


def test_torch_is_not_loaded():
    code = (
        "import sys; from tasks.models.embedding.minilm import minilm_identity;"
        "from tasks.models.embedding.minilm_question import QuestionMiniLM;"
        "QuestionMiniLM(minilm_identity()).embed_query('tide'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_weights_that_are_not_the_published_ones_are_refused(monkeypatch):
    monkeypatch.setattr(minilm_question, "WEIGHTS_SHA256", hash_bytes(b"other"))
    assert model_folder().exists()
    with pytest.raises(EmbeddingError, match="is not the published model"):
        QuestionMiniLM(minilm_identity()).embed_query("tide")
