"""How often the stems of a question occur in texts, and BM25, which weighs that (Robertson and Walker).

To count in the texts themselves takes 50 ms for 2,000 of them; as the numbers of their stems, read once, they take two.
"""

from __future__ import annotations

from array import array
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import numpy.typing as npt

from tasks.algorithms.arrays import FloatArray, IntArray, require_range
from tasks.algorithms.text.kept import parts_of, says_something
from tasks.algorithms.text.stems import stems_in_chunk, words_in_chunk

Codes = npt.NDArray[np.int32]
UNKNOWN = -1
"""The code of a stem that no text holds."""


class Lists:
    """Lists of numbers, each by its place, one behind the other."""

    def __init__(self) -> None:
        self._flat, self._ends = array("i"), array("i", [0])

    def append(self, numbers: Sequence[int]) -> None:
        self._flat.extend(numbers)
        self._ends.append(len(self._flat))

    def join(self, places: Codes) -> tuple[Codes, IntArray]:
        """Return the lists at the places in a row, and how long each of them is."""
        flat, ends = np.array(self._flat, dtype=np.int32), np.array(self._ends, dtype=np.int64)
        starts, lengths = ends[:-1][places], np.diff(ends)[places]
        shifts = starts - (np.cumsum(lengths) - lengths)
        return flat[np.repeat(shifts, lengths) + np.arange(lengths.sum())], lengths


class Vocabulary(dict[str, int]):
    """The number of each chunk between spaces, given when it is first looked up; `codes` has the codes of all stems seen.

    `stems` are all that a chunk counts for, a compound and its parts; `kept` those of its words that say something, compounds by
    their parts: what stands next to what. `words` is how many words it has.
    """

    def __init__(self) -> None:
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
        stems, lengths = vocabulary.stems.join(chunks)
        kept, kept_lengths = vocabulary.kept.join(chunks)
        sizes = np.array(vocabulary.words, dtype=np.float64)[chunks]
        words = np.bincount(owners, weights=sizes, minlength=len(texts)).astype(np.float64)
        return cls(stems, np.repeat(owners, lengths), kept, np.repeat(owners, kept_lengths), words, vocabulary.codes)

    def __len__(self) -> int:
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


def bm25_scores(
    *,
    term_counts: FloatArray,
    lengths: FloatArray,
    document_frequencies: FloatArray,
    documents: int,
    mean_length: float,
    k1: float,
    b: float,
) -> FloatArray:
    """Return the BM25 score of n texts for a question of m words, each at least 0.

    A word of frequency f in a text of length l, in df of N texts, adds
    ln(1 + (N - df + 0.5) / (df + 0.5)) * f (k1 + 1) / (f + k1 (1 - b + b l / mean_length)).

    Args:
        term_counts: (n, m), how often each word of the question stands in each text; a word asked twice is two columns.
        lengths: (n,), words in each text.
        document_frequencies: (m,), how many of the texts asked hold each word; more than there are texts counts as all of them,
            because an index may count texts that the question leaves out.
        documents: N, the number of texts asked; the n texts scored may be some of them only.
        mean_length: mean words of the N texts. Where it is 0, no word may have been found: ValueError.
        k1: how slowly repetition stops to count, at least 0; with 0 it never counts.
        b: how much a long text is discounted, in [0, 1].
    """
    if not term_counts.any():
        return np.zeros(len(term_counts))
    if not mean_length > 0:
        raise ValueError(f"the mean length of the texts is {mean_length} words, but words were found; count the words again")
    rarity = inverse_frequencies(document_frequencies=document_frequencies, documents=documents)
    expected = k1 * (1.0 - b + b * lengths / mean_length)
    saturated = np.divide(
        term_counts * (k1 + 1.0), term_counts + expected[:, None], out=np.zeros(term_counts.shape), where=term_counts != 0
    )
    scores = np.asarray((saturated * rarity).sum(axis=1))
    require_range(name="BM25 scores", values=scores, low=0.0, high=np.inf)
    return scores


def inverse_frequencies(*, document_frequencies: FloatArray, documents: int) -> FloatArray:
    """Return how rare each of m words is, ln(1 + (N - df + 0.5) / (df + 0.5)), above 0; arguments as in `bm25_scores`."""
    holding = np.minimum(document_frequencies, documents)
    # The 1 inside the logarithm keeps a word of most texts from counting against the texts that hold it.
    return np.asarray(np.log1p((documents - holding + 0.5) / (holding + 0.5)))
