"""What of a path can be quoted: the rows of its tables, the words in its figures, the sentences of its texts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from storage.records import Modality, NodeKind, Passage, TableRow
from tasks.algorithms.kept import parts_of, says_something
from tasks.algorithms.quotes import tell_row
from tasks.algorithms.standing import excerpt
from tasks.algorithms.word_stems import stems_in, words_in_chunk
from tasks.algorithms.words import sentences_of
from tasks.path_reader import PathText, Quote
from tasks.question import NAMED_PLACE

HEADINGS = frozenset({NodeKind.TITLE, NodeKind.CAPTION, NodeKind.HEADER, NodeKind.FOOTER, NodeKind.PAGE_NUMBER})
"""Kinds that name what is said elsewhere."""


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that can be quoted: its text as it stands in the node, and the row that it is.

    `words` is what counts as its own, the caption of its table or figure included.
    """

    text: str
    words: str
    node: Passage
    row: TableRow | None = None


def pieces_on(path: PathText) -> list[Piece]:
    """Return the pieces of a path, in order; reference lists and the like say nothing, and are not quoted."""
    return [piece for node in path.nodes if not node.meaningless for piece in pieces_of(node, path.rows.get(node.id, ()))]


def pieces_of(node: Passage, rows: Sequence[TableRow]) -> Iterator[Piece]:
    """Yield the pieces of a node in reading order; a node without words has none."""
    if node.modality is Modality.TABLE and rows:
        yield from (Piece(row.text, row.text, node, row) for row in rows if not row.is_header)
    elif node.modality is Modality.FIGURE:
        seen = " ".join((node.picture_text or node.content or node.caption).split())
        yield from [Piece(seen, f"{node.caption} {seen}", node)] if seen else []
    else:
        yield from (Piece(sentence, sentence, node) for sentence in sentences_of(node.content))


def quotes_on(pieces: Sequence[Piece], path: PathText) -> list[Quote]:
    """Return each piece as a quote of its full length, with the stems of the question in and beside it."""
    asked = frozenset(path.rarity)
    around = {node.id: asked & stems_around(node, path) for node in path.nodes}
    place = {node.id: {NAMED_PLACE} if node.id in path.named else frozenset() for node in path.nodes}
    quotes: list[Quote] = []
    for piece in pieces:
        covered, beside = asked & (stems_in(piece.words) | place[piece.node.id]), around[piece.node.id]
        quotes.append(Quote(piece.node, piece.text, piece.text, path.worth[piece.node.id], covered, beside - covered))
    return quotes


def stems_around(node: Passage, path: PathText) -> frozenset[str]:
    """Return the stems of the headings over a node and of its caption, and the names that its document is about."""
    return stems_in(" ".join((*node.section_path, node.caption))) | path.titled.get(node.document_id, frozenset())


def shortened(quote: Quote, piece: Piece, weights: Mapping[str, float], most_words: int) -> Quote:
    """Return a quote in the length that is shown, and as the answer tells it. A row stays whole, so that it can be found."""
    if piece.row is not None:
        return replace(quote, told=tell_row(piece.text, piece.row.cells, caption=piece.node.caption, weights=weights))
    words = excerpt(piece.text, weights=weights, most_words=most_words)
    is_figure = piece.node.modality is Modality.FIGURE and piece.node.caption not in words
    return replace(quote, text=words, told=f"{piece.node.caption}: {words}" if is_figure else words)


def says_nothing_new(quote: Quote, stems: AbstractSet[str]) -> bool:
    """Say whether a quote only names what is said elsewhere, or only repeats the question."""
    if quote.node.kind in HEADINGS:
        return True
    # Most quotes have a new word at once.
    return not any(
        says_something(word) and not stems >= set(parts_of(word)) for chunk in quote.text.split() for word in words_in_chunk(chunk)
    )
