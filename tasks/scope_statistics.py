"""How rare words are in what is asked: counted where all of it is at hand, estimated from a fixed sample where it is not."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from storage.search import nodes_in_scope, scope_sample
from storage.snapshot import Snapshot
from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.counting import CodedTexts, Codes, Vocabulary, code_texts, count_stems
from tasks.question import AskDesk, Question

KEPT_TEXTS = 20_000
"""A coded text of 80 words takes less than half a kilobyte."""
KEPT_CHUNKS = 200_000
"""What so many chunks between spaces were read as takes some 60 MB; then all is forgotten, and the common ones soon come back."""


class ReadTexts:
    """Coded texts by what names them, all by one vocabulary; safe to ask from many threads."""

    def __init__(self) -> None:
        self._forget()
        self._lock = threading.Lock()

    def coded(self, kind: str, ids: Sequence[str], texts: Sequence[str]) -> CodedTexts:
        """Return the texts of the nodes coded; `kind` tells one text of a node from another."""
        with self._lock:
            if len(self._vocabulary) > KEPT_CHUNKS:
                self._forget()
            known = {name: self._texts[kind, name] for name in ids if (kind, name) in self._texts}
            new = [(name, text) for name, text in zip(ids, texts, strict=True) if name not in known]
            for (name, _), codes in zip(new, code_texts([text for _, text in new], self._vocabulary), strict=True):
                self._texts[kind, name] = known[name] = codes
            while len(self._texts) > KEPT_TEXTS:
                self._texts.popitem(last=False)
            return CodedTexts.of([known[name] for name in ids], self._vocabulary)

    def coded_once(self, texts: Sequence[str]) -> CodedTexts:
        """Return texts coded that are kept by whoever asks."""
        with self._lock:
            return CodedTexts.of(code_texts(texts, self._vocabulary), self._vocabulary)

    def _forget(self) -> None:
        self._vocabulary = Vocabulary()
        self._texts: OrderedDict[tuple[str, str], Codes] = OrderedDict()


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
