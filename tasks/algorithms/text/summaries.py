"""Which texts say nothing by themselves, and the sentences that stand best for a text."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from math import sqrt

from tasks.algorithms.text.words import STOP_WORDS, count_words, first_words, tokens_of

BLANK_NOTE = re.compile(
    r"\W*(?:this\s+)?(?:page|side)\s+(?:is\s+|has\s+been\s+|was\s+)?(?:intentionally\s+)?(?:left\s+)?blank\W*", re.IGNORECASE
)
DOT_LEADER = re.compile(r"(?:[.\u00b7\u2026_]\s?){5,}")
LED_PAGE = re.compile(r"(?:[.\u00b7\u2026_]\s?){5,}\s*(\d{1,4})(?![\d,.%])")
REFERENCE_TITLE = re.compile(
    r"[\W\d]*(?:references?(?:\s+cited)?|bibliography|works\s+cited|literature(?:\s+cited)?|bibliographie|références|literatur(?:verzeichnis)?"
    r"|referencias|bibliografía|bibliografia|参考文献)\W*",
    re.IGNORECASE,
)
UNREADABLE = re.compile(r"[\W_]+")
YEAR = re.compile(r"\b(?:19|20)\d\d[a-z]?\b")
ENTRY_START = re.compile(r"(?:^|\n)\s*(?:[-•*]\s*)?\[\w{1,12}\]\s+\S")
ENTRY_SIGN = re.compile(
    r"\bdoi\b|\barXiv\b|\bpp?\.\s?\d|\bvol\.|\bProc(?:eedings|\.)|\bJournal\b|\bIn Proc|\bUniversity Press\b|\bISBN\b"
    r"|[A-Z][\w'\u2019-]+,\s(?:[A-Z]\.[\s-]?)+|\b(?:[A-Z]\.\s?)+[A-Z][a-z]+,"
)
MINIMUM_READABLE_SHARE = 0.4
"""Share of letters and digits among the visible characters under which a text of some length is a run of signs."""

LONGEST_EXEMPT = 8
"""Texts of at most this many visible characters may be mostly signs: "$5", "(-3)"."""


FEWEST_ENTRIES = 3
WORDS_PER_SIGN = 8
"""A list without a title: several entries, and on average a year or another sign of an entry in this many words."""


def is_meaningless_text(*, text: str, title: str, is_prose: bool) -> bool:
    """Say whether a text carries no meaning that a reader could search for.

    The title is that of its section, "" where there is none. Formulas, code, tables and figures are no prose: signs are their
    nature, and any letter or digit is meaning.
    """
    bare = DOT_LEADER.sub("", text)
    readable = len(UNREADABLE.sub("", bare))
    if not readable or BLANK_NOTE.fullmatch(text):
        return True
    if not is_prose:
        return False
    visible = len("".join(bare.split()))
    if visible > LONGEST_EXEMPT and readable / visible < MINIMUM_READABLE_SHARE:
        return True
    return is_contents_list(text) or is_reference_list(text=text, title=title)


def is_contents_list(text: str) -> bool:
    """Say whether the text is a table of contents: dots lead to page numbers that never fall, unlike a statement's amounts."""
    leaders = len(DOT_LEADER.findall(text))
    if leaders < FEWEST_ENTRIES:
        return False
    numbers = [int(number) for number in LED_PAGE.findall(text)]
    return len(numbers) >= FEWEST_ENTRIES and 2 * len(numbers) > leaders and numbers == sorted(numbers)


def is_reference_list(*, text: str, title: str) -> bool:
    """Say whether the text is part of a bibliography: under its title one sign of an entry is enough."""
    if REFERENCE_TITLE.fullmatch(title):
        return any(sign.search(text) for sign in (YEAR, ENTRY_START, ENTRY_SIGN))
    years = len(YEAR.findall(text))
    if years < FEWEST_ENTRIES:
        return False
    signs = len(ENTRY_SIGN.findall(text))
    return signs >= 2 * FEWEST_ENTRIES and (signs + years) * WORDS_PER_SIGN >= len(text.split())


FIRST_SENTENCE = 1.25
"""How much more the first sentence counts: authors open with what a paragraph is about."""

TITLE_WORD = 0.5
"""What a word shared with the titles adds, in multiples of its weight."""


def summarize(*, sentences: Sequence[str], rarity: Mapping[str, float], title_words: Collection[str], words: int) -> str:
    """Return the sentences that represent the text best, in their order, as far as `words` reach.

    A word weighs its count in the text times its rarity in the document; a sentence scores the weights of its distinct words over
    the root of their number, so that neither the shortest nor the longest wins by length.

    A text of at most `words` words comes back whole; the best sentence is cut there if it alone is longer. Rarity is the inverse
    document frequency of lower-case words, 0 for others; title words are lower-case, too, those of the titles above the text.
    """
    if sum(map(count_words, sentences)) <= words:
        return " ".join(" ".join(sentences).split())
    contents = [[word for token in tokens_of(sentence) if (word := token.lower()) not in STOP_WORDS] for sentence in sentences]
    counts = Counter(word for content in contents for word in content)
    weights = {word: rarity.get(word, 0.0) * count * (1 + TITLE_WORD * (word in title_words)) for word, count in counts.items()}
    scores = [_score(frozenset(content), weights) for content in contents]
    scores[0] *= FIRST_SENTENCE
    ranked = sorted(range(len(sentences)), key=lambda place: (-scores[place], place))
    chosen = [ranked[0]]
    left = words - count_words(sentences[ranked[0]])
    for place in ranked[1:]:
        length = count_words(sentences[place])
        if scores[place] > 0 and length <= left:
            chosen.append(place)
            left -= length
    return first_words(" ".join(sentences[place] for place in sorted(chosen)), words)


def _score(content: frozenset[str], weights: Mapping[str, float]) -> float:
    # Sorted: a sum of floats depends on its order, and the order of a set on the process.
    return sum(weights[word] for word in sorted(content)) / sqrt(len(content) or 1)
