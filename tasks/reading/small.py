"""Reading with a small model, or a slow one: the nearest words of a few paths, one quote and one short answer of each.

It is not asked to judge, to rate or to put answers together; what it says counts where its words stand in what it was shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from tasks.algorithms.quotes import Coverage, marked, quote_scores, term_shares
from tasks.algorithms.text.standing import find_words
from tasks.asking.calls import call_book
from tasks.asking.records import PathReading, PathText, Question, Synthesis, Verdict
from tasks.asking.request import clean
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.prompts.prompt import Piece as Shown
from tasks.prompts.prompt import cut
from tasks.reading.cited import YES_OR_NO, Piece, pieces_on, quote_of, quotes_on, shortened, telling_words
from tasks.reading.forms import ShortAnswer
from tasks.reading.model import ModelReader, heed_failures
from tasks.reading.model_answer import agreed_answer, equal_share, most_given

NOT_ASKED = "a small model is not asked to put them together"


@dataclass(frozen=True, slots=True)
class SmallReader(ModelReader):
    """A chat model in small forms. No gate judges it: what it is asked once more, it would answer no better."""

    judged: bool = False

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Have the model answer from each of the first few paths; what is on the others it is not shown."""
        few = paths[: self.context.settings.reading.model.small_paths]
        shown = [self._nearest(path) for path in few]
        calls = [self._call(question, number, pieces) for number, pieces in enumerate(shown, 1)]
        values = self.context.ask(calls)
        heed_failures(values)
        # What a small model does not see may stand there.
        call_book.get().unread = True
        read = [
            _reading(question.text, call.item, value, pieces, path, self.context.settings.reading.words)
            for call, value, pieces, path in zip(calls, values, shown, few, strict=True)
        ]
        return (*read, *(_nothing_of(path) for path in paths[len(few) :]))

    def _nearest(self, path: PathText) -> list[Piece]:
        """Return the sentences and rows of the path that hold most of the question, as many as there is room for, in order."""
        settings = self.context.settings.reading
        pieces = pieces_on(path)
        quotes, stems = quotes_on(pieces, path), list(path.rarity)
        scores = quote_scores(
            coverage=Coverage(
                marked(stems, [quote.covered for quote in quotes]),
                marked(stems, [quote.beside for quote in quotes]),
                term_shares(list(path.rarity.values())),
            ),
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
        return [pieces[place] for place in sorted(kept)]

    def _call(self, question: Question, number: int, pieces: Sequence[Piece]) -> ChatCall[ShortAnswer]:
        nodes = {piece.node.id: piece.node for piece in pieces}
        room = self.context.settings.reading.model.small_characters
        shown = [
            Shown(
                f"page {node.page}",
                "\n".join([*node.section_path[-1:], *(cut(piece.text, room) for piece in pieces if piece.node.id == name)]),
            )
            for name, node in nodes.items()
        ]
        item, draft = f"path {number}", "answer" if number == 1 else ""
        return self.context.call("worker_small", item, ShortAnswer, question=question.text, pieces=shown, draft=draft)

    def one_answer(self, question: Question, readings: Sequence[PathReading], _verdict: Verdict | None) -> Synthesis:
        """Give the answer that all agree on, else the one that most of them give, the earliest of several."""
        few = readings[: self.context.settings.reading.model.small_paths]
        given = agreed_answer(few) or most_given(question, few, NOT_ASKED, equal_share(few))
        shown = f"a small model was shown the nearest words of {len(few)} of the {len(readings)} paths"
        return replace(given, notes=(*given.notes, shown))


def _nothing_of(path: PathText) -> PathReading:
    return PathReading(answer="", quotes=(), present=path.present, path=path)


def _reading(
    question: str, item: str, value: ShortAnswer | ChatError, pieces: Sequence[Piece], path: PathText, most_words: int
) -> PathReading:
    nothing = _nothing_of(path)
    if isinstance(value, ChatError) or not (answer := clean(value.answer)):
        return nothing
    proving = proving_pieces(question, answer, value.quote, pieces)
    if not proving:
        book = call_book.get()
        book.notes.append(f"the answer of {item} does not count: nothing that the model was shown says it")
        book.unproven.append(answer)
        return nothing
    quote = quote_of(proving[0].node, proving[0].text, path)
    return replace(nothing, answer=answer, quotes=(shortened(quote, proving[0], path.rarity, most_words),))


def proving_pieces(question: str, answer: str, quote: str, pieces: Sequence[Piece]) -> list[Piece]:
    """Return the pieces that prove a short answer, the quoted first: each holds all that it adds to the question.

    Yes, No, and what the question itself offers add nothing: the quote must stand in the piece.
    """
    quoted = [piece for piece in pieces if find_words(piece.text, quote)]
    added = telling_words(YES_OR_NO.sub("", answer)) - telling_words(question)
    if added:
        return [piece for piece in (*quoted, *pieces) if added <= telling_words(piece.words)]
    return quoted if YES_OR_NO.match(answer) or " or " in question else []
