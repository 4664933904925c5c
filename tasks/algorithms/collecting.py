"""Whether a question counts or collects: what it asks for lies scattered, and the best places alone do not answer it."""

from __future__ import annotations

import re

from tasks.algorithms.kept import asked_part

_COLLECTS = re.compile(r"\bhow\s+many\b|\b(?:list|enumerate|all|each|every)\b|\b(?:in\s+total|total\s+number)\b", re.IGNORECASE)


def collects(question: str) -> bool:
    """Tell whether a question counts or collects: "How many charts are there?", "List every supplier", "of all regions".

    Words about the form of the answer ("as a list") do not count.
    """
    return _COLLECTS.search(asked_part(question)) is not None
