"""The part of a question that asks: without the words that only say how the answer is to be written."""

from __future__ import annotations

import re

from tasks.algorithms.words import sentences_of

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


def asked_part(question: str) -> str:
    """Return the question without example lists in brackets and without later sentences about the form of the answer.

    'Which slides show a map? Write the answer as a list, e.g. ["Slide 1"].' asks nothing about slide 1. The first sentence
    always stays.
    """
    first, *later = sentences_of(_EXAMPLES.sub(" ", question)) or [question]
    return " ".join([first, *(sentence for sentence in later if not _INSTRUCTION.fullmatch(sentence))])
