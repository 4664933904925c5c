import numpy as np
import pytest

from storage.records import EmbedderIdentity, Modality, Node, NodeKind, Page, PageParser
from tasks.document_steps import embed_nodes, page_vectors
from tasks.models.vector_checks import unit_vectors


class CountingEmbedder:
    """A tiny embedder whose vector says how long a text is; it remembers its batches."""

    identity = EmbedderIdentity("lengths", "fp32", 2)

    def __init__(self):
        self.batches = []

    def embed_documents(self, texts):
        self.batches.append(list(texts))
        return unit_vectors([[len(text), 1] for text in texts], count=len(texts), dimension=2, source="lengths")


def page(number):
    return Page(f"p{number}", "d", "v", number, None, 600, 800, PageParser.PDFIUM, "", "", None)


def node(ordinal, number, words):
    text = " ".join(["word"] * words)
    return Node(
        id=f"n{ordinal}", document_id="d", version="v", ordinal=ordinal, kind=NodeKind.PARAGRAPH, modality=Modality.TEXT,
        content=text, page=number, box=None, section_id=None, section_path=(), search_text=text,
    )  # fmt: skip


def test_batches_are_cut_in_node_order_and_reported():
    embedder, seen = CountingEmbedder(), []
    texts = ["a" * length for length in (5, 1, 4, 2, 3)]
    vectors = embed_nodes(texts=texts, embedder=embedder, batch_nodes=2, on_nodes=lambda *done: seen.append(done))
    assert embedder.batches == [texts[:2], texts[2:4], texts[4:]]
    assert seen == [(2, 5), (4, 5), (5, 5)]
    np.testing.assert_allclose(vectors[:, 0] / vectors[:, 1], [5, 1, 4, 2, 3], rtol=1e-5)


def test_a_document_without_nodes_has_no_vectors():
    vectors = embed_nodes(texts=[], embedder=CountingEmbedder(), batch_nodes=2, on_nodes=lambda *_: None)
    assert vectors.shape == (0, 2)


def test_a_page_is_the_mean_of_its_nodes_by_words_and_an_empty_page_is_zero():
    vectors = np.array([[1, 0], [0, 1], [0, 1]], dtype=np.float32)
    nodes = [node(0, 1, words=3), node(1, 1, words=4), node(2, 3, words=0)]
    means = page_vectors(pages=[page(1), page(2), page(3)], nodes=nodes, vectors=vectors)
    np.testing.assert_allclose(means, [[0.6, 0.8], [0, 0], [0, 1]], atol=1e-7)
    assert means.dtype == np.float32


def test_a_vector_too_many_is_refused():
    with pytest.raises(ValueError, match="zip"):
        page_vectors(pages=[page(1)], nodes=[node(0, 1, 1)], vectors=np.eye(2, dtype=np.float32))
