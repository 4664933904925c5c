"""The words of a text that say something, as stems in reading order: what stands next to what once stop words are left out."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from collections.abc import Set as AbstractSet
from itertools import pairwise

from tasks.algorithms.asked_part import asked_part
from tasks.algorithms.question_names import UNSAID
from tasks.algorithms.word_stems import IDEOGRAPHS, stems_of, words_of


def kept_stems(text: str, *, named: AbstractSet[str]) -> tuple[str, ...]:
    """Return the stems of the words that say something, repetitions included, compounds by their parts.

    Args:
        text: of any length; without words it has no stems.
        named: stems that stay although their word says nothing, because a name has it ("Best" of "Best Buy").
    """
    kept: list[str] = []
    for word in words_of(text):
        parts = parts_of(word)
        if says_something(word) or not named.isdisjoint(parts):
            kept += parts
    return tuple(kept)


def asked_stems(question: str, kept: Collection[str]) -> tuple[str, ...]:
    """Return the stems of the words that a question looks for as they follow each other, compounds by their parts.

    Args:
        question: in its own words; what says how to write the answer is left out.
        kept: its stems as `question_terms` finds them, each once, a compound beside its parts.
    """
    looked_for = frozenset(kept)
    return tuple(part for word in words_of(asked_part(question)) for part in parts_of(word) if part in looked_for)


def neighbouring_pairs(stems_in_order: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the pairs of stems that follow each other, each once, in the order asked; fewer than two stems have none.

    Args:
        stems_in_order: as `asked_stems` finds them: with repetitions, and a compound by its parts only.
    """
    return tuple(dict.fromkeys(pairwise(stems_in_order)))


def parts_of(word: str) -> tuple[str, ...]:
    """Return the stems of a compound's parts, which other texts may write apart, or the stem of any other word.

    "Long-term" counts as "term", "FY2021" as 2021, "R&D" as itself; ideographs count in pairs.
    """
    stems = stems_of(word)
    is_compound = len(stems) > 1 and (word.isascii() or not IDEOGRAPHS.search(word))
    return stems[1:] if is_compound else stems


def says_something(word: str) -> bool:
    """Tell a word that is worth a search from function words, words of any question about documents and single letters."""
    if word.isupper() and len(word) > 1:
        return True
    return word.casefold() not in UNSAID and (len(word) > 1 or word.isdigit() or not word.isascii())
