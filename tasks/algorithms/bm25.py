"""BM25: how well the words of a question match a text (Robertson and Walker)."""

from __future__ import annotations

import numpy as np

from tasks.algorithms.arrays import FloatArray, require_range


def bm25_scores(
    *,
    term_counts: FloatArray,
    lengths: FloatArray,
    document_frequencies: FloatArray,
    documents: int,
    mean_length: float,
    k1: float,
    b: float,
) -> FloatArray:
    """Return the BM25 score of n texts for a question of m words, each at least 0.

    A word of frequency f in a text of length l, in df of N texts, adds
    ln(1 + (N - df + 0.5) / (df + 0.5)) * f (k1 + 1) / (f + k1 (1 - b + b l / mean_length)).

    Args:
        term_counts: (n, m), how often each word of the question stands in each text; a word asked twice is two columns.
        lengths: (n,), words in each text.
        document_frequencies: (m,), how many of the texts asked hold each word; more than there are texts counts as all of them,
            because an index may count texts that the question leaves out.
        documents: N, the number of texts asked; the n texts scored may be some of them only.
        mean_length: mean words of the N texts. Where it is 0, no word may have been found: ValueError.
        k1: how slowly repetition stops to count, at least 0; with 0 it never counts.
        b: how much a long text is discounted, in [0, 1].
    """
    if not term_counts.any():
        return np.zeros(len(term_counts))
    if not mean_length > 0:
        raise ValueError(f"the mean length of the texts is {mean_length} words, but words were found; count the words again")
    rarity = inverse_frequencies(document_frequencies=document_frequencies, documents=documents)
    expected = k1 * (1.0 - b + b * lengths / mean_length)
    saturated = np.divide(
        term_counts * (k1 + 1.0), term_counts + expected[:, None], out=np.zeros(term_counts.shape), where=term_counts != 0
    )
    scores = np.asarray((saturated * rarity).sum(axis=1))
    require_range(name="BM25 scores", values=scores, low=0.0, high=np.inf)
    return scores


def inverse_frequencies(*, document_frequencies: FloatArray, documents: int) -> FloatArray:
    """Return how rare each of m words is, ln(1 + (N - df + 0.5) / (df + 0.5)), above 0; arguments as in `bm25_scores`."""
    holding = np.minimum(document_frequencies, documents)
    # The 1 inside the logarithm keeps a word of most texts from counting against the texts that hold it.
    return np.asarray(np.log1p((documents - holding + 0.5) / (holding + 0.5)))
