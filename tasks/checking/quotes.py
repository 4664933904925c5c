"""Where a quote stands: in a passage, over several that follow each other, or in parts."""

from bisect import bisect_right
from collections.abc import Collection, Sequence
from itertools import accumulate

from tasks.algorithms.text.claims import without_hyphens
from tasks.algorithms.text.standing import GAP, Words, row_of, tokens_of
from tasks.asking.records import Quote
from tasks.checking.passages import Held, Passages

LEAST_PART = 4
"""Words that stand together: fewer do anywhere."""
LONGEST_PARTED = 2_000
"""Words of a quote whose parts are looked for."""
WORDS_AT_ONCE = 60
"""Words of a long quote that full text is asked for together."""
LOOKED_AROUND = 8
"""Passages that may hold the beginning or the end of a quote."""


def places_of(text: str, passages: Passages) -> list[tuple[Quote, ...]]:
    """Return the places where a quote stands in full, each in one or several pieces."""
    for words in dict.fromkeys(" ".join(each.split()) for each in (text, without_hyphens(text))):
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
    if not (span := Words("".join(contents)).find(words)):
        return ()
    ends = [max(0, end - start) for start in accumulate(map(len, contents), initial=0) for end in span]
    pieces = [content[ends[2 * at] : ends[2 * at + 1]] for at, content in enumerate(contents)]
    return tuple(held.quote(piece) for held, piece in zip(neighbours, pieces, strict=True) if piece.strip())


def parts_of(text: str, passages: Passages) -> tuple[list[Quote], bool]:
    """Return the parts of a quote that stand somewhere, and whether they are all of it."""
    words = text.split()
    asked = [" ".join(words[start : start + WORDS_AT_ONCE]) for start in range(0, min(len(words), LONGEST_PARTED), WORDS_AT_ONCE)]
    runs = Runs({held.node.id: held for some in asked for held in passages.holding(some)}.values())
    parts, is_all = list[Quote](), len(words) <= LONGEST_PARTED
    for tokens in filter(None, map(tokens_of, GAP.split(" ".join(asked)))):
        at, least = 0, min(LEAST_PART, len(tokens))
        while at < len(tokens):
            length = runs.longest(tokens[at:], least)
            parts += [runs.quote(tokens[at : at + length])] if length else []
            is_all &= length > 0
            at += length or 1
    return parts, is_all


class Runs:
    """Runs of words in several passages at once."""

    def __init__(self, held: Collection[Held]) -> None:
        self._texts = [(one, text) for one in held for text, _row in one.texts]
        # no run crosses the sign between two texts
        self._all = "\n".join(text.row for _one, text in self._texts)
        self._starts = list(accumulate((len(text.row) + 1 for _one, text in self._texts), initial=0))

    def longest(self, tokens: Sequence[str], least: int) -> int:
        """Return how many of the first words stand together somewhere, 0 where fewer than `least` do."""
        low, high = 0, len(tokens)
        while low < high:
            middle = max(least, (low + high + 1) // 2)
            if middle <= high and row_of(tokens[:middle]) in self._all:
                low = middle
            else:
                high = middle - 1 if middle > least else 0
        return low

    def quote(self, tokens: Sequence[str]) -> Quote:
        """Return words that stand in one of the texts as a quote."""
        at = self._all.find(row_of(tokens))
        which = bisect_right(self._starts, at) - 1
        held, text = self._texts[which]
        first = text.place(at - self._starts[which])
        return held.quote(text.text[text.spans[first][0] : text.spans[first + len(tokens) - 1][1]])
