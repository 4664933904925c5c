"""Sections whose whole title a question says: it asks about what stands under it, with or without meaning the title."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from functools import lru_cache

from tasks.algorithms.headings import read_numbering
from tasks.algorithms.kept import kept_stems
from tasks.algorithms.word_stems import words_of

_FEWEST_TERMS = 2
"""A title of one term ("Revenue") is said by too many questions that do not mean its section."""

_BARE_SCHEMES = frozenset({"arabic", "letter", "roman"})


def said_titles(titles: Sequence[str], stems: Collection[str]) -> list[int]:
    """Return the places of the titles of two or more terms, all of which the question says, in whatever order.

    The number that a title opens with, function words and endings do not count.

    Args:
        titles: of sections, as they stand there; empty ones are never said.
        stems: of the question, as `question_terms` finds them.
    """
    said = frozenset(stems)
    return [place for place, title in enumerate(titles) if len(terms := _terms_of(title)) >= _FEWEST_TERMS and terms <= said]


@lru_cache(maxsize=2**14)
def _terms_of(title: str) -> frozenset[str]:
    numbering, words = read_numbering(title), words_of(title)
    # "4.1 Results" opens with a number, "Item 7A. Risks" with a word and a number.
    opening = 0 if numbering is None else 1 if numbering.scheme in _BARE_SCHEMES else 2
    return frozenset(kept_stems(" ".join(words[opening:]), named=frozenset()))
