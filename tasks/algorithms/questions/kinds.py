"""What a question expects: kinds of elements and of answers, how much of the document, and its parts."""

import re
from collections import deque
from enum import StrEnum
from functools import lru_cache
from itertools import dropwhile, takewhile

from storage.records.documents import NodeKind
from tasks.algorithms.questions.places import NUMBER_WORDS
from tasks.algorithms.text.kept import asked_part, parts_of, says_something
from tasks.algorithms.text.stems import stem, words_of
from tasks.algorithms.text.words import STOP_WORDS

_COLLECTS = re.compile(r"\bhow\s+many\b|\b(?:list|enumerate|all|each|every)\b|\b(?:in\s+total|total\s+number)\b", re.IGNORECASE)


def collects(question: str) -> bool:
    """Say whether a question counts or collects: "How many charts are there?", "List every supplier", "of all regions".

    Words about the form of the answer ("as a list") do not count.
    """
    return _COLLECTS.search(asked_part(question)) is not None


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


def surveys(question: str) -> bool:
    """Say whether a question counts or collects all over a document: "How many charts are there?", "List all risks in the report".

    What it looks for is on many pages. A number that stands somewhere, "How many people voted?", is on one.
    """
    asked = asked_part(question)
    return collects(question) and (_OF_DOCUMENT.search(asked) or _COUNTED.search(asked)) is not None


_KINDS_OF_FIGURES = """
chart charting figure graph plot diagram flowchart infographic picture pictured photo photograph image map logo icon screenshot
illustration illustrate drawing symbol emblem
"""
_PARTS_OF_FIGURES = "bar pie arrow legend color colored shape"
_STEMS = {
    NodeKind.FIGURE: frozenset(map(stem, f"{_KINDS_OF_FIGURES} {_PARTS_OF_FIGURES}".split())),
    NodeKind.TABLE: frozenset(map(stem, ("table", "column", "row"))),
    NodeKind.FORMULA: frozenset(map(stem, ("formula", "formulas", "formulae", "equation"))),
    NodeKind.FOOTNOTE: frozenset({stem("footnote")}),
}
_NO_KIND = re.compile(r"\btables?\s+of\s+contents?\b|\bfigures\s+(?:for|from|of|in)\s+(?:fy\s?)?\d{4}\b", re.IGNORECASE)
"""A list of headings is no table of data, and the figures of a year are numbers."""


def asked_elements(question: str) -> frozenset[NodeKind]:
    """Return FIGURE where the question speaks of what is seen, TABLE where of rows and columns, and so on; most have none.

    A label counts ("Table 2"), a word about the form of the answer does not ("Answer with a table").
    """
    # In capitals "FIGURE" would pass for an abbreviation.
    words = words_of(_NO_KIND.sub(" ; ", asked_part(question)).casefold())
    stems = {part for word in words for part in parts_of(word)}
    return frozenset(kind for kind, words in _STEMS.items() if not words.isdisjoint(stems))


def counted_noun(question: str) -> str:
    """Return the word for what a question counts or lists, the last before a word that says nothing; "" where there is none.

    "How many steel parts are there?" counts "parts".
    """
    asked = asked_part(question)
    found = _COLLECTS.search(asked)
    words = words_of(asked[found.end() :]) if found else []
    counted = takewhile(says_something, dropwhile(lambda word: not says_something(word), words))
    return "".join(deque(counted, maxlen=1))


class AnswerKind(StrEnum):
    """What the answer must hold: a share in per cent, a date, a number of any kind, a person's name, or nothing in particular."""

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
    """Say whether a text holds something of that kind that is not in the question: "2024" answers no question about 2024.

    A number that may be a percentage counts as one where the question asks for a percentage: tables put the sign into the header.
    """
    if kind is AnswerKind.ANY:
        return True
    wanted = AnswerKind.NUMBER if kind is AnswerKind.PERCENTAGE else kind
    return not _values(text, wanted) <= _values(question, wanted)


# Every quote is held against the same question.
@lru_cache(maxsize=256)
def _values(text: str, kind: AnswerKind) -> frozenset[str]:
    return frozenset(match[0].rstrip(".,").casefold() for match in _HELD[kind].finditer(text))


_ASKS = (
    r"(?:by\s+|in\s+|with\s+|from\s+|to\s+|at\s+|for\s+|of\s+|on\s+)?"
    r"(?:who|whom|whose|what|which|when|where|why|how|is|are|was|were|does|do|did|has|have|had|can|could|will|would)\b"
)
_MOST_PARTS = 20
"""A text of more is asked as one: each part is looked for by itself."""
_BETWEEN = re.compile(rf"\s*(?:[,;]?\s+and\s+(?={_ASKS})|;\s+|:\s+(?={_ASKS})|\?\s+(?=\S))", re.IGNORECASE)


def question_parts(question: str) -> tuple[str, ...]:
    """Return what a question asks, part by part, each once: "Why did it fail, and what did it cost?" has two; most have one.

    A part begins after "and" with a word that asks, after a colon with one, after a semicolon or a question mark. "between 2020
    and 2022" and "revenue and profit" part nothing.
    """
    # A run of spaces would cost the pattern the third power of its length.
    asked = " ".join(asked_part(question).split())
    found = (part.strip(" ?.,;:") for part in _BETWEEN.split(asked))
    parts = tuple(dict.fromkeys(part for part in found if any(sign.isalnum() for sign in part)))
    return parts if len(parts) <= _MOST_PARTS else (asked,)
