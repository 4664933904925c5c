"""Embedding the nodes of a document, and its pages from its nodes."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from storage.records import Node, Page, Vectors
from tasks.models.embedder import Embedder


def embed_nodes(*, texts: Sequence[str], embedder: Embedder, batch_nodes: int, on_nodes: Callable[[int, int], None]) -> Vectors:
    """Embed the texts of one document, (texts, dimension); batches are cut in node order, so that a second run cuts the same.

    `on_nodes(done, total)` is called after each batch.
    """
    vectors = np.zeros((len(texts), embedder.identity.dimension), dtype=np.float32)
    for first in range(0, len(texts), batch_nodes):
        batch = texts[first : first + batch_nodes]
        vectors[first : first + len(batch)] = embedder.embed_documents(batch)
        on_nodes(first + len(batch), len(texts))
    return vectors


def page_vectors(*, pages: Sequence[Page], nodes: Sequence[Node], vectors: Vectors) -> Vectors:
    """Return for each page the unit mean of its nodes' vectors, weighted by their words; zeros for a page without nodes.

    A node without words counts as one word.
    """
    row_of_page = {page.number: row for row, page in enumerate(pages)}
    sums = np.zeros((len(pages), vectors.shape[1]), dtype=np.float64)
    for node, vector in zip(nodes, vectors, strict=True):
        words = max(1, len(node.search_text.split()))
        sums[row_of_page[node.page]] += words * vector.astype(np.float64)
    lengths = np.linalg.norm(sums, axis=1, keepdims=True)
    mean: Vectors = np.divide(sums, lengths, out=np.zeros_like(sums), where=lengths > 0).astype(np.float32)
    return mean
