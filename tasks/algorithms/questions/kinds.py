"""What a question expects: kinds of elements and of answers, how much of the document, its parts, and as several questions."""

import re
from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from enum import StrEnum
from functools import lru_cache
from itertools import dropwhile, takewhile
from math import fsum

import numpy as np

from storage.records.documents import NodeKind
from tasks.algorithms.arrays import require_range
from tasks.algorithms.questions.places import NUMBER_WORDS
from tasks.algorithms.text.kept import content_stems, names_in, parts_of, says_something, strip_instructions
from tasks.algorithms.text.stems import IDEOGRAPHS, stem, stems_in, words_of
from tasks.algorithms.text.words import IDEOGRAPH, STOP_WORDS, TOKEN

_COLLECTS = re.compile(r"\bhow\s+many\b|\b(?:list|enumerate|all|each|every)\b|\b(?:in\s+total|total\s+number)\b", re.IGNORECASE)


def collects(question: str) -> bool:
    """Say whether a question counts or collects: "How many charts are there?", "List every supplier", "of all regions".

    Words about the form of the answer ("as a list") do not count.
    """
    return _COLLECTS.search(strip_instructions(question)) is not None


DOCUMENT = (
    r"(?:documents?|reports?|papers?|articles?|presentations?|decks?|slides?|guides?|guidebooks?|guidelines?|handbooks?|manuals?|"
    r"brochures?|booklets?|leaflets?|books?|catalogu?es?|catalogs?|filings?|publications?|files?|texts?|appendix|appendices)"
)
_ELEMENTS = (
    r"(?:charts?|figures?|tables?|graphs?|plots?|diagrams?|pictures?|photos?|photographs?|images?|illustrations?|maps?|screenshots?|"
    r"logos?|pages?|slides?|sections?|chapters?|exhibits?|equations?|formulas?|footnotes?|references?|quotes?|quotations?)"
)
_OF_DOCUMENT = re.compile(rf"\b{DOCUMENT}\b", re.IGNORECASE)
_ELEMENT = re.compile(rf"\b{_ELEMENTS}\b", re.IGNORECASE)
_COUNTED = re.compile(
    rf"\b(?:how\s+many|number\s+of|list|enumerate|all|each|every)\s+(?:\S+\s+){{0,3}}?{_ELEMENTS}\b", re.IGNORECASE
)
"""What is counted follows within three words: "how many of the bar charts"."""


def speaks_of_document(question: str) -> bool:
    """Say whether a question names a document, or what it shows, by its kind: "the report", "Which charts"."""
    return (_OF_DOCUMENT.search(question) or _ELEMENT.search(question)) is not None


def surveys(question: str) -> bool:
    """Say whether a question counts or collects all over a document: "How many charts are there?", "List all risks in the report".

    What it looks for is on many pages. A number that stands somewhere, "How many people voted?", is on one.
    """
    asked = strip_instructions(question)
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


def find_asked_elements(question: str) -> frozenset[NodeKind]:
    """Return FIGURE where the question speaks of pictures, TABLE where of rows and columns, and so on; most have none.

    A label counts ("Table 2"), a word about the form of the answer does not ("Answer with a table").
    """
    # In capitals "FIGURE" would pass for an abbreviation.
    words = words_of(_NO_KIND.sub(" ; ", strip_instructions(question)).casefold())
    stems = {part for word in words for part in parts_of(word)}
    return frozenset(kind for kind, words in _STEMS.items() if not words.isdisjoint(stems))


def find_counted_noun(question: str) -> str:
    """Return the word for what a question counts or lists, the last before a word that says nothing; "" where there is none.

    "How many steel parts are there?" counts "parts".
    """
    asked = strip_instructions(question)
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
    asked = strip_instructions(question)
    return next((kind for kind, pattern in _ASKED_KINDS if pattern.search(asked)), AnswerKind.ANY)


def holds_kind(text: str, kind: AnswerKind, question: str) -> bool:
    """Say whether a text holds something of that kind that is not in the question: "2024" answers no question about 2024.

    A number that may be a percentage counts as one where the question asks for a percentage: tables put the sign into the header.
    """
    wanted = AnswerKind.NUMBER if kind is AnswerKind.PERCENTAGE else kind
    return kind is AnswerKind.ANY or bool(find_new_values(text, wanted, question))


def find_new_values(text: str, kind: AnswerKind, question: str) -> frozenset[str]:
    """Return what a text holds of a kind of answer, but ANY, and the question does not, in lower case."""
    return _values(text, kind) - _values(question, kind)


