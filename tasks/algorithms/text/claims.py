"""What a text claims of its sources: its quotes, each with what stands beside it, and the sentences outside of them."""

import re
import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from tasks.algorithms.text.standing import tokens_of
from tasks.algorithms.text.words import sentences_of

FEWEST_WORDS = 3
"""Fewer between quotation marks are a name or a term, not a quote."""
BLOCK = re.compile(r"^((?: {0,3}>[^\n]*(?:\n|$))+)", re.MULTILINE)
MARK = re.compile(r"^ {0,3}(?:> ?)+", re.MULTILINE)
EMPTY_LINE = re.compile(r"\n[ \t\r]*\n")
QUOTED = re.compile(
    r"(?<![\w\\])\"(?=\S)((?:[^\"\\]|\\.)+)(?<=\S)\"(?!\w)|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«"
    r"|(?<!\w)‘((?:[^‘’]|’(?=\w))+)’|「([^「」]+)」|『([^『』]+)』",  # noqa: RUF001 - quotation marks
    re.DOTALL,
)
BRACKET = re.compile(r"\s*[.,;:]?\s*(?:\(([^()\n]*(?:\n[^()\n]+)?)\)|\[([^\[\]\n]*)\])")
"""Behind a quote: where it stands, as a rule."""
NAMES_PLACE = re.compile(r"\w\.[a-z]{2,4}\b|\b(?:pp?\.|pages?|slides?|sheets?)\s", re.IGNORECASE)
SOURCE = re.compile(r"[\s,.]*(?:[\u2013\u2014]|--|(?:on|in|at|from|see|page|slide|p\.)\b)([^\n;]*)", re.IGNORECASE)
"""Behind a quote without a bracket: only what begins so is about it, and not about what comes next."""
SIGNED = re.compile(r"\n\s*((?:[\u2013\u2014]|--|[(\[])[^\n]*)\s*$")
"""The last line of a block quote that names its source."""
NUMBERED = re.compile(r"^[ \t]*(?:#+[ \t]+)?(?:[-*+][ \t]+)?\(?\d{1,3}[.)][ \t]+", re.MULTILINE)
HEADING = re.compile(r"^#+[ \t]+([^\n]*)$", re.MULTILINE)
ITEM = re.compile(r"^(?:[-*+\u2022]\s+)+")
REFERENCE = re.compile(r"\[\^?\d{1,3}(?:\s*[,\u2013-]\s*\d{1,3})*\]")
PAGE = re.compile(r"\bpp?\.\s*(?=\d)")
"""No end of a sentence."""
ROW = re.compile(r"\n(?=[ \t]*\|)")
HYPHENATED = re.compile(r"(?<=[^\W\d_])-[ \t\r]*\n\s*(?=[^\W\d_])")


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a text gives as another's; `beside` are the texts around it that may name their source, the likeliest first."""

    text: str
    beside: tuple[str, ...]


def split_claims(text: str) -> tuple[list[Quotation], list[str]]:
    """Return the quotes of a text, Markdown's block quotes too, and the sentences in which they are left out, in order."""
    quotes: list[Quotation] = []
    sentences: list[str] = []
    parts = BLOCK.split(unicodedata.normalize("NFC", text.replace("\u00ad", "").replace("\r\n", "\n")))
    for place, part in enumerate(parts):
        is_block = place % 2 == 1
        for paragraph in filter(str.strip, EMPTY_LINE.split(MARK.sub("", part) if is_block else part)):
            if is_block and not QUOTED.match(paragraph.strip()):
                quotes += _block_quotes(paragraph.strip(), before=parts[place - 1], after=parts[place + 1])
            else:
                found = [match for match in QUOTED.finditer(paragraph) if _is_quote(_inside(match))]
                quotes += _quotes_in(paragraph, found)
                sentences += _sentences_around(paragraph, found)
    return quotes, sentences


def without_hyphens(text: str) -> str:
    """Return the text with the words that were cut at the end of a line."""
    return HYPHENATED.sub("", text)


def _block_quotes(paragraph: str, *, before: str, after: str) -> Iterator[Quotation]:
    signed = SIGNED.search(paragraph)
    words = paragraph[: signed.start()] if signed else paragraph
    if _is_quote(words):
        behind = SIGNED.search(f"\n{after.lstrip().partition(chr(10))[0]}")
        beside = (signed[1] if signed else "", behind[1] if behind else "", _last_sentence(before))
        yield Quotation(words, tuple(filter(None, beside)))


def _quotes_in(paragraph: str, found: Sequence[re.Match[str]]) -> Iterator[Quotation]:
    ends = [0, *(match.end() for match in found)]
    starts = [*(match.start() for match in found[1:]), len(paragraph)]
    for match, end_before, next_start in zip(found, ends, starts, strict=False):
        before = BRACKET.sub("", paragraph[end_before : match.start()], count=1) if end_before else paragraph[: match.start()]
        yield Quotation(_inside(match), (*_sources_behind(paragraph[match.end() : next_start]), _last_sentence(before)))


def _inside(match: re.Match[str]) -> str:
    return next(filter(None, match.groups()))


def _is_quote(words: str) -> bool:
    return len(tokens_of(words)) >= FEWEST_WORDS


def _sources_behind(after: str) -> list[str]:
    found = BRACKET.match(after) or SOURCE.match(after)
    return [found[0]] if found else []


def _last_sentence(before: str) -> str:
    return (sentences_of(before[-500:]) or [""])[-1]


def _sentences_around(paragraph: str, found: Sequence[re.Match[str]]) -> Iterator[str]:
    starts = [*(match.start() for match in found), len(paragraph)]
    brackets = [BRACKET.match(paragraph, match.end()) for match in found]
    ends = [
        0,
        *((named if named and NAMES_PLACE.search(named[0]) else one).end() for one, named in zip(found, brackets, strict=True)),
    ]
    left = " \u2026 ".join(paragraph[end:start] for end, start in zip(ends, starts, strict=True))
    plain = PAGE.sub("page ", REFERENCE.sub("", HEADING.sub(r"\1\n\n", NUMBERED.sub("- ", left))))
    for line in ROW.split(plain):
        yield from (" ".join(ITEM.sub("", sentence).split()) for sentence in sentences_of(line))
