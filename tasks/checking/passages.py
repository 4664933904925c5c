"""The passages of an open snapshot in which words may stand, by full text; no vector is needed."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache

import numpy as np

from storage.corpus.snapshot import Snapshot
from storage.graph.adjacency import IntArray
from storage.graph.search import EVERYTHING, find_words, rank_hits
from storage.records.documents import Passage, TableRow
from tasks.algorithms.metrics.numbers import StatedNumber, stated_numbers
from tasks.algorithms.text.standing import Words
from tasks.algorithms.text.stems import stems_in
from tasks.algorithms.text.words import sentences_of
from tasks.asking.records import Quote

SIGNS = frozenset("%\u2030$\u00a3\u20ac\u00a5\u20b9")
"""Of shares and currencies: they are no words, and yet 5 % is not 5, nor $5 the same as £5."""
SIGNS_BEYOND = 3
"""Characters around a number in which its sign stands."""
AS_MANY = 50
"""Passages looked at for a claim; of 282 the right one was never beyond the 16th, of the words of a claim in any order."""


@dataclass(frozen=True)
class Held:
    """A passage with its rows, and the texts in which words are looked for."""

    node: Passage
    rows: Sequence[TableRow] = ()

    @cached_property
    def texts(self) -> list[Words]:
        """A row of a table comes before the whole: it says more of where words stand."""
        rows = [text for row in self.rows for text in (row.text, " | ".join(row.cells))]
        parts = (self.node.content, self.node.picture_text, self.node.caption)
        return [Words(text) for text in dict.fromkeys((*rows, *parts)) if text]

    def find(self, words: str) -> Quote | None:
        """Return the words as they stand in the passage, of a table the row that holds them."""
        wanted = SIGNS.intersection(words)
        for text in self.texts:
            if span := text.find(words):
                start, end = span
                if wanted <= set(text.text[max(0, start - SIGNS_BEYOND) : end + SIGNS_BEYOND]):
                    return self.quote(self._row_of(text.text) or text.text[start:end])
        return None

    def _row_of(self, text: str) -> str:
        return next((row.text for row in self.rows if text in (row.text, " | ".join(row.cells))), "")

    def quote(self, text: str) -> Quote:
        return Quote(self.node, " ".join(text.split()), 0.0, frozenset(), frozenset())

    @cached_property
    def stated(self) -> list[tuple[str, list[StatedNumber], frozenset[str]]]:
        """The sentences and rows that state numbers, with these and their stems."""
        pieces = [row.text for row in self.rows if not row.is_header] or sentences_of(self.node.content)
        pieces += [text for text in (self.node.picture_text, self.node.caption) if text]
        return [(piece, numbers, stems_in(piece)) for piece in dict.fromkeys(pieces) if (numbers := stated_numbers(piece))]

    @cached_property
    def stems_around(self) -> frozenset[str]:
        return stems_in(" ".join((*self.node.section_path, self.node.caption, self.node.content)))


class Passages:
    """Finds passages, and remembers them: claims of one text are about the same ones."""

    def __init__(self, snapshot: Snapshot) -> None:
        self.snapshot, self._held = snapshot, dict[int, Held]()

    def holding(self, words: str, *, in_a_row: bool = False) -> list[Held]:
        """Return the passages that hold the words best, or hold all of them in a row."""
        view = self.snapshot.view
        return self.at(rank_hits(view.adjacency, find_words(view, EVERYTHING, words.split(), limit=AS_MANY, in_a_row=in_a_row)))

    def at(self, positions: IntArray) -> list[Held]:
        """Return the passages at these positions of the graph."""
        if new := [place for place in positions.tolist() if place not in self._held]:
            nodes, rows = self.snapshot.passages_and_rows(self.snapshot.view.adjacency.hex_ids(np.array(new)))
            self._held |= {place: Held(node, rows.get(node.id, ())) for place, node in zip(new, nodes, strict=True)}
        return [self._held[place] for place in positions.tolist()]

    def around(self, held: Held) -> list[Held]:
        """Return the passage between those that stand before and behind it."""
        (position,) = self.snapshot.view.adjacency.positions_of([held.node.id])
        order, ranks = self._reading_order
        near = order[max(0, ranks[position] - 1) : ranks[position] + 2]
        return [one for one in self.at(near) if one.node.document_id == held.node.document_id]

    @cached_property
    def _reading_order(self) -> tuple[IntArray, IntArray]:
        """All positions as they are read, document by document, and the rank of each."""
        adjacency = self.snapshot.view.adjacency
        order = np.lexsort((adjacency.ordinals, adjacency.documents))
        return order, np.argsort(order)
