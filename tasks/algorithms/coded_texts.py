"""Texts as the numbers of their stems, read once: counting words of a question in thousands of them is then array work.

To count in the texts themselves takes 50 ms for 2,000 of them; the arrays take two.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray, IntArray
from tasks.algorithms.kept_stems import parts_of, says_something
from tasks.algorithms.word_stems import stems_in_chunk, words_in_chunk

Codes = npt.NDArray[np.int32]
UNKNOWN = -1
"""The code of a stem that no text holds."""


class Lists:
    """Lists of numbers, each by its place, one behind the other."""

    def __init__(self) -> None:
        """Begin with no list."""
        self._flat, self._ends = array("i"), array("i", [0])

    def append(self, numbers: Sequence[int]) -> None:
        """Add a list."""
        self._flat.extend(numbers)
        self._ends.append(len(self._flat))

    def joined(self, places: Codes) -> tuple[Codes, IntArray]:
        """Return the lists at the places in a row, and how long each of them is."""
        flat, ends = np.array(self._flat, dtype=np.int32), np.array(self._ends, dtype=np.int64)
        starts, lengths = ends[:-1][places], np.diff(ends)[places]
        shifts = starts - (np.cumsum(lengths) - lengths)
        return flat[np.repeat(shifts, lengths) + np.arange(lengths.sum())], lengths


class Vocabulary(dict[str, int]):
    """The number of each chunk between spaces, given when it is first looked up; `codes` has the codes of all stems seen.

    `stems` are all that a chunk counts for, a compound beside its parts; `kept` those of its words that say something, compounds by
    their parts: what stands next to what. `words` is how many words it has.
    """

    def __init__(self) -> None:
        """Begin with nothing seen."""
        super().__init__()
        self.codes: dict[str, int] = {}
        self.stems, self.kept, self.words = Lists(), Lists(), array("i")

    def __missing__(self, chunk: str) -> int:
        """Read a chunk that is new; a new stem gets the next free code."""
        words = words_in_chunk(chunk)
        self.stems.append([self._code(stem) for stem in stems_in_chunk(chunk)])
        self.kept.append([self._code(stem) for word in words if says_something(word) for stem in parts_of(word)])
        self.words.append(len(words))
        number = self[chunk] = len(self)
        return number

    def _code(self, stem: str) -> int:
        return self.codes.setdefault(stem, len(self.codes))


def code_texts(texts: Sequence[str], vocabulary: Vocabulary) -> list[Codes]:
    """Return each text by the numbers of its chunks; the vocabulary learns what is new."""
    chunks = [text.split() for text in texts]
    numbers = np.fromiter(map(vocabulary.__getitem__, chain.from_iterable(chunks)), dtype=np.int32)
    return np.split(numbers, np.cumsum([len(text) for text in chunks])[:-1]) if chunks else []


@dataclass(frozen=True, slots=True)
class CodedTexts:
    """n texts as two rows of codes of stems, all and those kept, each with the number of the text that it stands in.

    `words` (n,) is how long the texts are, `codes` has the codes of the stems.
    """

    stems: Codes
    owners: IntArray
    kept: Codes
    kept_owners: IntArray
    words: FloatArray
    codes: dict[str, int]

    @classmethod
    def of(cls, texts: Sequence[Codes], vocabulary: Vocabulary) -> CodedTexts:
        """Join texts that the vocabulary coded, in their order."""
        chunks = np.concatenate([np.empty(0, np.int32), *texts])
        owners = np.repeat(np.arange(len(texts)), np.fromiter(map(len, texts), dtype=np.int64, count=len(texts)))
        stems, lengths = vocabulary.stems.joined(chunks)
        kept, kept_lengths = vocabulary.kept.joined(chunks)
        sizes = np.array(vocabulary.words, dtype=np.float64)[chunks]
        words = np.bincount(owners, weights=sizes, minlength=len(texts)).astype(np.float64)
        return cls(stems, np.repeat(owners, lengths), kept, np.repeat(owners, kept_lengths), words, vocabulary.codes)

    def __len__(self) -> int:
        """Return the number of texts."""
        return len(self.words)


def count_stems(texts: CodedTexts, stems: Sequence[str]) -> FloatArray:
    """Return how often each of m stems stands in each of n texts, (n, m)."""
    counts = np.zeros((len(texts), len(stems)))
    for column, stem in enumerate(stems):
        standing = texts.owners[texts.stems == texts.codes.get(stem, UNKNOWN)]
        counts[:, column] = np.bincount(standing, minlength=len(texts))
    return counts


def count_pairs(texts: CodedTexts, pairs: Sequence[tuple[str, str]]) -> FloatArray:
    """Return how often the first stem of each of p pairs is followed by the second in each of n texts, (n, p).

    Words that say nothing may stand between them.
    """
    flat, owners = texts.kept, texts.kept_owners
    counts = np.zeros((len(texts), len(pairs)))
    for column, (first, second) in enumerate(pairs):
        places = np.flatnonzero(flat[:-1] == texts.codes.get(first, UNKNOWN))
        followed = flat[places + 1] == texts.codes.get(second, UNKNOWN)
        found = places[followed & (owners[places] == owners[places + 1])]
        counts[:, column] = np.bincount(owners[found], minlength=len(texts))
    return counts
