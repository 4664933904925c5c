"""Whether a question looks like English, by the words that hardly any question goes without and other languages do not have."""

from __future__ import annotations

from tasks.algorithms.words import tokens_of

_MARKS = """
the of which what who whose when where why how does did many much and with from this that these those
"""
_ENGLISH = frozenset(_MARKS.split())


def looks_english(question: str) -> bool:
    """Say whether the question holds a word that marks English; a few words without grammar ("torque bolts") do not."""
    return not _ENGLISH.isdisjoint(token.casefold() for token in tokens_of(question))
