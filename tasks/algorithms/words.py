"""Words, numbers and sentences of a text in any script."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from math import log

# Vowel signs and other marks that Python's \w leaves out; without them Hindi, Thai or pointed Arabic falls to pieces.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
_LETTER = rf"[\w{_MARKS}]"
TOKEN = re.compile(rf"(?:[A-Z]\.){{2,}}|{_LETTER}+(?:[-'\u2019.,&/:](?!s\b){_LETTER}+)*%?|[^\w\s{_MARKS}]|\n\s*\n")
"""A word or number with what joins its parts ("1,234.5", "GPT-4", "R&D", "U.S.") but not the "s" of a genitive, one sign, or an
empty line."""

_IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
COUNTED = re.compile(rf"[{_IDEOGRAPH}]{{1,2}}|[^\s{_IDEOGRAPH}]+")
"""What counts as a word in a length: what stands between spaces, or two ideographs."""

_SENTENCE_END = re.compile(
    r"[.!?\u061f\u0964][\"'\u201d\u2019)\]]*\s+(?![a-z,;)])|[\u3002\uff01\uff1f]|\n\s*\n|\n(?=\s*(?:[-*\u2022\u2023\u25aa\u25cf\u2013]|\d{1,2}[.)])\s)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|al|e\.g|i\.e|cf|vs|approx|etc|Fig|Figs|Eq|Eqs|Sec|Tab|No|Vol|pp|Mr|Mrs|Ms|Dr|Prof|St|Inc|Ltd|Co|Corp))$"
)

MATHEMATICS = re.compile(r"\$\$.+?\$\$|\$[^$\n]*[\\^_{][^$\n]*\$|\\\(.+?\\\)|\\\[.+?\\\]|\\[A-Za-z]+|[{}$\\]", re.DOTALL)
"""LaTeX and its signs; a price such as "$5" loses its sign only."""


def tokens_of(text: str) -> list[str]:
    """Return the words, numbers, signs and empty lines of the text, LaTeX left out."""
    return TOKEN.findall(MATHEMATICS.sub(" ; ", text) if "\\" in text or "$" in text or "{" in text else text)


def sentences_of(text: str) -> list[str]:
    """Cut the text after each sentence, empty line and list item; the parts are stripped and not empty."""
    parts: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if text[match.start()] == "." and _ABBREVIATION.search(text, max(start, match.start() - 8), match.start()):
            continue
        parts.append(text[start : match.end()].strip())
        start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def count_words(text: str) -> int:
    """Return the length of the text in words; two ideographs count as one."""
    return len(COUNTED.findall(text))


def first_words(text: str, limit: int) -> str:
    """Return the text on one line, cut after `limit` words; a cut is marked by an ellipsis."""
    line = " ".join(text.split())
    for number, match in enumerate(COUNTED.finditer(line)):
        if number == limit:
            return line[: match.start()].rstrip(" ,;:-") + " …"
    return line


def word_rarity(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequency log(1 + n / df) of each word among n texts, given as sets of words.

    A word that stands in one text only counts as if it stood in two: what a document is about, it says again.
    """
    counts = Counter(word for text in texts for word in text)
    return {word: log(1 + len(texts) / max(count, 2)) for word, count in counts.items()}
