"""What a text claims of its sources: its quotes, each with what stands beside it, and the sentences outside of them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass

from tasks.algorithms.text.standing import tokens_of
from tasks.algorithms.text.words import sentences_of

FEWEST_WORDS = 3
"""Fewer between quotation marks are a name or a term, not a quote."""
NEAR = 500
"""Characters before a quote in which its place may be named."""
BLOCK = re.compile(r"\n{0,2}^(?: {0,3}>[^\n]*(?:\n|$))+\n{0,2}", re.MULTILINE)
MARK = re.compile(r"^ {0,3}(?:> ?)+", re.MULTILINE)
EMPTY_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*)+")
SIGNED = re.compile(r"\n\s*((?:[\u2013\u2014]|--|[(\[])[^\n]*)$")
"""The last line of a block quote that names its source."""
QUOTED = re.compile(
    r"(?<![\w\\])\"(?=\S)((?:[^\"\\]|\\.)+)(?<=\S)\"(?!\w)|“([^“”]+)”|„([^„“”]+)[“”]|«([^«»]+)»|»([^«»]+)«"
    r"|(?<!\w)‘((?:[^‘’]|’(?=\w))+)’|「([^「」]+)」|『([^『』]+)』",  # noqa: RUF001 - quotation marks
    re.DOTALL,
)
BEHIND = re.compile(
    r"\s*[.,;:]?\s*(?:\([^()]*\)|\[[^\[\]]*\])|[ ,.]*(?:[\u2013\u2014]|--|(?:on|in|at|from|see|page|slide|p\.)\b)[^\n;\"“„«»‘]*",  # noqa: RUF001
    re.IGNORECASE,
)
"""Where a quote stands, as it is named behind it: what begins otherwise may be about what comes next."""
REFERENCE = re.compile(r"\[\^?\d{1,3}(?:\s*[,\u2013-]\s*\d{1,3})*\]")
ITEM = re.compile(r"^[ \t]*(?:(?:#+|[-*+\u2022])[ \t]+)?\(?\d{1,3}[.)](?=[ \t])|^[ \t]*#+|\n(?=[ \t]*\|)", re.MULTILINE)
"""Where an item, a heading or a row begins, with its number."""
INNER_MARKS = str.maketrans("“”", "  ")
PAGES = re.compile(r"\b(pp?\.|pages?|slides?|sheets?)\s*\d+(?:\s*[-\u2013,&]\s*\d+)*", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words that a text gives as another's; `beside` are the texts around it that may name their source, the likeliest first."""

    text: str
    beside: tuple[str, str]


def split_claims(text: str) -> tuple[list[Quotation], list[str]]:
    """Return the quotes of a text, Markdown's block quotes too, and the sentences in which they are left out, in order."""
    quotes, sentences = list[Quotation](), list[str]()
    plain = EMPTY_LINES.sub("\n\n", text.replace("\u00ad", "").replace("\r\n", "\n"))
    for paragraph in BLOCK.sub(lambda block: "".join(_mark_quotes(block[0])), plain).split("\n\n"):
        end, behind_end, left = 0, 0, list[str]()
        for found in QUOTED.finditer(paragraph):
            words = next(filter(None, found.groups()))
            if len(tokens_of(words)) >= FEWEST_WORDS:
                before = sentences_of(paragraph[max(behind_end, found.start() - NEAR) : found.start()])
                behind = BEHIND.match(paragraph, found.end())
                quotes.append(Quotation(words, (behind[0] if behind else "", before[-1] if before else "")))
                left.append(paragraph[end : found.start()])
                end = found.end()
                behind_end = behind.end() if behind else end
        around = " \u2026 ".join([*left, paragraph[end:]])
        for line in ITEM.sub("\n\n", PAGES.sub("page", REFERENCE.sub("", around))).split("\n\n"):
            sentences += [" ".join(sentence.split()) for sentence in sentences_of(line)]
    return quotes, sentences


def _mark_quotes(block: str) -> Iterator[str]:
    """Yield the paragraphs of a block quote between quotation marks, where they have none, and its source in brackets."""
    for paragraph in EMPTY_LINES.split(MARK.sub("", block.strip("\n")).strip()):
        signed = SIGNED.search(paragraph)
        words = paragraph[: signed.start()] if signed else paragraph
        marked = words if QUOTED.match(words) else f"“{words.translate(INNER_MARKS)}”"
        yield f"\n{marked} ({signed[1]})\n" if signed else f"\n{marked}\n"
