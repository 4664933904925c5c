"""Pages that are named by their place: "the cover", "the third page", "the second-to-last slide", "the last two pages"."""

from __future__ import annotations

import re

_FIRST_WORDS = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen"
NUMBER_WORDS = {word: number for number, word in enumerate([*_FIRST_WORDS.split(), "nineteen", "twenty"], start=1)}
"""The numbers up to twenty in words."""

_IRREGULAR = {"first": 1, "second": 2, "third": 3, "fifth": 5, "eighth": 8, "ninth": 9, "twelfth": 12, "twentieth": 20}
_ORDINALS = {f"{word}th": number for word, number in NUMBER_WORDS.items() if number not in _IRREGULAR.values()} | _IRREGULAR
_LONGEST_RUN = 10  # "the last 40 pages" names a part of the document, not forty pages

_NTH = rf"(?P<nth>{'|'.join(_ORDINALS)}|\d{{1,4}}(?:st|nd|rd|th))"
_COUNT = rf"(?P<count>{'|'.join(NUMBER_WORDS)}|\d{{1,2}})"
_PAGE = r"(?:page|slide|sheet)"
_TO_LAST = r"[\s-](?:to[\s-])?(?:the[\s-])?last"
_FROM_END = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NTH}{_TO_LAST}\s+{_PAGE}\b",
        rf"\b{_PAGE}\s+(?:at\s+|on\s+)?(?:the\s+)?{_NTH}{_TO_LAST}\b",
        rf"\b(?:last|final)\s+{_COUNT}\s+{_PAGE}s\b",
        rf"(?<!to\s)(?<!to-)(?<!to\sthe\s)\b(?:very\s+)?(?:last|final|closing)\s+{_PAGE}\b",
        r"\bback\s+(?:cover|page)\b",
        rf"\b(?P<penultimate>penultimate)\s+{_PAGE}\b",
    )
)
_FROM_START = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        rf"\b{_NTH}\s+{_PAGE}\b",
        rf"\bfirst\s+{_COUNT}\s+{_PAGE}s\b",
        rf"\b(?:front|title|opening|cover)\s+{_PAGE}\b",
        r"\b(?:front\s+cover|(?:on|in|of|at)\s+the\s+cover)\b",
    )
)


def counted_pages(text: str) -> list[int]:
    """Return the pages that a text counts, each once: 1 is the first or the cover, -1 the last, -2 the one before it."""
    found: dict[int, None] = {}
    rest = text
    for pattern in _FROM_END:
        for match in pattern.finditer(rest):
            found |= dict.fromkeys(-place for place in _places(match))
        # "The second last page" is not the last page, too.
        rest = pattern.sub(";", rest)
    for pattern in _FROM_START:
        for match in pattern.finditer(rest):
            found |= dict.fromkeys(_places(match))
    return list(found)


def _places(match: re.Match[str]) -> list[int]:
    groups = {name: value.casefold() for name, value in match.groupdict().items() if value}
    if "penultimate" in groups:
        return [2]
    if "count" in groups:
        count = NUMBER_WORDS.get(groups["count"]) or int(groups["count"])
        return list(range(1, count + 1)) if count <= _LONGEST_RUN else []
    nth = groups.get("nth", "first")
    place = _ORDINALS.get(nth) or int(re.sub(r"\D", "", nth))
    return [place] if place else []
