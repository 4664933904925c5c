"""Words, sentences, stop words, and whether a text looks English."""

import re
from collections import Counter
from collections.abc import Sequence
from math import log

_WORDS = """
a about above according across after again against all almost along already also although always am among an and another any are
around as at away back be became because become becomes been before began begin behind being below best better between both but
by came can cannot come comes could did do does doing done down due during each either else enough especially etc even ever
every example few first following for found from further gave general generally get gets give given gives go goes going got had
has have having he hence her here hers herself him himself his how however i if in include included includes including indeed
instead into is it its itself just keep kept know known large largely last later least less let like likely long made mainly
make makes making many may me mean means might mine more moreover most mostly much must my myself namely near nearly need needs
neither never new next no none nor not note nothing now of off often on once one only onto or other others otherwise our ours
ourselves out over overall own part particular particularly per perhaps please possible put quite rather really respectively
said same saw say says second see seem seems seen set several shall she should show showed shown shows similar similarly simply
since so some something sometimes still such take taken takes taking than that the their theirs them themselves then there
thereby therefore these they thing things this those though three through throughout thus to together too took toward towards
two under unless until up upon us use used uses using usually various very via want was way ways we well went were what whatever
when where whereas whether which while who whole whom whose why will with within without would yet you your yours yourself don't
doesn't didn't isn't aren't wasn't weren't can't couldn't won't wouldn't it's i'm i've we're we've you're they're that's e.g i.e
et al fig figure figures table tables page pages section chapter vs
"""

STOP_WORDS = frozenset(_WORDS.split())
"""All in lower case."""


# Vowel signs and other marks that Python's \w leaves out; without them Hindi, Thai or pointed Arabic falls to pieces.
_MARKS = "\u0300-\u036f\u0591-\u05c7\u064b-\u065f\u0900-\u0963\u0966-\u0dff\u0e00-\u0eff"
_LETTER = rf"[\w{_MARKS}]"
TOKEN = re.compile(rf"(?:[A-Z]\.){{2,}}|{_LETTER}+(?:[-'\u2019.,&/:](?!s\b){_LETTER}+)*%?|[^\w\s{_MARKS}]|\n\s*\n")
"""A word or number with what joins its parts ("1,234.5", "GPT-4", "R&D", "U.S.") but not the "s" of a genitive, one sign, or an
empty line."""

IDEOGRAPH = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
COUNTED = re.compile(rf"[{IDEOGRAPH}]{{1,2}}|[^\s{IDEOGRAPH}]+")
"""What counts as a word in a length: what stands between spaces, or two ideographs."""

_SENTENCE_END = re.compile(
    r"[.!?\u061f\u0964][\"'\u201d\u2019)\]]*\s+(?![a-z,;)])|[\u3002\uff01\uff1f]|\n\s*\n|\n(?=\s*(?:[-*\u2022\u2023\u25aa\u25cf\u2013]|\d{1,2}[.)])\s)"
)
_ABBREVIATION = re.compile(
    r"(?:\b(?:[A-Z]|al|e\.g|i\.e|cf|vs|approx|etc|Fig|Figs|Eq|Eqs|Sec|Tab|No|Vol|pp|Mr|Mrs|Ms|Dr|Prof|St|Inc|Ltd|Co|Corp))$"
)

MATHEMATICS = re.compile(r"\$\$.+?\$\$|\$[^$\n]*[\\^_{][^$\n]*\$|\\\(.+?\\\)|\\\[.+?\\\]|\\[A-Za-z]+|[{}$\\]", re.DOTALL)
"""LaTeX and its signs; a price such as "$5" loses its sign only."""


def tokens_of(text: str) -> list[str]:
    """Return the words, numbers, signs and empty lines of the text, LaTeX left out."""
    return TOKEN.findall(MATHEMATICS.sub(" ; ", text) if "\\" in text or "$" in text or "{" in text else text)


def sentences_of(text: str) -> list[str]:
    """Cut the text after each sentence, empty line and list item; the parts are stripped and not empty."""
    parts: list[str] = []
    start = 0
    for match in _SENTENCE_END.finditer(text):
        if text[match.start()] == "." and _ABBREVIATION.search(text, max(start, match.start() - 8), match.start()):
            continue
        parts.append(text[start : match.end()].strip())
        start = match.end()
    parts.append(text[start:].strip())
    return [part for part in parts if part]


def count_words(text: str) -> int:
    """Return the length of the text in words; two ideographs count as one."""
    return len(COUNTED.findall(text))


def first_words(text: str, limit: int) -> str:
    """Return the text on one line, cut after `limit` words; a cut is marked by an ellipsis."""
    line = " ".join(text.split())
    for number, match in enumerate(COUNTED.finditer(line)):
        if number == limit:
            return line[: match.start()].rstrip(" ,;:-") + " …"
    return line


def word_rarity(texts: Sequence[frozenset[str]]) -> dict[str, float]:
    """Return the inverse document frequency log(1 + n / df) of each word among n texts, given as sets of words.

    A word that stands in one text only counts as if it stood in two: what a document is about, it says again.
    """
    counts = Counter(word for text in texts for word in text)
    return {word: log(1 + len(texts) / max(count, 2)) for word, count in counts.items()}


_MARKING = """
the of which what who whose when where why how does did many much and with from this that these those
"""
_ENGLISH = frozenset(_MARKING.split())


def looks_english(question: str) -> bool:
    """Say whether the question holds a word that marks English; a few words without grammar ("torque bolts") do not."""
    return not _ENGLISH.isdisjoint(token.casefold() for token in tokens_of(question))
