"""Evidence worth reading, where no model answers: the sentences, lines and rows that most likely hold the answer, the best first.

They are chosen from all that was read, by a logistic that `evaluate fit` fits; a model has no part in it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass

import numpy as np

from storage.records.documents import Modality, NodeKind, Passage, TableRow
from tasks.algorithms.arrays import BoolArray, FloatArray
from tasks.algorithms.evidence import PieceTexts, choose_runs, spread_features, worth_showing
from tasks.algorithms.probability import Logistic
from tasks.algorithms.questions.kinds import AnswerKind, counts_noun, expected_kind, find_new_values, holds_kind
from tasks.algorithms.text.kept import parts_of, says_something
from tasks.algorithms.text.stems import stems_in, words_in_chunk
from tasks.algorithms.text.summaries import is_meaningless_text
from tasks.algorithms.text.words import sentences_of
from tasks.asking.question import NAMED_PLACE
from tasks.asking.records import PathText, Question, Quote, Recorder

HEADINGS = frozenset({NodeKind.TITLE, NodeKind.CAPTION, NodeKind.HEADER, NodeKind.FOOTER, NodeKind.PAGE_NUMBER})
"""Kinds that name what stands elsewhere."""
LONGEST_RUN = 60
"""Words of a quote of several sentences or lines: of 40 to 80, measured out of fold, none holds the answer first more often."""
LONGEST_PIECE = 80
"""Words; what has more and no end of a sentence is no sentence, and is cut."""
SENTENCE_WORDS = 4
"""Fewer words, a label or a number, may stand in several places and mean something else in each."""
LABEL_WORDS = 12
"""Numbers and the line beside them have at most as many together: out of fold, 20 or more show the answer first less often."""
OWN_SIGN = re.compile(r"[\ue000-\uf8ff]")
"""A sign of a font of its own, as bullets are: elsewhere it is a box."""
A_WORD = re.compile(r"[^\W\d_]{3}")
"""Fewer letters side by side may be a unit, or stand for a thousand."""
CAPTION_WORDS = 12
"""A table's caption of more is not said again with each of its rows."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """A part of the question: its words, and what each stem of the question weighs of it.

    `only_place`: it asks what stands in a place that it names, and nothing else.
    """

    text: str
    shares: Mapping[str, float]
    only_place: bool = False


@dataclass(frozen=True, slots=True)
class Piece:
    """A sentence, a line or a row that may be shown, as it stands in its node; `block` is shared by what it may be shown with."""

    text: str
    node: Passage
    path: PathText
    block: int


@dataclass(frozen=True, slots=True, eq=False)
class Weighed:
    """The pieces of a question with their features (n, 15), for evaluations to fit to."""

    pieces: Sequence[Piece]
    features: FloatArray


recorder: Recorder[Weighed] = Recorder("weighed pieces")


def choose_evidence(
    question: Question,
    parts: Sequence[Wanted],
    paths: Sequence[PathText],
    weights: Logistic,
    *,
    most_words: int,
) -> tuple[Quote, ...]:
    """Return the quotes to show, the best first; none where nothing was read that has words."""
    pieces = list_pieces(paths)
    if not pieces or not parts:
        return ()
    texts = _texts_of(pieces)
    features = [weigh_pieces(question.text, part, pieces, texts) for part in parts]
    recorder.record(Weighed(pieces, features[0]))
    runs = choose_runs(
        held=np.array([worth_showing(one, weights) * _in_place(part, pieces) for one, part in zip(features, parts, strict=True)]),
        words=texts.words,
        blocks=np.array([piece.block for piece in pieces]),
        most_words=most_words,
        longest=LONGEST_RUN,
    )
    asked = frozenset(stem for part in parts for stem in part.shares)
    return tuple(_drop_repeated_heads([_quote(pieces[run.start : run.stop], asked) for run in runs]))


def _drop_repeated_heads(quotes: Sequence[Quote]) -> Iterator[Quote]:
    """Yield the quotes but the headings and captions that stand over an earlier one, and are shown with it."""
    shown: set[str] = set()
    for quote in quotes:
        if quote.node.kind not in HEADINGS or quote.text not in shown:
            yield quote
        shown.update(quote.node.section_path[-1:])
        shown.update({quote.node.caption} if quote.node.caption in quote.text else ())


def _in_place(part: Wanted, pieces: Sequence[Piece]) -> BoolArray:
    """Return which pieces may be shown for a part of the question (n,): of one that asks what stands in a place only what does."""
    named = np.array([piece.node.id in piece.path.named for piece in pieces], dtype=np.bool_)
    return named if part.only_place and named.any() else np.ones(len(pieces), dtype=np.bool_)


def _quote(pieces: Sequence[Piece], asked: frozenset[str]) -> Quote:
    first = pieces[0]
    text = " ".join(piece.text for piece in pieces)
    covered, beside = asked & stems_in(text), asked & stems_around(first.node, first.path)
    return Quote(first.node, text, first.path.worth[first.node.id], covered, beside - covered)


def list_pieces(paths: Sequence[PathText]) -> list[Piece]:
    """Return what may be shown of these paths, in reading order, each node once; reference lists say nothing.

    A sentence that another node says as well, as a picture does where it shows the text, comes once. A row is whole by itself.
    """
    pieces: list[Piece] = []
    said, block = dict[str, str](), 0
    nodes = {node.id: (node, path) for path in reversed(paths) for node in reversed(path.nodes) if not node.meaningless}
    for node, path in reversed(nodes.values()):
        rows = path.rows.get(node.id, ()) if node.modality is Modality.TABLE else ()
        for text in row_texts(node, rows) if rows else lines_of(node):
            alike = " ".join(text.casefold().split())
            if alike.count(" ") < SENTENCE_WORDS or said.setdefault(alike, node.id) == node.id:
                pieces.append(Piece(text, node, path, block))
                block += bool(rows)
            else:
                # What is left out stood between what is not shown together.
                block += 1
        block += 1
    return pieces


def row_texts(node: Passage, rows: Sequence[TableRow]) -> Iterator[str]:
    """Yield the rows of a table with their column heads; a long caption stands above the table, once."""
    caption = " ".join(node.caption.split())
    above = f"{caption} | " if len(caption.split()) > CAPTION_WORDS else ""
    yield from (row.text.removeprefix(above) for row in rows if not row.is_header)


def lines_of(node: Passage) -> Iterator[str]:
    """Yield the sentences and lines of a node; numbers without a word, as charts have them, with the short line beside them."""
    held = ""
    for line in _plain_lines(node):
        joined = f"{held} {line}".lstrip()
        if held and (len(joined.split()) > LABEL_WORDS or (A_WORD.search(held) and A_WORD.search(line))):
            yield held
            held = line
        else:
            held = joined
    if held:
        yield held


def _plain_lines(node: Passage) -> Iterator[str]:
    """Yield the sentences and lines of a node but runs of signs; a figure's are the words in it, or else its caption."""
    text = (node.picture_text or node.content or node.caption) if node.modality is Modality.FIGURE else node.content
    for line in text.splitlines():
        for sentence in sentences_of(line):
            words = OWN_SIGN.sub(" ", sentence).split()
            size = LONGEST_PIECE if len(words) <= LONGEST_PIECE else LONGEST_PIECE // 2
            lines = (" ".join(words[start : start + size]) for start in range(0, len(words), size))
            yield from (line for line in lines if not is_meaningless_text(text=line, title="", is_prose=True))


