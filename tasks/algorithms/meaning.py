"""Which texts say nothing by themselves: reference lists, runs of signs, dotted tables of contents, blank pages' notes."""

from __future__ import annotations

import re

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
"""Texts up to so many visible characters may be mostly signs: "$5", "(-3)"."""


FEWEST_ENTRIES = 3
WORDS_PER_SIGN = 8
"""A list without a title: several entries, and a year or another sign of an entry among so many words on average."""


def is_meaningless_text(*, text: str, title: str, is_prose: bool) -> bool:
    """Say whether a text carries no meaning that a reader could search for.

    Args:
        text: the node's own words.
        title: the title of its section, "" where there is none.
        is_prose: formulas, code, tables and figures are not; signs are their nature, and any letter or digit is meaning.
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
