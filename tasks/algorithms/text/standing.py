"""Where words stand in a text, however they are spaced, set off or capitalised; and the part worth quoting."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import accumulate

import numpy as np

from tasks.algorithms.arrays import FloatArray
from tasks.algorithms.text.stems import stems_in_chunk

_DASHES = str.maketrans(dict.fromkeys("–—−‐‑‒", "-"))  # noqa: RUF001 - signs that are written for one another
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts that set no space between words: each sign counts by itself."""
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?<!\w)-\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*|[^\W\d_{_UNSPACED}]+")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
GAP = re.compile(r"\.{3}|…")
_BETWEEN = "\0"
LONGEST_GAP = 300
"""Characters that an ellipsis may leave out."""


class Words:
    """The words and numbers of a text, in which others are looked for again and again.

    As one string in which each is set off, so that to look into it takes no longer than to read it.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._spans = [found.span() for found in _TOKEN.finditer(text.translate(_DASHES))]
        tokens = tokens_of(text)
        self._starts = list(accumulate((len(token) + 1 for token in tokens), initial=0))
        self._row = _row(tokens)

    def find(self, words: str) -> tuple[int, int] | None:
        """Return what `find_words` does."""
        start, end = -1, 0
        for wanted in _parts(words):
            if (span := self.find_run(wanted, end)) is None or (start >= 0 and span[0] - end > LONGEST_GAP):
                return None
            start, end = (span[0] if start < 0 else start), span[1]
        return None if start < 0 else (start, end)

    def find_run(self, tokens: Sequence[str], after: int = 0) -> tuple[int, int] | None:
        """Return where the tokens first stand one after the other behind a character of the text, as (start, end)."""
        first = bisect_left(self._spans, (after, after))
        at = self._row.find(_row(tokens), self._starts[first])
        if at < 0:
            return None
        place = bisect_right(self._starts, at) - 1
        return self._spans[place][0], self._spans[place + len(tokens) - 1][1]


@lru_cache(maxsize=64)
def _parts(words: str) -> list[list[str]]:
    """Return the tokens between the ellipses."""
    return [tokens for part in GAP.split(words) if (tokens := tokens_of(part))]


def find_words(text: str, words: str) -> tuple[int, int] | None:
    """Return where the words stand in the text, as (start, end), the first place; None where they do not stand there in full.

    Only letters and numbers count, each whole and a number with its minus: 5 does not stand in 15, in 1.5 nor in -5, and "art in"
    not in "cart inside". Between them the text may have other signs and spaces. An ellipsis leaves out a little. No words stand
    nowhere.
    """
    return Words(text).find(words)


def tokens_of(text: str) -> list[str]:
    """Return the words and numbers of a text, a number with its minus and without the signs between its thousands."""
    return [_THOUSANDS.sub("", token).casefold() for token in _TOKEN.findall(text.translate(_DASHES))]


def _row(tokens: Sequence[str]) -> str:
    return "".join(f"{_BETWEEN}{token}" for token in tokens) + _BETWEEN


def excerpt(text: str, *, weights: Mapping[str, float], most_words: int) -> str:
    """Return the run of at most `most_words` words that holds the most weight of terms, as it stands in the text, on one line.

    Of runs that hold the same the middle one of the first row of them is taken, so that what stands before and after the terms is
    in it: a label's number may be on either side. A text without any of the terms gives its first words.

    `weights` is what each stem weighs, at least 0.
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


def words_around(text: str, *, start: int, end: int, most_words: int) -> str:
    """Return at most `most_words` words, on one line, around the passage from `start` to `end`; always all of the passage."""
    words = text.split()
    first, last = len(f"{text[:start]}.".split()) - 1, len(text[:end].split())
    begin = max(0, min(first - max(0, most_words - last + first) // 2, len(words) - most_words))
    return " ".join(words[begin : max(last, begin + most_words)])


def _standing(words: Sequence[str], stems: Sequence[str]) -> FloatArray:
    """Return 1 where a stem stands in a word, (n + 1, m); the first row, before all words, is 0."""
    columns = {stem: column for column, stem in enumerate(stems)}
    standing = np.zeros((len(words) + 1, len(stems)))
    for place, word in enumerate(words, 1):
        found = stems_in_chunk(word)
        if not columns.keys().isdisjoint(found):
            standing[place, [columns[stem] for stem in found if stem in columns]] = 1.0
    return standing


SIGNS_OF_FORMULAS = str.maketrans(dict.fromkeys("${}\\", " "))


CONTROLS = str.maketrans(dict.fromkeys(map(chr, [*range(32), *range(127, 160)]), " "))


def without_controls(text: str) -> str:
    """Return the text on one line, without signs that steer a terminal or end a text in other programs."""
    return " ".join(text.translate(CONTROLS).split())


def verbatim_terms(*, terms: Sequence[str], source: str | None, limit: int) -> tuple[str, ...]:
    """Return the terms without signs of formulas, each once whatever its case, only those that stand in the source.

    Spaces and case do not count; without a source to compare with all terms pass.
    """
    kept: dict[str, str] = {}
    text = None if source is None else _bare(source)
    for term in terms:
        plain = without_controls(term.translate(SIGNS_OF_FORMULAS))
        bare = _bare(term)
        if bare and (text is None or bare in text):
            kept.setdefault(bare, plain)
    return tuple(kept.values())[:limit]


def _bare(text: str) -> str:
    return "".join(text.translate(SIGNS_OF_FORMULAS).casefold().split())
