"""Relevance r: words and meaning of the question, in the node and on its page, and the places that the question names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storage.candidate_graph import CandidateGraph
from storage.records import Vectors
from tasks.algorithms.bm25 import bm25_scores, inverse_frequencies
from tasks.algorithms.cosines import FloatArray
from tasks.algorithms.kept_stems import asked_stems
from tasks.algorithms.page_sums import page_means, pages_of_nodes, sums_by_page
from tasks.algorithms.pair_counts import count_pairs, neighbouring_pairs
from tasks.algorithms.relevance import blended_relevance, dense_relevance, min_max
from tasks.algorithms.term_counts import count_terms
from tasks.ask_settings import RelevanceSettings
from tasks.named_evidence import named_bonus
from tasks.question import AskDesk, Question
from tasks.scope_statistics import Statistics, scope_statistics


@dataclass(frozen=True, slots=True)
class Relevance:
    """r of each node (n,), in 0..1, and how rare each stem of the question is in the scope."""

    nodes: FloatArray
    rarity: Mapping[str, float]


def weigh_relevance(question: Question, graph: CandidateGraph, desk: AskDesk) -> Relevance:
    """Return how relevant each candidate is; what the question names comes before what it resembles."""
    settings = desk.settings.relevance
    texts = texts_of(graph, settings)
    words, lengths = count_terms(texts, question.terms.stems)
    asked = neighbouring_pairs(asked_stems(question.text, question.terms.stems))
    pairs = count_pairs(texts, asked, stems=question.terms.stems, counts=words)
    counts, sizes = np.hstack([words, pairs]).astype(np.float64), lengths.astype(np.float64)
    known = scope_statistics(question, graph, counts, sizes, desk)
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    own = _blended(
        dense=dense_relevance(query=question.vector, vectors=own_vectors(graph, settings)),
        counts=counts,
        lengths=sizes,
        known=known,
        words=words.shape[1],
        settings=settings,
    )
    page_counts, page_sizes = sums_by_page(values=counts, pages=pages), sums_by_page(values=sizes, pages=pages)
    shared = _blended(
        dense=dense_relevance(query=question.vector, vectors=page_means(vectors=graph.vectors, weights=sizes, pages=pages)),
        counts=page_counts,
        lengths=page_sizes,
        known=Statistics.of(page_counts, page_sizes),
        words=words.shape[1],
        settings=settings,
    )
    resembling = (1 - settings.page_share) * own + settings.page_share * shared[pages]
    lifted = resembling + named_bonus(question, graph, pages, desk)
    rarity = inverse_frequencies(document_frequencies=known.frequencies[: words.shape[1]], documents=known.texts)
    return Relevance(
        nodes=lifted / max(1.0, float(lifted.max(initial=0.0))),
        rarity=dict(zip(question.terms.stems, rarity.tolist(), strict=True)),
    )


def texts_of(graph: CandidateGraph, settings: RelevanceSettings) -> Sequence[str]:
    """Return what BM25 sees of each node."""
    if settings.text == "content":
        found: list[str] = graph.columns["search_text"].tolist()
        return found
    return [
        f"{summary} {' '.join(words)}" for summary, words in zip(graph.columns["summary"], graph.columns["keywords"], strict=True)
    ]


def own_vectors(graph: CandidateGraph, settings: RelevanceSettings) -> Vectors:
    """Return the vectors that stand for the nodes' meaning: before evolution they say most about a node alone."""
    if settings.vectors == "initial" and graph.initial_vectors is not None:
        return graph.initial_vectors
    return graph.vectors


def _blended(
    *, dense: FloatArray, counts: FloatArray, lengths: FloatArray, known: Statistics, words: int, settings: RelevanceSettings
) -> FloatArray:
    """Return (1 - alpha) dense + alpha lexical, where pairs of neighbouring words count beside the words themselves."""

    def scored(part: slice) -> FloatArray:
        return bm25_scores(
            term_counts=counts[:, part],
            lengths=lengths,
            document_frequencies=known.frequencies[part],
            documents=known.texts,
            mean_length=known.mean_length,
            k1=settings.saturation,
            b=settings.length_share,
        )

    lexical = min_max(scored(slice(0, words)) + settings.pair_share * scored(slice(words, None)))
    return blended_relevance(dense=dense, lexical=lexical, blend=settings.lexical_share)
