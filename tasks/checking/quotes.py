"""Where a quote stands: in a passage, over several that follow each other, or in parts."""

import re
from collections.abc import Iterable, Sequence
from itertools import accumulate

from tasks.algorithms.text.standing import GAP, Words, tokens_of
from tasks.asking.records import Quote
from tasks.checking.passages import Held, Passages, find_exactly

LEAST_PART = 4
"""Words that stand together: fewer do anywhere."""
LONGEST_PARTED = 2_000
"""Words of a quote whose parts are looked for."""
WORDS_AT_ONCE = 60
"""Words of a long quote that full text is asked for together."""
LOOKED_AROUND = 5
"""Passages that may hold the beginning or the end of a quote."""

HYPHENATED = re.compile(r"(?<=[^\W\d_])-[ \t]*\n\s*(?=[^\W\d_])")
"""A word that was cut at the end of a line."""


def places_of(text: str, passages: Passages) -> Sequence[tuple[Quote, ...]]:
    """Return the places where a quote stands in full, each in one or several pieces."""
    for words in dict.fromkeys(" ".join(each.split()) for each in (text, HYPHENATED.sub("", text))):
        for in_a_row in (True, False):
            near = passages.holding(words, in_a_row=in_a_row)
            if found := [(quote,) for held in near if (quote := held.find(words))]:
                return found
        if over := list(filter(None, (_run_over(words, passages.around(held)) for held in near[:LOOKED_AROUND])))[:1]:
            return over
    return []


def _run_over(words: str, neighbours: Sequence[Held]) -> tuple[Quote, ...]:
    """Return the pieces of a quote that begins in one of these passages and goes on in the next."""
    contents = [f"{held.node.content}\n" for held in neighbours]
    if not (span := find_exactly(words, Words("".join(contents)))):
        return ()
    ends = [max(0, end - start) for start in accumulate(map(len, contents), initial=0) for end in span]
    pieces = [content[ends[2 * at] : ends[2 * at + 1]] for at, content in enumerate(contents)]
    return tuple(held.quote(piece) for held, piece in zip(neighbours, pieces, strict=True) if piece.strip())


def parts_of(text: str, passages: Passages) -> tuple[list[Quote], bool]:
    """Return the parts of a quote that stand somewhere, and whether they are all of it."""
    words = text.split()
    asked = [" ".join(words[start : start + WORDS_AT_ONCE]) for start in range(0, min(len(words), LONGEST_PARTED), WORDS_AT_ONCE)]
    near = {held.node.id: held for some in asked for held in passages.holding(some)}.values()
    parts, is_all = list[Quote](), len(words) <= LONGEST_PARTED
    for tokens in filter(None, map(tokens_of, GAP.split(" ".join(asked)))):
        at, least = 0, min(LEAST_PART, len(tokens))
        while at < len(tokens):
            quote, length = _longest_run(tokens[at:], near, least)
            parts += [quote] if quote else []
            is_all &= quote is not None
            at += length
    return parts, is_all


def _longest_run(tokens: Sequence[str], near: Iterable[Held], least: int) -> tuple[Quote | None, int]:
    """Return the first words, at least `least`, as far as they stand together in a passage, and how many to go on after."""
    best, length = None, least
    for held in near:
        for words, _row in held.texts:
            while length <= len(tokens) and (span := words.find_run(tokens[:length])):
                best, length = (held, words.text[slice(*span)]), length + 1
    return (best[0].quote(best[1]), length - 1) if best else (None, 1)
