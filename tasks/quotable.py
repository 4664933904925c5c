"""What of a node can be quoted: the rows of a table, the words in a figure, the sentences of a text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from storage.records import Modality, Node, NodeKind, TableRow
from tasks.algorithms.words import sentences_of

HEADINGS = frozenset({NodeKind.TITLE, NodeKind.CAPTION, NodeKind.HEADER, NodeKind.FOOTER, NodeKind.PAGE_NUMBER})
"""Kinds that name what is said elsewhere."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that can be quoted: its words as they stand in the node, the row that it is, and what stands beside it.

    `words` is what counts as the piece's own, its table's or figure's caption included.
    """

    text: str
    words: str
    node: Node
    beside: str
    row: TableRow | None = None


def pieces_of(node: Node, rows: Sequence[TableRow]) -> Iterator[Piece]:
    """Yield the pieces of a node in reading order; a node without words has none."""
    beside = " ".join((*node.section_path, node.caption))
    if node.modality is Modality.TABLE and rows:
        yield from (Piece(row.text, row.text, node, beside, row) for row in rows if not row.is_header)
    elif node.modality is Modality.FIGURE:
        seen = " ".join((node.picture_text or node.content or node.caption).split())
        yield from [Piece(seen, f"{node.caption} {seen}", node, beside)] if seen else []
    else:
        yield from (Piece(sentence, sentence, node, beside) for sentence in sentences_of(node.content))
