"""A reranker of random weights, as sentence-transformers saves it, in its own process."""

import json

import numpy as np
import pytest

from tasks.models.embedding.vectors import EmbeddingError
from tasks.models.reranker import CROSS, LATE, LocalReranker, kind_of_model
from tests.tasks.models.embedding.tiny_bert import write_tiny_bert

QUESTION, PASSAGES = "wind and tide", ["a blade", "the wind", "tide\udcff", "", "wind and tide and blade"]


@pytest.fixture(scope="module")
def rerankers(tmp_path_factory):
    """A tiny cross-encoder and a tiny model of late interaction, of the same BERT."""
    from sentence_transformers import CrossEncoder, MultiVectorEncoder

    folder = tmp_path_factory.mktemp("models")
    bert = str(write_tiny_bert(folder / "tiny-bert", seed=1))
    CrossEncoder(bert, num_labels=1).save_pretrained(str(folder / CROSS))
    MultiVectorEncoder(bert).save_pretrained(str(folder / LATE))
    return folder


@pytest.fixture
def started():
    """Opens rerankers that end with the test."""
    opened = []

    def start(folder):
        opened.append(LocalReranker(str(folder)))
        return opened[-1]

    yield start
    for each in opened:
        each._process.close()


@pytest.mark.torture
def test_a_cross_encoder_scores_each_passage_with_the_question(rerankers, started):
    import torch
    from sentence_transformers import CrossEncoder

    pairs = [(QUESTION, text.encode("utf-8", "replace").decode()) for text in PASSAGES]
    scores = CrossEncoder(str(rerankers / CROSS)).predict(pairs, activation_fn=torch.nn.Identity())
    reranker = started(rerankers / CROSS)
    assert reranker.scores(QUESTION, PASSAGES) == pytest.approx(scores, abs=1e-5)
    assert reranker.scores(QUESTION, []).tolist() == []


@pytest.mark.torture
def test_late_interaction_sums_the_best_cosine_of_each_token(rerankers, started):
    from sentence_transformers import MultiVectorEncoder

    model = MultiVectorEncoder(str(rerankers / LATE))
    question = np.asarray(model.encode_query(["wind"])[0])
    sums = [(question @ np.asarray(tokens).T).max(axis=1).sum() for tokens in model.encode_document(["blade", "wind", "crane"])]
    assert started(rerankers / LATE).scores("wind", ["blade", "wind", "crane"]) == pytest.approx(sums, abs=1e-5)


@pytest.mark.torture
def test_what_is_no_reranker_is_refused_by_name(rerankers, started, tmp_path):
    with pytest.raises(EmbeddingError, match=r"tiny-bert' is neither a cross-encoder nor .*; set ask\.rerank to one"):
        LocalReranker(str(rerankers / "tiny-bert"))
    with pytest.raises(EmbeddingError, match=r"^reranker 'hub/none' is not on this machine; .*set ask\.rerank to a folder"):
        LocalReranker("hub/none")
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["BertForSequenceClassification"]}))
    assert kind_of_model(tmp_path, "x") == CROSS
    (tmp_path / "config.json").write_text(json.dumps({"architectures": ["HF_ColBERT"]}))
    assert kind_of_model(tmp_path, "x") == LATE
    (tmp_path / "model.safetensors").write_bytes(b"no weights")
    with pytest.raises(EmbeddingError, match=r"is no model that sentence-transformers loads \(.*set ask\.rerank to another"):
        started(tmp_path).scores("wind", ["blade"])


def test_scores_that_cannot_be_compared_are_refused(rerankers, monkeypatch):
    reranker = LocalReranker(str(rerankers / CROSS))
    for reply in (None, np.zeros(1, np.float32).tobytes(), np.array([1, np.nan], np.float32).tobytes()):
        monkeypatch.setattr(reranker._process, "ask", lambda *_, reply=reply, **__: reply)
        with pytest.raises(EmbeddingError, match=r"gave no score for each passage; set ask\.rerank"):
            reranker.scores("wind", ["blade", "tide"])
