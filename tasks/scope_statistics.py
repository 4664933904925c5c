"""How rare words are in what is asked: counted where all of it is at hand, estimated from a fixed sample where it is not."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from storage.candidate_graph import CandidateGraph
from storage.search import nodes_in_scope, scope_sample
from tasks.algorithms.cosines import FloatArray
from tasks.algorithms.word_stems import stems_of, words_of
from tasks.question import AskDesk, Question


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


@dataclass(frozen=True, slots=True)
class SampledWords:
    """What a sample of a scope says of its words: in how many texts each stem stands, and how long they are on average."""

    texts: int
    frequencies: Mapping[str, int]
    mean_length: float


def scope_statistics(
    question: Question, graph: CandidateGraph, counts: FloatArray, lengths: FloatArray, desk: AskDesk
) -> Statistics:
    """Return the statistics of the asked scope for the stems of the question, and for whatever else `counts` (n, m) has behind.

    Candidates of a large scope were chosen for its words, so they say nothing of how rare those are; a sample does. What is so
    rare that the sample has none of it, or is no single stem, is counted among the candidates, who have most of it.
    """
    here, total = Statistics.of(counts, lengths), nodes_in_scope(desk.snapshot, desk.scope)
    if total <= len(graph):
        return here
    size = desk.settings.candidates.sample
    sample = desk.snapshot.view.remembered(("words", desk.scope, size), lambda: _sampled(desk, size))
    estimated = np.zeros(counts.shape[1])
    estimated[: len(question.terms.stems)] = [
        sample.frequencies.get(stem, 0) * total / sample.texts for stem in question.terms.stems
    ]
    return Statistics(total, np.maximum(here.frequencies, estimated), sample.mean_length)


def _sampled(desk: AskDesk, size: int) -> SampledWords:
    texts = [words_of(text) for text in scope_sample(desk.snapshot, desk.scope, size, column="search_text")]
    held = Counter(stem for text in texts for stem in {stem for word in text for stem in stems_of(word)})
    return SampledWords(len(texts), held, sum(map(len, texts)) / len(texts))
