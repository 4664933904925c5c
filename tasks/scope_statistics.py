"""How rare words are in what is asked: counted where all of it is at hand, estimated from a fixed sample where it is not."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from storage.search import nodes_in_scope, scope_sample
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.counting import CodedTexts, count_stems
from tasks.question import AskDesk, Question
from tasks.read_texts import read_texts


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


def scope_statistics(question: Question, counts: FloatArray, lengths: FloatArray, desk: AskDesk) -> Statistics:
    """Return the statistics of the asked scope for the stems of the question, and for whatever else `counts` (n, m) has behind.

    Candidates of a large scope were chosen for its words, so they say nothing of how rare those are; a fixed sample does. What is
    so rare that the sample has none of it, or is no single stem, is counted among the candidates, who have most of it.
    """
    here, total = Statistics.of(counts, lengths), nodes_in_scope(desk.snapshot, desk.scope)
    if total <= len(lengths):
        return here
    kind, size = desk.settings.relevance.text, desk.settings.candidates.sample
    sample = desk.snapshot.view.remembered(("coded sample", desk.scope, kind, size), lambda: _sampled(desk, size))
    held = (count_stems(sample, question.terms.stems) > 0).sum(axis=0)
    estimated = np.zeros(counts.shape[1])
    estimated[: len(held)] = held * (total / len(sample))
    return Statistics(total, np.maximum(here.frequencies, estimated), float(sample.words.mean()))


def _sampled(desk: AskDesk, size: int) -> CodedTexts:
    """Return a sample of what BM25 sees of the scope."""

    def column(name: str) -> Sequence[Any]:
        return scope_sample(desk.snapshot, desk.scope, size, column=name)

    if desk.settings.relevance.text == "content":
        return read_texts(desk.snapshot).coded_once(column("search_text"))
    both = zip(column("summary"), column("keywords"), strict=True)
    return read_texts(desk.snapshot).coded_once([paper_text(summary, words) for summary, words in both])


def paper_text(summary: str, keywords: Sequence[str]) -> str:
    """Return what the paper's BM25 sees of a node."""
    return f"{summary} {' '.join(keywords)}"
