"""What kind of answer a question expects, and whether a text holds one that the question did not bring along."""

from __future__ import annotations

import re
from enum import StrEnum

from tasks.algorithms.counted_pages import NUMBER_WORDS
from tasks.algorithms.kept import asked_part
from tasks.algorithms.words import STOP_WORDS


class AnswerKind(StrEnum):
    """What the answer must hold: a share in per cent, a date, a number of any kind, somebody's name, or nothing in particular."""

    PERCENTAGE = "percentage"
    DATE = "date"
    NUMBER = "number"
    PERSON = "person"
    ANY = "any"


_ASKED_KINDS = (
    (
        AnswerKind.PERCENTAGE,
        re.compile(r"\b(?:percent(?:age)?s?|per\s+cent|percentage)\b|%|\b(?:which|what)\s+(?:share|proportion)\b", re.I),
    ),
    (AnswerKind.DATE, re.compile(r"\b(?:when|(?:what|which)\s+(?:\w+\s+)?(?:years?|dates?|day|month|quarter|decade))\b", re.I)),
    (
        AnswerKind.NUMBER,
        re.compile(
            r"\bhow\s+(?:many|much|long|far|tall|high|deep|wide|old|big|large|heavy|fast|often|late|early)\b"
            r"|\b(?:what|which)\b.{0,40}\b(?:number|amount|total|sum|average|mean|ratio|rate|price|cost|fee|salary|temperature|weight"
            r"|height|length|width|depth|size|age|value|revenue|income|score|accuracy|frequency|voltage|torque|error|difference)\b"
            r"|\bwhat\s+(?:does|do|did)\b.{0,60}\b(?:cost|weigh|measure)\b",
            re.I,
        ),
    ),
    (AnswerKind.PERSON, re.compile(r"\bwho(?:m|se)?\b", re.I)),
)
_NUMBER_WORDS = "|".join(sorted(NUMBER_WORDS, key=len, reverse=True))
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_HELD = {
    AnswerKind.PERCENTAGE: re.compile(r"\d[\d.,]*\s*(?:%|per\s?cent\b|percentage\s+points?\b)", re.I),
    AnswerKind.DATE: re.compile(
        rf"\b(?:1[5-9]|20)\d\d\b|\b(?:{_MONTHS})\b|\b\d{{1,2}}[./]\d{{1,2}}[./]\d{{2,4}}\b|\bQ[1-4]\b", re.I
    ),
    AnswerKind.NUMBER: re.compile(rf"\d[\d.,]*|\b(?:{_NUMBER_WORDS})\b", re.I),
    # Two capitals side by side, the first of no stop word, the second of no month; names of people look no different from others.
    AnswerKind.PERSON: re.compile(
        rf"\b(?!(?i:{'|'.join(sorted(STOP_WORDS))})\b)(?:[A-Z][\w'\u2019-]+|[A-Z]\.)"
        rf"(?:,? and|,)?\s+(?!(?i:{_MONTHS})\b)[A-Z][\w'\u2019-]+"
    ),
}


def expected_kind(question: str) -> AnswerKind:
    """Return what the question's answer must hold; the most particular kind where several are asked for."""
    asked = asked_part(question)
    return next((kind for kind, pattern in _ASKED_KINDS if pattern.search(asked)), AnswerKind.ANY)


def holds_kind(text: str, kind: AnswerKind, question: str) -> bool:
    """Tell whether a text holds something of that kind that is not in the question: "2024" answers no question about 2024.

    A number that may be a percentage counts as one where the question asks for a percentage: tables put the sign into the header.
    """
    if kind is AnswerKind.ANY:
        return True
    wanted = _HELD[AnswerKind.NUMBER if kind is AnswerKind.PERCENTAGE else kind]
    known = {_bare(match[0]) for match in wanted.finditer(question)}
    return any(_bare(match[0]) not in known for match in wanted.finditer(text))


def _bare(value: str) -> str:
    return value.rstrip(".,").casefold()
