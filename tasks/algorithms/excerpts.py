"""The part of a long text that is worth quoting: the words around those of the question."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.word_stems import stems_in_chunk


def excerpt(text: str, *, weights: Mapping[str, float], most_words: int) -> str:
    """Return the run of at most `most_words` words that holds the most weight of terms, as it stands in the text, on one line.

    Of runs that hold the same the middle one of the first row of them is taken, so that what stands before and after the terms is
    in it: a label's number may be on either side. A text without any of the terms gives its first words.

    Args:
        text: of any length; a text that is short enough comes back whole.
        weights: what each stem weighs, at least 0.
        most_words: at least 1.
    """
    words = text.split()
    if len(words) <= most_words or not weights:
        return " ".join(words[:most_words])
    held = np.cumsum(_standing(words, list(weights)), axis=0)
    in_run = held[most_words:] > held[:-most_words]
    worth = np.round(in_run @ np.array(list(weights.values())), 9)
    best = np.flatnonzero(worth == worth.max())
    if worth[best[0]] == 0.0:
        return " ".join(words[:most_words])
    together = best[: np.argmax(np.diff(best, append=best[-1] + 2) > 1) + 1]
    start = int(together[len(together) // 2])
    return " ".join(words[start : start + most_words])


def _standing(words: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Return 1 where a stem stands in a word, (n + 1, m); the first row, before all words, is 0."""
    columns = {stem: column for column, stem in enumerate(stems)}
    standing = np.zeros((len(words) + 1, len(stems)))
    for place, word in enumerate(words, 1):
        found = stems_in_chunk(word)
        if not columns.keys().isdisjoint(found):
            standing[place, [columns[stem] for stem in found if stem in columns]] = 1.0
    return standing
