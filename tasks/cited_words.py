"""What a model cites, checked: only what it was shown counts, and only words that stand there."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from storage.records import Passage, TableRow
from tasks.algorithms.standing import find_words
from tasks.algorithms.word_stems import words_of
from tasks.algorithms.words import STOP_WORDS
from tasks.call_book import call_book
from tasks.model_desk import Cited
from tasks.path_reader import PathText, Quote
from tasks.quotable import pieces_of
from tasks.shown_passages import Shown

Rows = Mapping[str, tuple[TableRow, ...]]

MOST_PROOFS = 2
YES_OR_NO = re.compile(r"(?:yes|no)\b", re.IGNORECASE)


def checked_quotes(answer: str, cited: Sequence[Cited], shown: Shown, path: PathText, *, most_words: int) -> tuple[Quote, ...]:
    """Return the citations of an answer that hold as quotes, each once; the call book counts those that do not.

    Words that a model says to see in a picture cannot be looked up: such a citation keeps its place, with the passage's own words,
    and the call book keeps what was said.
    """
    found = [_quote(answer, one, shown, path, most_words) for one in cited]
    call_book.get().left_out += found.count(None)
    return tuple({(quote.node.id, quote.text): quote for quote in found if quote is not None}.values())


def _quote(answer: str, cited: Cited, shown: Shown, path: PathText, most_words: int) -> Quote | None:
    node = shown.nodes.get(cited.passage.strip())
    if node is None or not (_telling(cited.quote) or find_words(cited.quote, answer)):
        return None
    text = standing_text(cited.quote, node, path.rows.get(node.id, ()), answer)
    if text is None and node.id in shown.seen:
        call_book.get().unchecked.add((node.id, cited.quote.strip()))
        text = node.caption or node.picture_text or node.content or node.label
    return None if text is None else quote_of(node, _first_words(text, most_words), path)


def quote_of(node: Passage, text: str, path: PathText) -> Quote:
    return Quote(node, text, text, path.worth[node.id], covered=frozenset(), beside=frozenset(), support=1.0)


def standing_text(words: str, node: Passage, rows: Sequence[TableRow], answer: str) -> str | None:
    """Return the words as they stand in the node, of a table the whole row; None where they do not stand there.

    Of several rows it is the one that holds most of the answer's other words; None where that does not tell which.
    """
    holding = {
        row.text: None
        for row in rows
        if not row.is_header and (find_words(" | ".join(row.cells), words) or find_words(row.text, words))
    }
    if holding:
        return _row_of(_telling(answer) - _telling(words), holding)
    for text in (node.content, node.picture_text, node.caption):
        if span := find_words(text, words):
            return " ".join(text[slice(*span)].split())
    return None


def _row_of(wanted: frozenset[str], rows: Collection[str]) -> str | None:
    """Return the only row, or the one that holds more of the wanted words than any other."""
    held = {row: len(wanted & _telling(row)) for row in rows}
    best = [row for row in rows if held[row] == max(held.values())]
    return best[0] if len(best) == 1 else None


def _telling(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in words_of(text)) - STOP_WORDS


def _first_words(text: str, most: int) -> str:
    """Return at most so many words, but a row whole, so that it can be found."""
    words = text.split()
    return text if len(words) <= most or " | " in text else " ".join(words[:most])


def proofs(answer: str, cited: Sequence[Cited], shown: Shown, path: PathText) -> tuple[Quote, ...]:
    """Return what in the passages that a model cites says the answer in its very words, where none of its quotes stands there."""
    if YES_OR_NO.match(answer):
        return ()
    nodes = {node.id: node for one in cited if (node := shown.nodes.get(one.passage.strip())) is not None}
    return tuple(quote_of(node, text, path) for node, text in _saying(answer, nodes.values(), path))[:MOST_PROOFS]


def _saying(answer: str, nodes: Iterable[Passage], path: PathText) -> Iterator[tuple[Passage, str]]:
    for node in nodes:
        yield from ((node, piece.text) for piece in pieces_of(node, path.rows.get(node.id, ())) if find_words(piece.text, answer))
