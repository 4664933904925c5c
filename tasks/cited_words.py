"""What a model cites, checked: only what it was shown counts, and only words that stand there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from storage.records import Passage, TableRow
from tasks.algorithms.standing_words import find_words
from tasks.model_forms import Cited
from tasks.path_reader import PathText, Quote
from tasks.quotable import pieces_of
from tasks.shown_passages import Shown

Rows = Mapping[str, tuple[TableRow, ...]]

MOST_PROOFS = 2
_YES_OR_NO = re.compile(r"(?:yes|no)\b", re.IGNORECASE)


def checked_quotes(cited: Sequence[Cited], shown: Shown, path: PathText, *, most_words: int) -> tuple[tuple[Quote, ...], int]:
    """Return the citations that hold as quotes, each once, and how many do not.

    Words that a model says to see in a picture cannot be looked up: such a citation keeps its place, with the passage's own words.
    """
    found = [_quote(one, shown, path, most_words) for one in cited]
    quotes = {(quote.node.id, quote.text): quote for quote in found if quote is not None}
    return tuple(quotes.values()), found.count(None)


def _quote(cited: Cited, shown: Shown, path: PathText, most_words: int) -> Quote | None:
    node = shown.nodes.get(cited.passage.strip())
    if node is None:
        return None
    text = standing_text(cited.quote, node, path.rows.get(node.id, ()))
    if text is None and node.id in shown.seen:
        text = node.caption or node.picture_text or node.content or node.label
    return None if text is None else quote_of(node, _first_words(text, most_words), path)


def quote_of(node: Passage, text: str, path: PathText) -> Quote:
    """Return words of a node as a quote."""
    return Quote(node, text, text, path.worth[node.id], covered=frozenset(), beside=frozenset(), support=1.0)


def standing_text(words: str, node: Passage, rows: Sequence[TableRow]) -> str | None:
    """Return the words as they stand in the node, of a table the whole row; None where they do not stand there."""
    for row in rows:
        if not row.is_header and (find_words(" | ".join(row.cells), words) or find_words(row.text, words)):
            return row.text
    for text in (node.content, node.picture_text, node.caption):
        if span := find_words(text, words):
            return " ".join(text[slice(*span)].split())
    return None


def _first_words(text: str, most: int) -> str:
    """Return at most so many words, but a row whole, so that it can be found."""
    words = text.split()
    return text if len(words) <= most or " | " in text else " ".join(words[:most])


def proofs(answer: str, cited: Sequence[Cited], shown: Shown, path: PathText) -> tuple[Quote, ...]:
    """Return what in the passages that a model cites says the answer in its very words, where none of its quotes stands there."""
    if _YES_OR_NO.match(answer):
        return ()
    nodes = {node.id: node for one in cited if (node := shown.nodes.get(one.passage.strip())) is not None}
    return tuple(quote_of(node, text, path) for node, text in _saying(answer, nodes.values(), path))[:MOST_PROOFS]


def _saying(answer: str, nodes: Iterable[Passage], path: PathText) -> Iterator[tuple[Passage, str]]:
    for node in nodes:
        yield from ((node, piece.text) for piece in pieces_of(node, path.rows.get(node.id, ())) if find_words(piece.text, answer))
