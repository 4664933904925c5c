"""Words of passages that may be cited: the pieces that can be quoted, and where the words of a quote stand."""

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

from storage.records.answers import AnswerPart, Support
from storage.records.documents import Modality, Passage, TableRow
from tasks.algorithms.proof.parts import ProofPiece, prove_parts
from tasks.algorithms.text.standing import excerpt, find_words
from tasks.algorithms.text.stems import stems_in, words_of
from tasks.algorithms.text.words import STOP_WORDS, sentences_of
from tasks.asking.calls import call_book
from tasks.asking.question import NAMED_PLACE
from tasks.asking.records import PathText, Quote
from tasks.models.chat.worker import QUOTE_CHARACTERS, Cited
from tasks.reading.evidence import HEADINGS, says_more, stems_around
from tasks.reading.shown import Shown


@dataclass(frozen=True, slots=True)
class Quotable:
    """Something that can be quoted: its text as it stands in the node, and the row that it is, with the lines of heads over it.

    `words` is what counts as its own, the caption of its table or figure included.
    """

    text: str
    words: str
    node: Passage
    row: TableRow | None = None
    heads: tuple[str, ...] = ()

    @property
    def line(self) -> str:
        """How it is read among others: a row by its cells, under the heads of its table."""
        return cells_of(self.row) if self.row else self.text

    def says(self, words: str) -> bool:
        return any(find_words(text, words) for text in (self.text, self.line))


def cells_of(row: TableRow) -> str:
    return " | ".join(row.cells)


def pieces_on(path: PathText) -> list[Quotable]:
    """Return the pieces of a path, in order; reference lists and the like say nothing, and are not quoted."""
    return [piece for node in path.nodes if not node.meaningless for piece in pieces_of(node, path.rows.get(node.id, ()))]


def pieces_of(node: Passage, rows: Sequence[TableRow]) -> Iterator[Quotable]:
    """Yield the pieces of a node in reading order; a node without words has none."""
    if node.modality is Modality.TABLE and rows:
        heads = tuple(cells_of(row) for row in rows if row.is_header)
        yield from (Quotable(row.text, row.text, node, row, heads) for row in rows if not row.is_header)
    elif node.modality is Modality.FIGURE:
        seen = " ".join((node.picture_text or node.content or node.caption).split())
        yield from [Quotable(seen, f"{node.caption} {seen}", node)] if seen else []
    else:
        yield from (Quotable(sentence, sentence, node) for sentence in sentences_of(node.content))


def quotes_on(pieces: Sequence[Quotable], path: PathText) -> list[Quote]:
    """Return each piece as a quote of its full length, with the stems of the question in and beside it."""
    asked = frozenset(path.rarity)
    around = {node.id: asked & stems_around(node, path) for node in path.nodes}
    place = {node.id: {NAMED_PLACE} if node.id in path.named else frozenset() for node in path.nodes}
    quotes: list[Quote] = []
    for piece in pieces:
        covered, beside = asked & (stems_in(piece.words) | place[piece.node.id]), around[piece.node.id]
        quotes.append(Quote(piece.node, piece.text, path.worth[piece.node.id], covered, beside - covered))
    return quotes


def shorten_quote(quote: Quote, piece: Quotable, weights: Mapping[str, float], most_words: int) -> Quote:
    """Return a quote in the length that is shown. A row stays whole, so that it can be found."""
    whole = piece.row is not None
    return quote if whole else replace(quote, text=excerpt(piece.text, weights=weights, most_words=most_words))


def says_nothing_new(quote: Quote, stems: AbstractSet[str]) -> bool:
    """Say whether a quote only names what stands elsewhere, or only repeats the question."""
    if quote.node.kind in HEADINGS:
        return True
    return not says_more(quote.text, stems)


YES_OR_NO = re.compile(r"(?:yes|no)\b", re.IGNORECASE)


def check_quotes(answer: str, cited: Sequence[Cited], shown: Shown, path: PathText, *, most_words: int) -> tuple[Quote, ...]:
    """Return the citations of an answer that hold as quotes, each once; the call book counts those that do not.

    Words that a model says to see in a picture cannot be looked up: such a citation keeps its place, with the passage's own words,
    and the call book keeps those words.
    """
    found = [_quote(answer, one, shown, path, most_words) for one in cited]
    call_book.get().left_out += found.count(None)
    return tuple({(quote.node.id, quote.text): quote for quote in found if quote is not None}.values())


def _quote(answer: str, cited: Cited, shown: Shown, path: PathText, most_words: int) -> Quote | None:
    node, words = shown.nodes.get(cited.passage.strip()), _uncut(cited.quote)
    if node is None or not (telling_words(words) or find_words(words, answer)):
        return None
    text = standing_text(words, node, path.rows.get(node.id, ()), answer)
    if text is None and node.id in shown.seen:
        call_book.get().unchecked.add((node.id, words.strip()))
        text = node.caption or node.picture_text or node.content or node.label
    return None if text is None else quote_of(node, _first_words(text, most_words), path)


def _uncut(quote: str) -> str:
    """Return a quote without the word in which the form's bound cut it."""
    return quote if len(quote) < QUOTE_CHARACTERS else quote.rpartition(" ")[0]


