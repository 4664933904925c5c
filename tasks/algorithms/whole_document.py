"""Whether a question is of a document as a whole: what it asks for lies all over its pages, or stands on the first of them."""

from __future__ import annotations

import re

from tasks.algorithms.collecting import collects
from tasks.algorithms.kept import asked_part

_DOCUMENT = (
    r"(?:documents?|reports?|papers?|articles?|presentations?|decks?|slides?|guides?|guidebooks?|guidelines?|handbooks?|manuals?|"
    r"brochures?|booklets?|leaflets?|books?|catalogu?es?|catalogs?|filings?|publications?|files?|texts?|appendix|appendices)"
)
_ELEMENTS = (
    r"(?:charts?|figures?|tables?|graphs?|plots?|diagrams?|pictures?|photos?|photographs?|images?|illustrations?|maps?|screenshots?|"
    r"logos?|pages?|slides?|sections?|chapters?|exhibits?|equations?|formulas?|footnotes?|references?|quotes?|quotations?)"
)
_OF_DOCUMENT = re.compile(rf"\b{_DOCUMENT}\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"\b(?:how\s+many|number\s+of|list|enumerate|all|each|every)\s+(?:\S+\s+){{0,3}}?{_ELEMENTS}\b", re.IGNORECASE
)
"""What is counted follows within three words: "how many of the bar charts"."""


def speaks_of_document(question: str) -> bool:
    """Tell whether a question speaks of the document it asks: "Who wrote this report?", "the slides", "in the appendix"."""
    return _OF_DOCUMENT.search(asked_part(question)) is not None


def surveys(question: str) -> bool:
    """Tell whether a question counts or collects all over a document: "How many charts are there?", "List all risks in the report".

    What it looks for is on many pages. A number that stands somewhere, "How many people voted?", is on one.
    """
    asked = asked_part(question)
    return collects(question) and (_OF_DOCUMENT.search(asked) or _COUNTED.search(asked)) is not None
