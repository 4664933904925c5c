"""The parts of a question that asks several things at once: each wants its own evidence."""

from __future__ import annotations

import re

from tasks.algorithms.kept import asked_part

_ASKS = (
    r"(?:by\s+|in\s+|with\s+|from\s+|to\s+|at\s+|for\s+|of\s+|on\s+)?"
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|does|do|did|has|have|had|can|could|will|would)\b"
)
_BETWEEN = re.compile(rf"\s*(?:[,;]?\s+and\s+(?={_ASKS})|;\s+|:\s+(?={_ASKS})|\?\s+(?=\S))", re.IGNORECASE)


def question_parts(question: str) -> tuple[str, ...]:
    """Return what a question asks, part by part: "Why did it fail, and what did it cost?" has two; most have one.

    A part begins after "and" with a word that asks, after a colon with one, after a semicolon or a question mark. "between 2020
    and 2022" and "revenue and profit" part nothing.
    """
    parts = (found.strip(" ?.,;:") for found in _BETWEEN.split(asked_part(question)))
    return tuple(part for part in parts if any(sign.isalnum() for sign in part))
