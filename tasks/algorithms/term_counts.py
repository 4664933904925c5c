"""How often the stems of a question occur in some texts; `coded_texts.py` counts in thousands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from itertools import chain

import numpy as np
import numpy.typing as npt

from tasks.algorithms.word_stems import IDEOGRAPHS, stems_in_chunk
from tasks.algorithms.words import count_words

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
    columns: defaultdict[str, list[int]] = defaultdict(list)
    for column, wanted in enumerate(stems):
        columns[wanted].append(column)
    read = ((chunk, [column for stem in stems_in_chunk(chunk) for column in columns.get(stem, ())]) for chunk in vocabulary)
    return {chunk: found for chunk, found in read if found}
