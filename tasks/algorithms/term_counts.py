"""How often the stems of a question occur in texts: what BM25 counts."""

from __future__ import annotations

import re
import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from tasks.algorithms.word_stems import IDEOGRAPHS, stems_of, words_of
from tasks.algorithms.words import count_words

_SHARED = 5  # letters that no spelling of a word changes ("organi" may go on with s or z)
Counts = npt.NDArray[np.int32]


def count_terms(texts: Sequence[str], stems: Sequence[str]) -> tuple[Counts, Counts]:
    """Return how often each of m stems occurs in each of n texts, as (n, m), and how many words each text has, as (n,).

    A compound counts for itself and for its parts, as in a question; two ideographs are a word. A stem that is given twice
    is counted in both columns.
    """
    chunks = [text.split() for text in texts]
    vocabulary = set(chain.from_iterable(chunks))
    hits = _hits(vocabulary, stems)
    counts = np.zeros((len(texts), len(stems)), dtype=np.int32)
    for row, text in enumerate(chunks):
        for chunk in [chunk for chunk in text if chunk in hits]:
            for column in hits[chunk]:
                counts[row, column] += 1
    return counts, np.array([_length(text, chunked) for text, chunked in zip(texts, chunks, strict=True)], dtype=np.int32)


def _length(text: str, chunks: Sequence[str]) -> int:
    # Only ideographs are written without spaces.
    return len(chunks) if text.isascii() or not IDEOGRAPHS.search(text) else count_words(text)


def _hits(vocabulary: Iterable[str], stems: Sequence[str]) -> dict[str, list[int]]:
    """Return for each chunk between spaces that holds one of the stems the columns that it counts for."""
    if not stems:
        return {}
    # Most chunks cannot hold any of the stems, and one look tells: a stem shares its beginning with its word.
    may_hold = re.compile("|".join(map(_beginning, stems))).search
    columns: defaultdict[str, list[int]] = defaultdict(list)
    for column, wanted in enumerate(stems):
        columns[wanted].append(column)
    hits: dict[str, list[int]] = {}
    for chunk in vocabulary:
        if may_hold(_bare(chunk)):
            found = [column for word in words_of(chunk) for part in stems_of(word) for column in columns.get(part, ())]
            if found:
                hits[chunk] = found
    return hits


def _bare(text: str) -> str:
    return text.casefold() if text.isascii() else unicodedata.normalize("NFKD", text).casefold()


def _beginning(wanted: str) -> str:
    """Return a pattern that every word with this stem holds: its first letters, with stops, commas or accents between them."""
    shared = wanted if wanted[:1].isdigit() else wanted[: max(2, min(_SHARED, len(wanted) - 2))]
    return "[.,\u0300-\u036f]?".join(map(re.escape, _bare(shared)))
