"""Passages: short neighbours joined, long paragraphs cut at sentence ends, so that a node is about a thought long."""

import itertools
import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import replace

from storage.records.documents import NodeKind
from tasks.algorithms.layout.boxes import BODY_KINDS, Element, count_words, shared_height, shared_width, unite, word_spans

_FRAGMENT_WORDS = 8  # words on a common line that the parser set apart (the cells of a table it did not see)
_SENTENCE_END = re.compile(r"[.!?][\"'”\u2019)\]]*(?=\s)|[。\uff01\uff1f]|\n")
_ABBREVIATION = re.compile(
    r"\b(?:[A-Za-z]|e\.g|i\.e|et al|cf|vs|etc|resp|figs?|tab|eqs?|sec|nos?|vol|pp?|dr|mrs?|ms|prof|st|corp|ltd|inc|co|jr|dept|u\.s)"
    r"\.$",
    re.I,
)
_UNFINISHED = re.compile(r"[\w,(\u2013-]$")


def shape_passages(elements: Sequence[Element], *, merge_words: int, split_words: int) -> list[Element]:
    """Join short neighbouring paragraphs and lists up to `merge_words` words; cut those over `split_words`.

    Neighbours share page, section (nothing stands between them) and column. A joined passage has the box around its parts
    and the serial of its first; the pieces of a cut paragraph keep its whole box, and each later one `continues`.
    """
    serial = max((element.serial for element in elements), default=-1) + 1
    shaped: list[Element] = []
    for group in _group(elements, merge_words=merge_words):
        passage = _merge(group)
        pieces = cut_text(passage.block.text, split_words) if passage.block.kind in BODY_KINDS else [passage.block.text]
        shaped.append(replace(passage, block=replace(passage.block, text=pieces[0])))
        for piece in pieces[1:]:
            shaped.append(replace(passage, serial=serial, block=replace(passage.block, text=piece, continues=True)))
            serial += 1
    return shaped


def cut_text(text: str, most_words: int) -> list[str]:
    """Cut a text at sentence ends into pieces of balanced length, none over `most_words` words; no word is lost.

    Only a sentence that is longer itself is cut between words. A text without words is one piece.
    """
    words = word_spans(text)
    if len(words) <= most_words:
        return [text]
    starts = _find_sentence_starts(text, words)
    pieces: list[str] = []
    begin = 0
    while len(words) - begin > most_words:
        remaining = len(words) - begin
        target = begin + round(remaining / -(-remaining // most_words))
        cut = _choose_cut(starts, begin=begin, target=target, last=begin + most_words)
        pieces.append(text[words[begin][0] : words[cut - 1][1]])
        begin = cut
    return [*pieces, text[words[begin][0] : words[-1][1]]]


def join_texts(first: str, second: str, *, same_line: bool) -> str:
    """Join two texts as they were read: a word cut by a hyphen is made whole, a sentence runs on, else a new line begins."""
    if same_line:
        return f"{first} {second}"
    if first[-1:] == "-" and first[-2:-1].isalpha() and second[:1].islower():
        return first[:-1] + second
    runs_on = _UNFINISHED.search(first) and second[:1].islower()
    return f"{first}{' ' if runs_on else chr(10)}{second}"


def _group(elements: Sequence[Element], *, merge_words: int) -> list[list[Element]]:
    groups: list[list[Element]] = []
    words = 0
    for element in elements:
        more = count_words(element.block.text) if element.block.kind in BODY_KINDS else merge_words
        if groups and words + more <= merge_words and _are_neighbours(groups[-1], element):
            groups[-1].append(element)
            words += more
        else:
            groups.append([element])
            words = more
    return groups


def _are_neighbours(group: Sequence[Element], element: Element) -> bool:
    last = group[-1]
    if element.page != last.page or not {element.block.kind, last.block.kind} <= BODY_KINDS:
        return False
    if _share_line(last, element):
        return True
    # A block that stands higher than the one before it begins another column.
    below = element.block.box[3] > last.block.box[1]
    return below and any(shared_width(part.block.box, element.block.box) > 0 for part in (group[0], last))


def _share_line(first: Element, second: Element) -> bool:
    short = max(count_words(first.block.text), count_words(second.block.text)) <= _FRAGMENT_WORDS
    return short and shared_height(first.block.box, second.block.box) > 0.5


def _merge(group: Sequence[Element]) -> Element:
    first = group[0]
    if len(group) == 1:
        return first
    text = first.block.text.strip()
    for before, after in itertools.pairwise(group):
        text = join_texts(text, after.block.text.strip(), same_line=_share_line(before, after))
    kinds = {element.block.kind for element in group}
    kind = NodeKind.LIST if kinds == {NodeKind.LIST} else NodeKind.PARAGRAPH
    box = unite(element.block.box for element in group)
    return replace(first, block=replace(first.block, kind=kind, text=text, box=box))


def _find_sentence_starts(text: str, words: Sequence[tuple[int, int]]) -> frozenset[int]:
    """Return the indices of the words that begin a sentence or line."""
    ends = [
        match.end()
        for match in _SENTENCE_END.finditer(text)
        if not _ABBREVIATION.search(text[max(0, match.start() - 8) : match.start() + 1])
    ]
    begins = [begin for begin, _ in words]
    return frozenset(bisect_left(begins, end) for end in ends)


def _choose_cut(starts: frozenset[int], *, begin: int, target: int, last: int) -> int:
    """Return the index of the word that begins the next piece: the sentence's start nearest the target, else the target."""
    possible = [cut for cut in range(begin + 1, last + 1) if cut in starts]
    return min(possible, key=lambda cut: (abs(cut - target), cut), default=target)
