"""The words of a text or question that say something, and the names in a question."""

import re
from collections.abc import Collection, Sequence

from tasks.algorithms.text.keywords import IDENTIFIER, JOINERS
from tasks.algorithms.text.stems import IDEOGRAPHS, stems_of, words_of
from tasks.algorithms.text.words import STOP_WORDS, sentences_of, tokens_of

_EXAMPLES = re.compile(
    r"(?:[\s,(]{0,5}(?:e\.\s?g\.|for example|such as|like|i\.\s?e\.)[\s,:)]{0,5})?"
    r"\[[^\[\]]{0,200}[\"'\u201c\u2018,][^\[\]]{0,200}\]",
    re.IGNORECASE,
)
_FORM = r"(?:format|form|integer|int|float|decimals?|list|string|percentage|words?|english|sentences?|yes|no|order|answer)"
_INSTRUCTION = re.compile(
    r"\s*(?:please\s+|and\s+)*(?:directly\s+)?"
    r"(?:(?:write|format|give|return|answer|express|round|present|sort|order)\b(?!.*\?).*\b"
    rf"{_FORM}\b|(?:your|the)\s+(?:answer|output|result|response)\s+(?:should|must|needs?|has|is\s+to)\b).*",
    re.IGNORECASE | re.DOTALL,
)


def strip_instructions(question: str) -> str:
    """Return the question without example lists in brackets and without later sentences about the form of the answer.

    'Which slides show a map? Write the answer as a list, e.g. ["Slide 1"].' asks nothing about slide 1. The first sentence
    always stays.
    """
    first, *later = sentences_of(_EXAMPLES.sub(" ", question)) or [question]
    return " ".join([first, *(sentence for sentence in later if not _INSTRUCTION.fullmatch(sentence))])


_ASKED = """
answer answers describe document documents enumerate explain find give hello hey hi list mention mentioned mentions name per
question report respectively tell thank thanks write according number numbers count many yes
"""

UNSAID = STOP_WORDS | frozenset(_ASKED.split())
"""Words without meaning of their own, and those that people put into questions about documents, whatever these say."""

_LONGEST_NAME = 6  # words
_FUNCTION_WORDS = "a an and are at by did do does for from has have in is of on or the to was were with"
_TITLE_CASE = frozenset(_FUNCTION_WORDS.split())
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
        elif _is_name_word(following) and end > max(place, 1) and tokens[end] in JOINERS:
            end += 2
        else:
            break
    return end


def _is_name_word(token: str) -> bool:
    return token[:1].isupper() and (token.casefold() not in UNSAID or (token.isupper() and len(token) > 1))


def content_stems(text: str) -> tuple[str, ...]:
    """Return the stems of the words that say something, repetitions included, compounds by their parts."""
    return tuple(part for word in words_of(text) if says_something(word) for part in parts_of(word))


def find_asked_stems(question: str, kept: Collection[str]) -> tuple[str, ...]:
    """Return those of the `kept` stems that a question looks for as they follow each other, compounds by their parts.

    What says how to write the answer is left out.
    """
    looked_for = frozenset(kept)
    return tuple(part for word in words_of(strip_instructions(question)) for part in parts_of(word) if part in looked_for)


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
