"""Texts as the numbers of their stems, read once: counting words of a question in thousands of them is then array work.

To count in the texts themselves takes 50 ms for 2,000 of them; the arrays take two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from tasks.algorithms.cosines import FloatArray
from tasks.algorithms.kept_stems import parts_of, says_something
from tasks.algorithms.word_stems import stems_of, words_of

Codes = npt.NDArray[np.int32]
UNKNOWN = -1
"""The code of a stem that no text holds."""
REMEMBERED_CHUNKS = 200_000
"""What was read of so many chunks is remembered, some 80 MB; then all of it is forgotten, and the common ones soon come back."""


@dataclass(frozen=True, slots=True)
class CodedText:
    """A text's stems in reading order.

    `stems` has all that it counts for, a compound beside its parts; `kept` those of the words that say something, compounds
    by their parts: what stands next to what. `words` is how long the text is.
    """

    stems: Codes
    kept: Codes
    words: int


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """The codes of all stems seen, and what each chunk between spaces was read as: its stems, those kept, its words."""

    codes: dict[str, int] = field(default_factory=dict)
    chunks: dict[str, tuple[tuple[int, ...], tuple[int, ...], int]] = field(default_factory=dict)

    def read(self, chunk: str) -> tuple[tuple[int, ...], tuple[int, ...], int]:
        """Return the codes of a chunk's stems, of those kept, and how many words it has; a new stem gets the next free code."""
        found = self.chunks.get(chunk)
        if found is None:
            if len(self.chunks) >= REMEMBERED_CHUNKS:
                self.chunks.clear()
            words = words_of(chunk)
            stems = tuple(self._code(stem) for word in words for stem in stems_of(word))
            kept = tuple(self._code(stem) for word in words if says_something(word) for stem in parts_of(word))
            found = self.chunks[chunk] = (stems, kept, len(words))
        return found

    def _code(self, stem: str) -> int:
        return self.codes.setdefault(stem, len(self.codes))


def code_text(text: str, vocabulary: Vocabulary) -> CodedText:
    """Return a text by the codes of its stems; the vocabulary learns what is new."""
    stems: list[int] = []
    kept: list[int] = []
    words = 0
    for chunk in text.split():
        own, saying, count = vocabulary.read(chunk)
        stems += own
        kept += saying
        words += count
    return CodedText(np.array(stems, dtype=np.int32), np.array(kept, dtype=np.int32), words)


def count_codes(texts: Sequence[CodedText], codes: Sequence[int]) -> FloatArray:
    """Return how often each of m codes stands in each of n texts, (n, m); UNKNOWN stands nowhere."""
    flat, owners = _joined([text.stems for text in texts])
    counts = np.zeros((len(texts), len(codes)))
    for column, code in enumerate(codes):
        counts[:, column] = np.bincount(owners[flat == code], minlength=len(texts))
    return counts


def count_code_pairs(texts: Sequence[CodedText], pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """Return how often the first code of each of p pairs is followed by the second in each of n texts, (n, p).

    Words that say nothing may stand between them.
    """
    flat, owners = _joined([text.kept for text in texts])
    inside = owners[:-1] == owners[1:]
    counts = np.zeros((len(texts), len(pairs)))
    for column, (first, second) in enumerate(pairs):
        found = np.flatnonzero((flat[:-1] == first) & (flat[1:] == second) & inside)
        counts[:, column] = np.bincount(owners[found], minlength=len(texts))
    return counts


def _joined(parts: Sequence[Codes]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return all codes in a row, and for each the number of its text."""
    flat = np.concatenate([np.empty(0, np.int32), *parts])
    return flat, np.repeat(np.arange(len(parts)), [len(part) for part in parts])
