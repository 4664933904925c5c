"""The stems that a word counts for, in a question and in a document alike: compounds, years and ideographs included."""

import re
from functools import lru_cache
from itertools import chain

from tasks.algorithms.text.keywords import YEAR
from tasks.algorithms.text.stems import stem
from tasks.algorithms.text.words import STOP_WORDS, tokens_of

IDEOGRAPHS = re.compile("[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]+")
"""What is written without spaces between words."""

_JOINTS = re.compile(r"[-'\u2019.,&/:]")
_FISCAL_YEAR = re.compile(r"(?:FY|CY|F|H[12]|Q[1-4])((?:19|20)\d\d)", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    return [token for token in tokens_of(text) if token[0].isalnum()]


@lru_cache(maxsize=2**17)
def words_in_chunk(chunk: str) -> tuple[str, ...]:
    """Return the words of a chunk between spaces; remembered, because texts are made of few chunks."""
    return tuple(words_of(chunk))


@lru_cache(maxsize=2**16)
def stems_of(word: str) -> tuple[str, ...]:
    """Return the stems that a word counts for: its own, then those of a compound's words and years; or pairs of ideographs.

    "COVID-19" counts for "covid", too, "FY2021" for 2021; of three ideographs the first two count, and the last two.
    """
    runs = [] if word.isascii() else IDEOGRAPHS.findall(word)
    if runs:
        pairs = [run[place : place + 2] for run in runs for place in range(max(1, len(run) - 1))]
        return (*pairs, *map(stem, words_of(IDEOGRAPHS.sub(" ", word))))
    fiscal = _FISCAL_YEAR.fullmatch(word)
    if fiscal:
        return (stem(word), fiscal[1])
    parts = [part for part in _JOINTS.split(word) if _stands_alone(part)] if _JOINTS.search(word) else []
    return tuple(dict.fromkeys(map(stem, (word, *parts))))


@lru_cache(maxsize=2**17)
def stems_in_chunk(chunk: str) -> tuple[str, ...]:
    """Return the stems that a chunk between spaces counts for; remembered like its words."""
    return tuple(part for word in words_in_chunk(chunk) for part in stems_of(word))


def stems_in(text: str) -> frozenset[str]:
    return frozenset(chain.from_iterable(map(stems_in_chunk, text.split())))


def _stands_alone(part: str) -> bool:
    """Tell a part of a compound that is worth a search of its own: a word of three letters, or a year."""
    return (part.isalpha() and len(part) > 2 and part.casefold() not in STOP_WORDS) or bool(YEAR.fullmatch(part))
