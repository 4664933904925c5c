"""The passages of an open snapshot in which words may stand, by full text; no vector is needed."""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from storage.corpus.snapshot import Snapshot
from storage.graph.search import EVERYTHING, find_words, rank_hits
from storage.records.documents import Passage, TableRow
from tasks.algorithms.text.standing import Words
from tasks.asking.records import Quote

SIGNS = frozenset("%\u2030$\u00a3\u20ac\u00a5\u20b9")
"""Of shares and currencies: they are no words, and yet $5 is not the same as £5."""
SIGNS_BEYOND = 3
"""Characters around a number in which its sign stands."""
AS_MANY = 50
"""Passages looked at for a claim; of 282 the right one was never beyond the 16th."""


@dataclass(frozen=True)
class Held:
    """A passage with its rows."""

    node: Passage
    rows: Sequence[TableRow]

    @cached_property
    def texts(self) -> list[tuple[Words, str]]:
        """The texts in which words are looked for, each with the row that is quoted in its place, if it is one."""
        rows = [(Words(text), row.text) for row in self.rows for text in (row.text, " | ".join(row.cells))]
        return [*rows, *((Words(text), "") for text in (self.node.content, self.node.picture_text, self.node.caption))]

    def find(self, words: str) -> Quote | None:
        """Return the words as they stand in the passage, of a table the row that holds them."""
        for text, row in self.texts:
            if span := find_exactly(words, text):
                return self.quote(row or text.text[slice(*span)])
        return None

    def quote(self, text: str) -> Quote:
        return Quote(self.node, " ".join(text.split()), 0.0, frozenset(), frozenset())


def find_exactly(words: str, text: Words) -> tuple[int, int] | None:
    """Return where words stand in a text with their signs."""
    start, end = text.find(words) or (0, 0)
    inside, around = text.text[start:end], text.text[max(0, start - SIGNS_BEYOND) : end + SIGNS_BEYOND]
    return (start, end) if end and SIGNS.intersection(inside) <= SIGNS.intersection(words) <= set(around) else None


class Passages:
    """Finds passages, and remembers them: the claims of a text are about the same ones."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self._adjacency = snapshot, snapshot.view.adjacency
        self._held, self._found = dict[str, Held](), dict[tuple[str, bool], list[Held]]()

    def holding(self, words: str, *, in_a_row: bool = False) -> list[Held]:
        """Return the passages that hold the words best, or those that hold all of them in a row."""
        key = words, in_a_row
        if key not in self._found:
            hits = find_words(self.snapshot.view, EVERYTHING, words.split(), limit=AS_MANY, in_a_row=in_a_row)
            self._found[key] = self._fetch(self._adjacency.hex_ids(rank_hits(self._adjacency, hits)))
        return self._found[key]

    def around(self, held: Held) -> list[Held]:
        """Return the passage between the one before and the one behind it in its document."""
        (place,) = self._adjacency.positions_of([held.node.id])
        documents, ordinals = self._adjacency.documents, self._adjacency.ordinals
        near = np.flatnonzero((documents == documents[place]) & (abs(ordinals - ordinals[place]) <= 1))
        return self._fetch(self._adjacency.hex_ids(near[np.argsort(ordinals[near])]))

    def _fetch(self, ids: Sequence[str]) -> list[Held]:
        if new := [name for name in ids if name not in self._held]:
            nodes, rows = self.snapshot.passages_and_rows(new)
            self._held |= {node.id: Held(node, rows.get(node.id, ())) for node in nodes}
        return [self._held[name] for name in ids]
