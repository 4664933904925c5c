"""Relevance r: words and meaning of the question, in the node and on its page, and the places that the question names."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from storage.corpus.snapshot import Snapshot
from storage.graph.candidates import CandidateGraph
from storage.graph.search import nodes_in_scope, scope_sample
from storage.records.documents import Vectors
from tasks.algorithms.arrays import FloatArray, page_means, pages_of_nodes, sums_by_page
from tasks.algorithms.scores import dense_relevance, min_max
from tasks.algorithms.text import counting
from tasks.algorithms.text.kept import find_asked_stems
from tasks.asking.named_places import find_named
from tasks.asking.question import NAMED_PLACE, AskContext
from tasks.asking.records import NodeScores, Question
from tasks.settings.ask import RelevanceSettings

KEPT_TEXTS = 20_000
"""A coded text of 80 words takes less than half a kilobyte."""
KEPT_CHUNKS = 200_000
"""The readings of this many chunks between spaces take some 60 MB; then all are dropped, and the common ones soon come back."""


class ReadTexts:
    """Coded texts by what names them, all by one vocabulary; safe to ask from many threads."""

    def __init__(self) -> None:
        self._forget()
        self._lock = threading.Lock()

    def code_nodes(self, kind: str, ids: Sequence[str], texts: Sequence[str]) -> counting.CodedTexts:
        """Return the texts of the nodes coded; `kind` tells one text of a node from another."""
        with self._lock:
            if len(self._vocabulary) > KEPT_CHUNKS:
                self._forget()
            known = {name: self._texts[kind, name] for name in ids if (kind, name) in self._texts}
            new = [(name, text) for name, text in zip(ids, texts, strict=True) if name not in known]
            for (name, _), codes in zip(new, counting.code_texts([text for _, text in new], self._vocabulary), strict=True):
                self._texts[kind, name] = known[name] = codes
            while len(self._texts) > KEPT_TEXTS:
                self._texts.popitem(last=False)
            return counting.CodedTexts.of([known[name] for name in ids], self._vocabulary)

    def code_once(self, texts: Sequence[str]) -> counting.CodedTexts:
        with self._lock:
            return counting.CodedTexts.of(counting.code_texts(texts, self._vocabulary), self._vocabulary)

    def _forget(self) -> None:
        self._vocabulary = counting.Vocabulary()
        self._texts: OrderedDict[tuple[str, str], counting.Codes] = OrderedDict()


_of_snapshots: WeakKeyDictionary[Snapshot, ReadTexts] = WeakKeyDictionary()
_looking = threading.Lock()


def read_texts(snapshot: Snapshot) -> ReadTexts:
    with _looking:
        return _of_snapshots.setdefault(snapshot, ReadTexts())


@dataclass(frozen=True, slots=True)
class Statistics:
    """How many texts there are, how many of them hold each word of the question (m,), and how long they are on average."""

    texts: int
    frequencies: FloatArray
    mean_length: float

    @classmethod
    def of(cls, counts: FloatArray, lengths: FloatArray) -> Statistics:
        """Count in these texts themselves; `counts` (n, m), `lengths` (n,)."""
        held = (counts > 0).sum(axis=0).astype(np.float64)
        return cls(len(lengths), held, float(lengths.mean()) if len(lengths) else 0.0)


def scope_statistics(question: Question, counts: FloatArray, lengths: FloatArray, context: AskContext) -> Statistics:
    """Return the statistics of the asked scope for the stems of the question, and for whatever else `counts` (n, m) has behind.

    Candidates of a large scope were chosen for its words, so they say nothing of how rare those are; a fixed sample does. What is
    so rare that the sample has none of it, or is no single stem, is counted among the candidates, who have most of it.
    """
    here, total = Statistics.of(counts, lengths), nodes_in_scope(context.snapshot.view, context.scope)
    if total <= len(lengths):
        return here
    kind, size = context.settings.relevance.text, context.settings.candidates.sample
    sample = context.snapshot.view.remember(("coded sample", context.scope, kind, size), lambda: _read_sample(context, size))
    held = (counting.count_stems(sample, question.terms.stems) > 0).sum(axis=0)
    estimated = np.zeros(counts.shape[1])
    estimated[: len(held)] = held * (total / len(sample))
    return Statistics(total, np.maximum(here.frequencies, estimated), float(sample.words.mean()))


def _read_sample(context: AskContext, size: int) -> counting.CodedTexts:

    def column(name: str) -> Sequence[Any]:
        return scope_sample(context.snapshot.view, context.scope, size, column=name)

    return read_texts(context.snapshot).code_once(texts_seen(context.settings.relevance, column))


def texts_seen(settings: RelevanceSettings, column: Callable[[str], Sequence[Any]]) -> Sequence[str]:
    """Return what BM25 sees of each node, from the columns of the nodes by name."""
    if settings.text == "content":
        return column("search_text")
    return [f"{summary} {' '.join(words)}" for summary, words in zip(column("summary"), column("keywords"), strict=True)]


@dataclass(frozen=True, slots=True)
class Counted:
    """How often each word of the question stands in each text (n, m), and how long the texts are (n,)."""

    counts: FloatArray
    lengths: FloatArray


def weigh_relevance(question: Question, graph: CandidateGraph, context: AskContext) -> NodeScores:
    """Return how relevant each candidate is, 0..1, as all of its scores; what is named comes before what the question resembles."""
    settings, stems = context.settings.relevance, question.terms.stems
    texts = read_texts(context.snapshot).code_nodes(
        settings.text, graph.ids, texts_seen(settings, lambda name: graph.columns[name].tolist())
    )
    nodes = count_asked(question, texts)
    known = scope_statistics(question, nodes.counts, nodes.lengths, context)
    pages = pages_of_nodes(documents=graph.documents, pages=graph.pages)
    together = Counted(sums_by_page(values=nodes.counts, pages=pages), sums_by_page(values=nodes.lengths, pages=pages))
    means = page_means(vectors=graph.vectors, weights=nodes.lengths, pages=pages)
    dense = dense_relevance(query=question.vector, vectors=own_vectors(graph, settings))
    own = _blend(dense, nodes, known, len(stems), settings)
    shared = _blend(
        dense_relevance(query=question.vector, vectors=means),
        together,
        Statistics.of(together.counts, together.lengths),
        len(stems),
        settings,
    )
    resembling = (1 - settings.page_share) * own + settings.page_share * shared[pages]
    named = find_named(question, graph, texts, pages, context)
    lifted = resembling + named.bonus
    values = counting.inverse_frequencies(document_frequencies=known.frequencies[: len(stems)], documents=known.texts)
    rarity = dict(zip(stems, values.tolist(), strict=True))
    relevance = lifted / max(1.0, float(lifted.max(initial=0.0)))
    return NodeScores(
        relevance=relevance,
        propagated=relevance,
        combined=relevance,
        rarity=rarity | ({NAMED_PLACE: max(rarity.values(), default=1.0)} if named.nodes else {}),
        present=present_stems(question, graph, nodes, context),
        named=named.nodes,
        unknown=named.unknown,
        nearest=float(dense.max(initial=0.0)),
    )


def count_asked(question: Question, texts: counting.CodedTexts) -> Counted:
    pairs = list(dict.fromkeys(pairwise(find_asked_stems(question.text, question.terms.stems))))
    return Counted(np.hstack([counting.count_stems(texts, question.terms.stems), counting.count_pairs(texts, pairs)]), texts.words)


def present_stems(question: Question, graph: CandidateGraph, counted: Counted, context: AskContext) -> frozenset[str]:
    """Return which stems of the question the content of the candidates holds; `counted` is of what BM25 sees of them."""
    if context.settings.relevance.text != "content":
        content = read_texts(context.snapshot).code_nodes("content", graph.ids, graph.columns["search_text"].tolist())
        counted = count_asked(question, content)
    stems = question.terms.stems
    return frozenset(stems[place] for place in np.flatnonzero(counted.counts[:, : len(stems)].any(axis=0)).tolist())


def own_vectors(graph: CandidateGraph, settings: RelevanceSettings) -> Vectors:
    """Return the vectors that stand for the nodes' meaning: before evolution they say most about a node alone."""
    if settings.vectors == "initial" and graph.initial_vectors is not None:
        return graph.initial_vectors
    return graph.vectors


def _blend(dense: FloatArray, texts: Counted, known: Statistics, words: int, settings: RelevanceSettings) -> FloatArray:
    """Return r = (1 - alpha) dense + alpha lexical (section 3.3), where neighbouring words count as the `words` themselves do."""

    def scored(part: slice) -> FloatArray:
        return counting.bm25_scores(
            term_counts=texts.counts[:, part],
            lengths=texts.lengths,
            document_frequencies=known.frequencies[part],
            documents=known.texts,
            mean_length=known.mean_length,
            k1=settings.saturation,
            b=settings.length_share,
        )

    lexical = min_max(scored(slice(0, words)) + settings.pair_share * scored(slice(words, None)))
    return (1.0 - settings.lexical_share) * dense + settings.lexical_share * lexical