def split_at_asked(text: str, question: str) -> tuple[tuple[str, bool], ...]:
    """Return a text in pieces, and of each whether it is a word of the question, in any inflection."""
    asked = frozenset(content_stems(strip_instructions(question)))
    # Ideographs stand without spaces between words, and count in pairs.
    pairs = sorted(part for part in asked if IDEOGRAPHS.search(part))
    pieces, end = [], 0
    for match in re.finditer("|".join((*map(re.escape, pairs), f"[{IDEOGRAPH}]", TOKEN.pattern)), text):
        if says_something(match[0]) and not asked.isdisjoint(parts_of(match[0])):
            pieces += [(text[end : match.start()], False), (match[0], True)]
            end = match.end()
    return tuple((words, is_asked) for words, is_asked in (*pieces, (text[end:], False)) if words)


_COUNT = re.compile(r"(?<!\w)\d[\d.,]*")


def counts_noun(text: str, question: str) -> bool:
    """Say whether a number that the question does not say stands at most three words before what the question counts."""
    noun, known = stems_in(find_counted_noun(question)), _values(question, AnswerKind.NUMBER)
    words = text.split() if noun else []
    after = (
        " ".join(words[place + 1 : place + 4])
        for place, word in enumerate(words)
        if any(number.rstrip(".,") not in known for number in _COUNT.findall(word))
    )
    return any(not noun.isdisjoint(stems_in(following)) for following in after)


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
    asked = " ".join(strip_instructions(question).split())
    found = (part.strip(" ?.,;:") for part in _BETWEEN.split(asked))
    parts = tuple(dict.fromkeys(part for part in found if any(sign.isalnum() for sign in part)))
    return parts if len(parts) <= _MOST_PARTS else (asked,)


_COMPARES = re.compile(
    r"(?i)\b(?:compar(?:e[ds]?|ing|isons?)|differ(?:s|ed|ent|ences?)?|versus|vs|than|or|both|between|same|which\s+of|"
    r"sum|total|combined|together)\b"
)
_LEAD = r"(?i:\b(?:of|in|for|by|at|from|to|with|than|as|the)\s+){0,2}"
_JOINT = r"(?i:\s*(?:,\s*)?(?:(?:and|or|nor|versus|vs\.?|than|(?:compared\s+)?(?:with|to))\s+|[&/+]\s*)?)"


def sub_questions(question: str, *, titles: AbstractSet[str], most: int) -> tuple[str, ...]:
    """Return what a question asks as several questions, or itself where it is one or would be more than `most`.

    Its parts are questions. Where it compares, counts or sums, there is one for each of its names: what is asked, without the
    other names. Months, years and what has only stems of `titles` are no such names, because they hold for all.
    """
    parts, asked = question_parts(question), strip_instructions(question)
    if len(parts) < 2 and (collects(question) or _COMPARES.search(asked)):
        names = tuple(dict.fromkeys(name for name in names_in(asked) if _tells_apart(name, titles)))
        parts = _one_for_each(asked, names) if 1 < len(names) <= most else ()
    return parts if 1 < len(parts) <= most else (question,)


def _tells_apart(name: Iterable[str], titles: AbstractSet[str]) -> bool:
    words = {word: parts_of(word) for word in name if word[0].isupper()}
    dated = {word for word, stems in words.items() if holds_kind(" ".join((word, *stems)), AnswerKind.DATE, "")}
    # "FY" stands before a year.
    return any(word not in dated | {"FY"} and not titles >= set(stems) for word, stems in words.items())


def _one_for_each(asked: str, names: Sequence[Sequence[str]]) -> tuple[str, ...]:
    # The longest first, so that the Bank of England is not taken for England.
    words = "|".join(sorted((r"\s*".join(map(re.escape, name)) for name in names), key=len, reverse=True))
    one = rf"(?<![\w-])(?:{words})(?![\w-])(?:['\u2019]s\b)?"
    series = re.compile(rf"({_LEAD})({one}(?:{_JOINT}{_LEAD}{one})*)")

    def with_only(name: str) -> str:
        def kept(found: re.Match[str]) -> str:
            own = [each for each in re.findall(one, found[2]) if re.fullmatch(rf"{name}(?:['\u2019]s)?", each)]
            return f"{found[1]}{own[0]}" if own else ""

        return re.sub(r" (?=[?.,;:!])", "", " ".join(series.sub(kept, asked).split())).strip(" ,;:")

    return tuple(with_only(r"\s*".join(map(re.escape, name))) for name in names)


def list_uncovered_stems(*, weights: Mapping[str, float], covered: Collection[AbstractSet[str]], least: float) -> tuple[str, ...]:
    """Return the stems that no quote covers, the weightiest first, or none where they weigh less than `least` of all stems.

    `weights` are those of the stems asked for, their rarity, at least 0; `covered` are the stems of each quote.
    """
    require_range(name="weights of stems", values=list(weights.values()), low=0.0, high=np.inf)
    lost = [stem for stem in weights if not any(stem in held for held in covered)]
    enough = fsum(weights[stem] for stem in lost) >= least * fsum(weights.values())
    return tuple(sorted(lost, key=lambda stem: -weights[stem])) if enough else ()