def quote_of(node: Passage, text: str, path: PathText) -> Quote:
    return Quote(node, text, path.worth[node.id], covered=frozenset(), beside=frozenset())


def standing_text(words: str, node: Passage, rows: Sequence[TableRow], answer: str) -> str | None:
    """Return the words as they stand in the node, of a table the whole row; None where they do not stand there.

    Of several rows it is the one that holds most of the answer's other words; None where that leaves several.
    """
    holding = {
        row.text: None for row in rows if not row.is_header and (find_words(cells_of(row), words) or find_words(row.text, words))
    }
    if holding:
        return _row_of(telling_words(answer) - telling_words(words), holding)
    for text in (node.content, node.picture_text, node.caption):
        if span := find_words(text, words):
            return " ".join(text[slice(*span)].split())
    return None


def _row_of(wanted: frozenset[str], rows: Collection[str]) -> str | None:
    """Return the only row, or the one that holds more of the wanted words than any other."""
    held = {row: len(wanted & telling_words(row)) for row in rows}
    best = [row for row in rows if held[row] == max(held.values())]
    return best[0] if len(best) == 1 else None


def telling_words(text: str) -> frozenset[str]:
    return frozenset(word.lower() for word in words_of(text)) - STOP_WORDS


def _first_words(text: str, most: int) -> str:
    """Return at most `most` words, but a whole row, so that it can be found."""
    words = text.split()
    return text if len(words) <= most or " | " in text else " ".join(words[:most])


@dataclass(frozen=True, slots=True)
class Proof:
    """The quotes that prove an answer, none where nothing does, and its parts with their places among these."""

    quotes: tuple[Quote, ...]
    parts: tuple[AnswerPart, ...]

    @property
    def is_whole(self) -> bool:
        return all(part.support is not Support.UNSUPPORTED for part in self.parts)


def proof_piece(quote: Quote, *, cited: bool, about: bool) -> ProofPiece:
    node = quote.node
    heads = " ".join((*node.section_path, node.caption))
    return ProofPiece(quote.text, heads, is_row=" | " in quote.text, cited=cited, about=about)


def proof_of(question: str, answer: str, quotes: Sequence[Quote], pieces: Sequence[ProofPiece], most_words: int) -> Proof:
    """Prove an answer by these quotes, each with its piece; what is long is shown by the words that hold most of the answer."""
    proven = prove_parts(question, answer, pieces)
    places = list(dict.fromkeys(place for part in proven for place in part.pieces))
    wanted = dict.fromkeys(stems_in(answer), 1.0)
    shown = tuple(
        quotes[place]
        if pieces[place].is_row
        else replace(quotes[place], text=excerpt(quotes[place].text, weights=wanted, most_words=most_words))
        for place in places
    )
    parts = tuple(AnswerPart(part.text, part.support, tuple(map(places.index, part.pieces)), part.working) for part in proven)
    return Proof(shown, parts)


def prove_by_citations(
    question: str, answer: str, cited: Sequence[Cited], shown: Shown, path: PathText, *, most_words: int
) -> Proof:
    """Prove an answer by the words that a model quotes, else by the sentences around them, and by what it cites without words.

    What it says to see in a picture proves the parts that no words prove: it is counted as unchecked.
    """
    quotes = check_quotes(answer, cited, shown, path, most_words=most_words)
    proof = proof_of(question, answer, quotes, [proof_piece(quote, cited=True, about=True) for quote in quotes], most_words)
    if not proof.is_whole:
        around = _around(quotes, cited, shown, path)
        pieces = [proof_piece(quote, cited=is_quoted, about=True) for quote, is_quoted in around]
        proof = proof_of(question, answer, [quote for quote, _is_quoted in around], pieces, most_words)
    looked_at = {(node.id, one.quote) for one in cited if (node := shown.nodes.get(one.passage.strip())) is not None}
    unchecked = {node for node, words in looked_at if (node, _uncut(words).strip()) in call_book.get().unchecked}
    seen = [quote for quote in quotes if quote.node.id in unchecked]
    return proof if proof.is_whole or not seen else _proven_by_sight(proof, seen[0])


def _around(quotes: Sequence[Quote], cited: Sequence[Cited], shown: Shown, path: PathText) -> list[tuple[Quote, bool]]:
    """Return the sentences and rows of the passages that are cited, and whether one is quoted: those first."""
    nodes = {node.id: node for one in cited if (node := shown.nodes.get(one.passage.strip())) is not None}
    pieces = [quote_of(node, piece.text, path) for node in nodes.values() for piece in pieces_of(node, path.rows.get(node.id, ()))]
    words = {node: [quote.text for quote in quotes if quote.node.id == node] for node in nodes}
    found = [(piece, any(find_words(piece.text, text) for text in words[piece.node.id])) for piece in pieces]
    return sorted(found, key=lambda one: not one[1])


def _proven_by_sight(proof: Proof, seen: Quote) -> Proof:
    quotes = (*proof.quotes, seen)
    parts = tuple(
        replace(part, support=Support.QUOTED, citations=(len(proof.quotes),)) if part.support is Support.UNSUPPORTED else part
        for part in proof.parts
    )
    return Proof(quotes, parts)
