"""Reading with a small model, or a slow one: one call, with the words that are nearest to the question on all paths.

It is not asked to judge, to rate or to put answers together. What it says counts where a passage that it was shown says it.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tasks.algorithms.quotes import Coverage, joint_coverage, marked, quote_scores, term_shares
from tasks.algorithms.text.standing import find_words, tokens_of
from tasks.algorithms.text.words import STOP_WORDS
from tasks.asking.calls import call_book
from tasks.asking.records import PathReading, PathText, Question, Quote, Synthesis, Verdict
from tasks.asking.request import clean
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.prompts.prompt import Piece as Shown
from tasks.prompts.prompt import cut
from tasks.reading.cited import YES_OR_NO, Piece, pieces_on, quote_of, quotes_on, shortened
from tasks.reading.forms import ShortAnswer
from tasks.reading.model import ModelReader, heed_failures
from tasks.reading.model_answer import agreed_answer, nothing_found

SLOW = "the model is too slow, at the moment, to be asked in full"
"""A note, with which no answer is kept: it may be faster by the next question."""
DENIALS = frozenset(["no", "not", "never", "neither", "nor", "without", "cannot"])
UNSAID = "the answer of the model does not count: nothing that it was shown says it"


@dataclass(frozen=True, slots=True)
class Near:
    """A piece near the question; `covered` 0..1 is the share of the question's words, by rarity, in it and beside it."""

    piece: Piece
    covered: float


@dataclass(frozen=True, slots=True)
class SmallReader(ModelReader):
    """A chat model in small forms. No gate judges it: what it is asked once more, it would answer no better."""

    judged: bool = False

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Have the model answer once; the answer is the reading of the first path that proves it."""
        readings = [PathReading(answer="", quotes=(), present=path.present, path=path) for path in paths]
        near = self._nearest(paths)
        if not near:
            return tuple(readings)
        (value,) = self.context.ask([self._call(question, [one.piece for one in near])])
        heed_failures([value])
        book = call_book.get()
        if self.context.settings.reading.model.forms == "auto" and not self.context.model.abilities.short:
            book.notes.append(SLOW)
        # What a small model does not see may stand there.
        book.unread = True
        if isinstance(value, ChatError) or not (answer := clean(value.root)):
            return tuple(readings)
        speaking = [one.piece for one in near if one.covered >= self.context.settings.reading.whole_support]
        proving = proving_pieces(question.text, answer, speaking)
        if not proving:
            book.notes.append(UNSAID)
            book.unproven.append(answer)
            return tuple(readings)
        piece = proving[0]
        place = next(place for place, path in enumerate(paths) if piece.node in path.nodes)
        quote = quote_of(piece.node, piece.text, paths[place])
        quotes = (shortened(quote, piece, paths[place].rarity, self.context.settings.reading.words),)
        readings[place] = replace(readings[place], answer=answer, quotes=quotes)
        return tuple(readings)

    def _nearest(self, paths: Sequence[PathText]) -> list[Near]:
        """Return the sentences and rows that hold most of the question, as many as there is room for, in the order of the paths."""
        settings = self.context.settings.reading
        found: dict[tuple[str, str], tuple[Piece, Quote]] = {}
        for path in paths:
            on_path = pieces_on(path)
            for piece, quote in zip(on_path, quotes_on(on_path, path), strict=True):
                found.setdefault((quote.node.id, quote.text), (piece, quote))
        pieces, quotes = [piece for piece, _ in found.values()], [quote for _, quote in found.values()]
        rarity = paths[0].rarity if paths else {}
        coverage = Coverage(
            marked(list(rarity), [quote.covered for quote in quotes]),
            marked(list(rarity), [quote.beside for quote in quotes]),
            term_shares(list(rarity.values())),
        )
        scores = quote_scores(
            coverage=coverage,
            worths=np.array([quote.worth for quote in quotes], dtype=np.float64),
            fits=np.ones(len(quotes), dtype=bool),
            beside_share=settings.beside_share,
            worth_share=settings.worth_share,
            misfit=settings.misfit,
        )
        kept, room = set[int](), settings.model.small_characters
        for place in np.argsort(-scores, kind="stable").tolist():
            if len(pieces[place].text) <= room or not kept:
                kept.add(place)
                room -= len(pieces[place].text)
        return [
            Near(pieces[place], joint_coverage(coverage=coverage, chosen=[place], beside_share=settings.beside_share))
            for place in sorted(kept)
        ]

    def _call(self, question: Question, pieces: Sequence[Piece]) -> ChatCall[ShortAnswer]:
        room = self.context.settings.reading.model.small_characters
        text = "\n".join(cut(piece.text, room) for piece in pieces)
        return self.context.call(
            "worker_small",
            "the answer",
            ShortAnswer,
            question=question.text,
            pieces=[Shown("passages", text)],
            plain=True,
            draft="answer",
        )

    def one_answer(self, question: Question, readings: Sequence[PathReading], _verdict: Verdict | None) -> Synthesis:
        given = agreed_answer(readings)
        if given is None:
            return nothing_found(question, readings, "a small model gave no answer that its passages prove")
        return replace(given, why="a small model read the words that are nearest to the question")


def proving_pieces(question: str, answer: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces that prove an answer: each says all that it adds to the question, and it adds something."""
    return [piece for piece in pieces if _says(piece, tokens_of(YES_OR_NO.sub("", answer)), {*tokens_of(question), *STOP_WORDS})]


def _says(piece: Piece, answer: Sequence[str], known: Collection[str]) -> bool:
    """Say whether what is not known of an answer stands in a sentence in its order, or in a row beside the same word.

    A sentence that denies proves no answer that does not, nor the other way round.
    """
    added = [word for word in answer if word not in known]
    if not added or DENIALS.isdisjoint(answer) != DENIALS.isdisjoint(tokens_of(piece.words)):
        return False
    if piece.row is None:
        return find_words(piece.words, "...".join(added)) is not None
    units = [pair for pair in pairwise(answer) if pair[0][-1].isdigit() and pair[1] in added]
    return all(find_words(piece.words, word) for word in added) and all(
        find_words(piece.words, f"{number} {unit}") or find_words(piece.words, f"{unit} {number}") for number, unit in units
    )