def _texts_of(pieces: Sequence[Piece]) -> PieceTexts:
    nodes = {name: number for number, name in enumerate(dict.fromkeys(piece.node.id for piece in pieces))}
    pages = {key: number for number, key in enumerate(dict.fromkeys((piece.node.document_id, piece.node.page) for piece in pieces))}
    heads = {piece.node.id: stems_in(" ".join((*piece.node.section_path, piece.node.caption))) for piece in pieces}
    return PieceTexts(
        stems=[stems_in(piece.text) for piece in pieces],
        heads=[heads[piece.node.id] for piece in pieces],
        nodes=np.array([nodes[piece.node.id] for piece in pieces]),
        pages=np.array([pages[piece.node.document_id, piece.node.page] for piece in pieces]),
        worths=np.array([piece.path.worth[piece.node.id] for piece in pieces], dtype=np.float64),
        words=np.array([len(piece.text.split()) for piece in pieces]),
    )


def weigh_pieces(question: str, part: Wanted, pieces: Sequence[Piece], texts: PieceTexts) -> FloatArray:
    """Return the features of the pieces for a part of the question, (n, 15)."""
    kind, known = expected_kind(part.text), stems_in(question)
    # A place that the question names says which page, not what on it.
    words = {stem: share for stem, share in part.shares.items() if stem != NAMED_PLACE}
    whole = sum(words.values()) or 1.0
    numbers = [len(find_new_values(piece.text, AnswerKind.NUMBER, question)) for piece in pieces]
    return spread_features(
        texts,
        shares={stem: share / whole for stem, share in words.items()},
        asks_kind=kind is not AnswerKind.ANY,
        asks_number=kind in {AnswerKind.NUMBER, AnswerKind.PERCENTAGE},
        holds_kind=[holds_kind(piece.text, kind, question) for piece in pieces],
        numbers=numbers,
        says_new=[count > 0 or says_more(piece.text, known) for piece, count in zip(pieces, numbers, strict=True)],
        names_only=[piece.node.kind in HEADINGS for piece in pieces],
        counts=[counts_noun(piece.text, part.text) for piece in pieces],
    )


def says_more(text: str, stems: AbstractSet[str]) -> bool:
    """Say whether a text holds a word that says something and has other stems than these."""
    # Most texts have a new word at once.
    words = (word for chunk in text.split() for word in words_in_chunk(chunk))
    return any(says_something(word) and not stems >= set(parts_of(word)) for word in words)


def stems_around(node: Passage, path: PathText) -> frozenset[str]:
    """Return the stems of the headings over a node and of its caption, and the names that its document is about."""
    return stems_in(" ".join((*node.section_path, node.caption))) | path.titled.get(node.document_id, frozenset())
