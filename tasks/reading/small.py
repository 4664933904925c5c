"""Reading with a small model, or a slow one: one call, with the words that are nearest to the question on all paths.

It is not asked to judge or to put answers together; what a method has it do beside reading is asked in forms as short. What it says
counts where a passage that it was shown says it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from tasks.algorithms.quotes import Coverage, joint_coverage, mark_stems, quote_scores, term_shares
from tasks.algorithms.text.standing import find_words, tokens_of, words_around
from tasks.algorithms.text.words import STOP_WORDS
from tasks.asking.calls import call_book
from tasks.asking.records import PathReading, PathText, Question, Quote, Synthesis, Verdict
from tasks.asking.request import clean
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.prompts.prompt import Piece, cut
from tasks.reading.cited import Quotable, pieces_on, quote_of, quotes_on
from tasks.reading.forms import ShortAnswer
from tasks.reading.model import ModelReader, heed_failures
from tasks.reading.model_answer import agreed_answer, nothing_found

SLOW = "the model is too slow at the moment to be asked in full"
"""A note, with which no answer is kept: it may be faster by the next question."""
DENIALS = frozenset(["no", "not", "never", "neither", "nor", "without", "cannot"])
UNTELLING = STOP_WORDS - {"one", "two", "three"}
"""Words that an answer need not share with its proof."""
YES_OR_NO = re.compile(r"^(?:yes|no)(?:[,.:;!]|$)", re.IGNORECASE)
SIGNED = re.compile(r"[$€£¥]\s?\d[\d.,]*|\d[\d.,]*\s?%")
UNSAID = "the answer of the model does not count: nothing that it was shown says it"


@dataclass(frozen=True, slots=True)
class SmallReader(ModelReader):
    """A chat model in small forms. No gate judges it: asked again, it would answer no better."""

    name: str = "model in small forms"
    judged: bool = False
    short: bool = True

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Have the model answer once; the answer is the reading of the first path that proves it."""
        readings = [PathReading(answer="", quotes=(), present=path.present, path=path) for path in paths]
        if not (pieces := self._pieces(paths)):
            return tuple(readings)
        book, settings = call_book.get(), self.context.settings.reading
        # What a small model does not see may stand there.
        book.unread = True
        if book.over and not book.require_model:
            return tuple(readings)
        near = self._nearest(pieces, paths[0].rarity)
        (value,) = self.context.ask([self._call(question, [piece for piece, _covered in near])])
        heed_failures([value])
        if settings.model.forms == "auto" and not self.context.model.abilities.short and SLOW not in book.notes:
            book.notes.append(SLOW)
        if isinstance(value, ChatError):
            return tuple(readings)
        book.show(sum(len(self._cut(piece)) for piece, _covered in near), of=sum(len(piece.text) for piece, _ in pieces))
        if not (answer := clean(value.root)):
            return tuple(readings)
        speaking = [piece for piece, covered in near if covered >= settings.whole_support]
        if (proof := proof_of(question.text, answer, speaking)) is None:
            book.notes.append(UNSAID)
            book.unproven.append(answer)
            return tuple(readings)
        place = next(place for place, path in enumerate(paths) if proof.piece.node in path.nodes)
        quotes = (quote_of(proof.piece.node, proof.quoted(settings.quote_words), paths[place]),)
        readings[place] = replace(readings[place], answer=answer, quotes=quotes)
        return tuple(readings)

    def keywords(self, _question: str) -> tuple[str, ...]:
        """Ask for none: a small model finds no better ones than the question's own words."""
        return ()

    def _pieces(self, paths: Sequence[PathText]) -> list[tuple[Quotable, Quote]]:
        found: dict[tuple[str, str], tuple[Quotable, Quote]] = {}
        for path in paths:
            on_path = pieces_on(path)
            for piece, quote in zip(on_path, quotes_on(on_path, path), strict=True):
                found.setdefault((quote.node.id, quote.text), (piece, quote))
        return list(found.values())

    def _nearest(self, pieces: Sequence[tuple[Quotable, Quote]], rarity: Mapping[str, float]) -> list[tuple[Quotable, float]]:
        """Return the sentences and rows that hold most of the question, as many as there is room for, in the order of the paths.

        Each comes with the share of the question's words, by rarity, in it and beside it, 0..1.
        """
        settings = self.context.settings.reading
        quotes = [quote for _, quote in pieces]
        coverage = Coverage(
            mark_stems(list(rarity), [quote.covered for quote in quotes]),
            mark_stems(list(rarity), [quote.beside for quote in quotes]),
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
            length = len(pieces[place][0].text)
            if length <= room or not kept:
                kept.add(place)
                room -= length
        return [
            (pieces[place][0], joint_coverage(coverage=coverage, chosen=[place], beside_share=settings.beside_share))
            for place in sorted(kept)
        ]

    def _cut(self, piece: Quotable) -> str:
        return cut(piece.text, self.context.settings.reading.model.small_characters)

    def _call(self, question: Question, pieces: Sequence[Quotable]) -> ChatCall[ShortAnswer]:
        return self.context.call(
            "worker_small",
            "the answer",
            ShortAnswer,
            question=question.text,
            pieces=[Piece("passages", "\n".join(map(self._cut, pieces)))],
            plain=True,
            draft="answer",
        )

    def one_answer(self, question: Question, readings: Sequence[PathReading], _verdict: Verdict | None) -> Synthesis:
        given = agreed_answer(readings)
        if given is None:
            return nothing_found(question, readings, "a small model gave no answer that its passages prove")
        return replace(given, why="a small model read the words that are nearest to the question")


@dataclass(frozen=True, slots=True)
class Proof:
    """The piece that says an answer, and from where to where."""

    piece: Quotable
    start: int
    end: int

    def quoted(self, most_words: int) -> str:
        """Return the words that are shown, with the answer among them; a row stays whole, so that it can be found."""
        whole = self.piece.row is not None
        return self.piece.text if whole else words_around(self.piece.text, start=self.start, end=self.end, most_words=most_words)


def proof_of(question: str, answer: str, pieces: Sequence[Quotable]) -> Proof | None:
    """Return the first piece that says all that an answer adds to the question; None where none does, or nothing is added.

    A piece that denies proves no answer that does not, nor the other way round, and a number stands with its unit in both.
    """
    said, asked = tokens_of(YES_OR_NO.sub("", answer)), frozenset(tokens_of(question))
    added = [word for word in said if word not in asked | UNTELLING]
    units = [pair for pair in pairwise(said) if pair[0][-1].isdigit() and pair[1].isalpha() and pair[1] in added]
    for piece in pieces if added else ():
        words = tokens_of(piece.text)
        if DENIALS.isdisjoint(said) != DENIALS.isdisjoint(words) or not all(_stand_together(pair, words) for pair in units):
            continue
        if piece.row is None and _signed_numbers(answer) <= _signed_numbers(piece.text):
            found = _run_of(added, words, asked, repeated=(asked - UNTELLING).intersection(said, words))
            span = find_words(piece.text, " ".join(words[found]))
        else:
            span = (0, len(piece.text)) if piece.row is not None and set(added) <= set(words) else None
        if span:
            return Proof(piece, *span)
    return None


def _signed_numbers(text: str) -> set[str]:
    """Return the numbers of a text that have a sign, with it: "5%" is not "5 million", and no pound is a dollar."""
    return {re.sub(r"\s|[.,]+(?=%?$)", "", number) for number in SIGNED.findall(text)}


def _stand_together(pair: tuple[str, str], words: Sequence[str]) -> bool:
    return any(set(pair) == set(other) for other in pairwise(words))


def _run_of(added: list[str], words: Sequence[str], asked: AbstractSet[str], repeated: AbstractSet[str]) -> slice:
    """Return where the added words follow each other, empty where they do not; only words that add nothing may be between them.

    What the answer repeats of the question stands nearer to them than any other number: with that another thing may be meant.
    """
    telling = [place for place, word in enumerate(words) if word not in asked | UNTELLING]
    numbers = [place for place in telling if words[place][-1].isdigit()]
    for first in range(len(telling) - len(added) + 1):
        places = telling[first : first + len(added)]
        if [words[place] for place in places] == added:
            start = max((place for place in numbers if place < places[0]), default=-1) + 1
            end = min((place for place in numbers if place > places[-1]), default=len(words))
            if repeated <= set(words[start:end]):
                return slice(places[0], places[-1] + 1)
    return slice(0)
