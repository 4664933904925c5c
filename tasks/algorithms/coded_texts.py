"""Texts as the numbers of their stems, read once: counting words of a question in thousands of them is then array work.

To count in the texts themselves takes 50 ms for 2,000 of them; the arrays take two.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from operator import itemgetter

import numpy as np
import numpy.typing as npt

from tasks.algorithms.cosines import FloatArray
from tasks.algorithms.kept_stems import parts_of, says_something
from tasks.algorithms.word_stems import stems_in_chunk, words_in_chunk

Codes = npt.NDArray[np.int32]
ReadChunk = tuple[tuple[int, ...], tuple[int, ...], int]
"""What a chunk between spaces was read as: the codes of its stems, of those kept, and how many words it has."""
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


class Vocabulary(dict[str, ReadChunk]):
    """What each chunk seen was read as, read when it is first looked up; `codes` has the codes of all stems seen."""

    def __init__(self) -> None:
        """Begin with nothing seen."""
        super().__init__()
        self.codes: dict[str, int] = {}

    def __missing__(self, chunk: str) -> ReadChunk:
        """Read a chunk that is new; a new stem gets the next free code."""
        if len(self) >= REMEMBERED_CHUNKS:
            self.clear()
        words = words_in_chunk(chunk)
        stems = tuple(map(self._code, stems_in_chunk(chunk)))
        kept = tuple(self._code(stem) for word in words if says_something(word) for stem in parts_of(word))
        found = self[chunk] = (stems, kept, len(words))
        return found

    def _code(self, stem: str) -> int:
        return self.codes.setdefault(stem, len(self.codes))


def code_text(text: str, vocabulary: Vocabulary) -> CodedText:
    """Return a text by the codes of its stems; the vocabulary learns what is new."""
    read = list(map(vocabulary.__getitem__, text.split()))
    stems, kept = (np.fromiter(chain.from_iterable(map(itemgetter(part), read)), dtype=np.int32) for part in (0, 1))
    return CodedText(stems, kept, sum(map(itemgetter(2), read)))


@dataclass(frozen=True, slots=True)
class CodedTexts:
    """n coded texts as one row of codes; `owners` says of each code whose it is. `words` (n,) is how long the texts are."""

    stems: Codes
    owners: npt.NDArray[np.int64]
    kept: Codes
    kept_owners: npt.NDArray[np.int64]
    words: FloatArray

    @classmethod
    def of(cls, texts: Sequence[CodedText]) -> CodedTexts:
        """Join the texts, in their order."""
        stems, owners = _joined([text.stems for text in texts])
        kept, kept_owners = _joined([text.kept for text in texts])
        return cls(stems, owners, kept, kept_owners, np.array([text.words for text in texts], dtype=np.float64))

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.words)


def count_codes(texts: CodedTexts, codes: Sequence[int]) -> FloatArray:
    """Return how often each of m codes stands in each of n texts, (n, m); UNKNOWN stands nowhere."""
    counts = np.zeros((len(texts), len(codes)))
    for column, code in enumerate(codes):
        counts[:, column] = np.bincount(texts.owners[texts.stems == code], minlength=len(texts))
    return counts


def count_code_pairs(texts: CodedTexts, pairs: Sequence[tuple[int, int]]) -> FloatArray:
    """Return how often the first code of each of p pairs is followed by the second in each of n texts, (n, p).

    Words that say nothing may stand between them.
    """
    flat, owners = texts.kept, texts.kept_owners
    counts = np.zeros((len(texts), len(pairs)))
    for column, (first, second) in enumerate(pairs):
        places = np.flatnonzero(flat[:-1] == first)
        found = places[(flat[places + 1] == second) & (owners[places] == owners[places + 1])]
        counts[:, column] = np.bincount(owners[found], minlength=len(texts))
    return counts


def _joined(parts: Sequence[Codes]) -> tuple[Codes, npt.NDArray[np.int64]]:
    """Return all codes in a row, and for each the number of its text."""
    flat = np.concatenate([np.empty(0, np.int32), *parts])
    return flat, np.repeat(np.arange(len(parts)), np.fromiter(map(len, parts), dtype=np.int64, count=len(parts)))
