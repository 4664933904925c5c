"""The kinds of elements that a question asks for by their words: what is drawn, and what stands in rows and columns."""

from __future__ import annotations

import re

from storage.records import Modality
from tasks.algorithms.kept import asked_part, parts_of
from tasks.algorithms.stemming import stem
from tasks.algorithms.word_stems import words_of

_KINDS_OF_FIGURES = """
chart charting figure graph plot diagram flowchart infographic picture pictured photo photograph image map logo icon screenshot
illustration illustrate drawing symbol emblem
"""
_PARTS_OF_FIGURES = "bar pie arrow legend color colored shape"
_SEEN_IN_PHOTOS = "people man woman wear"
_TABULAR = "table column row"

_STEMS = {
    Modality.FIGURE: frozenset(map(stem, f"{_KINDS_OF_FIGURES} {_PARTS_OF_FIGURES} {_SEEN_IN_PHOTOS}".split())),
    Modality.TABLE: frozenset(map(stem, _TABULAR.split())),
}
_NO_KIND = re.compile(r"\btables?\s+of\s+contents?\b|\bfigures\s+(?:for|from|of|in)\s+(?:fy\s?)?\d{4}\b", re.IGNORECASE)
"""A list of headings is no table of data, and the figures of a year are numbers."""


def asked_modalities(question: str) -> frozenset[Modality]:
    """Return FIGURE where the question speaks of what is seen, TABLE where of rows and columns; most questions have neither.

    A label counts ("Table 2"), a word about the form of the answer does not ("Answer with a table").
    """
    # In capitals "FIGURE" would pass for an abbreviation.
    words = words_of(_NO_KIND.sub(" ; ", asked_part(question)).casefold())
    stems = {part for word in words for part in parts_of(word)}
    return frozenset(modality for modality, said in _STEMS.items() if not said.isdisjoint(stems))
