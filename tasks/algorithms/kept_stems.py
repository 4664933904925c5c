"""The words of a text that say something, as stems in reading order: what stands next to what once stop words are left out."""

from __future__ import annotations

from collections.abc import Collection

from tasks.algorithms.asked_part import asked_part
from tasks.algorithms.question_names import UNSAID
from tasks.algorithms.word_stems import IDEOGRAPHS, stems_of, words_of


def kept_stems(text: str, *, named: Collection[str]) -> tuple[str, ...]:
    """Return the stems of the words that say something, repetitions included, compounds by their parts.

    Args:
        text: of any length; without words it has no stems.
        named: stems that stay although their word says nothing, because a name has it ("Best" of "Best Buy").
    """
    kept: list[str] = []
    for word in words_of(text):
        parts = parts_of(word)
        if says_something(word) or _any_of(parts, named):
            kept += parts
    return tuple(kept)


def asked_stems(question: str, kept: Collection[str]) -> tuple[str, ...]:
    """Return the stems of the words that a question looks for as they follow each other, compounds by their parts.

    Args:
        question: in its own words; what says how to write the answer is left out.
        kept: its stems as `question_terms` finds them, each once, a compound beside its parts.
    """
    words = words_of(asked_part(question))
    return tuple(part for word in words if _any_of(stems_of(word), kept) for part in parts_of(word))


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


def _any_of(stems: Collection[str], others: Collection[str]) -> bool:
    return any(stem in others for stem in stems)
