"""Whether words stand in a text, however they are spaced, set off or capitalised; and where."""

from __future__ import annotations

import re
from bisect import bisect_right
from itertools import accumulate

_DASHES = str.maketrans(dict.fromkeys("–—−‐‑‒", "-"))  # noqa: RUF001 - signs that are written for one another
_UNSPACED = "\u0e00-\u0eff\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff"
"""Scripts that set no space between words: each sign counts by itself."""
_TOKEN = re.compile(rf"[{_UNSPACED}]|(?<!\w)-\d+(?:[.,]\d+)*|\d+(?:[.,]\d+)*|[^\W\d_{_UNSPACED}]+")
_THOUSANDS = re.compile(r",(?=\d{3}(?!\d))")
_GAP = re.compile(r"\.{3}|…")
_BETWEEN = "\0"
LONGEST_GAP = 300
"""Characters that an ellipsis may leave out."""


def find_words(text: str, words: str) -> tuple[int, int] | None:
    """Return where the words stand in the text, as (start, end), the first place; None where they do not stand there in full.

    Only letters and numbers count, each whole and a number with its minus: 5 does not stand in 15, in 1.5 nor in -5, and "art in"
    not in "cart inside". Between them the text may have other signs and spaces. An ellipsis leaves out a little. No words stand
    nowhere.
    """
    spans = [found.span() for found in _TOKEN.finditer(text.translate(_DASHES))]
    tokens = _tokens(text)
    starts = list(accumulate((len(token) + 1 for token in tokens), initial=0))
    row = _row(tokens)
    first, end = -1, 0
    for wanted in filter(None, map(_tokens, _GAP.split(words))):
        at = row.find(_row(wanted), starts[end])
        if at < 0:
            return None
        place = bisect_right(starts, at) - 1
        if first >= 0 and spans[place][0] - spans[end - 1][1] > LONGEST_GAP:
            return None
        first, end = (place if first < 0 else first), place + len(wanted)
    return None if first < 0 else (spans[first][0], spans[end - 1][1])


def _tokens(text: str) -> list[str]:
    return [_THOUSANDS.sub("", token).casefold() for token in _TOKEN.findall(text.translate(_DASHES))]


def _row(tokens: list[str]) -> str:
    """Return the tokens as one string in which each is set off: to look into it takes no longer than to read it."""
    return "".join(f"{_BETWEEN}{token}" for token in tokens) + _BETWEEN
