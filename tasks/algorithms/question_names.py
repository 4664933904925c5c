"""The names in a question: capitalised words in a row."""

from __future__ import annotations

from collections.abc import Sequence

from tasks.algorithms.keywords import IDENTIFIER, JOINERS
from tasks.algorithms.stop_words import STOP_WORDS
from tasks.algorithms.words import tokens_of

_ASKED = """
answer answers describe document documents enumerate explain find give list mention mentioned mentions name per question
report respectively tell write according number numbers count many yes
"""

UNSAID = STOP_WORDS | frozenset(_ASKED.split())
"""Words without meaning of their own, and those that people put into questions about documents, whatever these say."""

_LONGEST_NAME = 6  # words
_OPENING = frozenset({"Best", "First", "General", "New", "Next", "Second", "Under", "Just", "One", "Two", "Three"})
"""Words without meaning of their own that open a name: "New York", "Best Buy"."""

_TITLE_CASE = STOP_WORDS - {"may"} - frozenset(map(str.casefold, _OPENING))
"""Words that have a capital only where every word has one."""


def names_in(asked: str) -> list[tuple[str, ...]]:
    """Return the words of each name: capitalised ones in a row, joined by "of" and the like.

    A question in capitals throughout, or With Every Word Capitalised, shows no names.
    """
    tokens = tokens_of(asked)
    if asked.isupper() or sum(token.istitle() and token.casefold() in _TITLE_CASE for token in tokens[1:]) > 1:
        return []
    names: list[tuple[str, ...]] = []
    place = 0
    while place < len(tokens):
        end = _name_end(tokens, place)
        name = tuple(tokens[place:end])
        # One capitalised word that opens the question says nothing unless it is an abbreviation or holds a digit.
        if len(name) > 1 or (name and (place > 0 or IDENTIFIER.fullmatch(name[0]))):
            names.append(name)
        place = max(end, place + 1)
    return names


def _name_end(tokens: Sequence[str], place: int) -> int:
    """Return where the name that begins here ends; `place` itself where none begins.

    Nothing is joined to the first word: "Costs of Merrow" begins a question as "Bank of England" does.
    """
    end = place
    while end < len(tokens) and end - place < _LONGEST_NAME:
        following = tokens[end + 1] if end + 1 < len(tokens) else ""
        if _is_name_word(tokens[end]):
            end += 1
        elif _is_name_word(following) and (tokens[end] in _OPENING if end == place else tokens[end] in JOINERS and end > 1):
            end += 2
        else:
            break
    return end


def _is_name_word(token: str) -> bool:
    return token[:1].isupper() and (token.casefold() not in UNSAID or (token.isupper() and len(token) > 1))
