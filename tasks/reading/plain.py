"""Reading in one call, with a model that is slow, small or weak: the pages that the paths lead to, as much as it has room for.

It is not asked to judge or to put answers together; what a method has it do beside reading is asked in forms as short. What it says
is proven, part by part, by what it was shown. A very small model is shown the nearest words alone, and replies with a string.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from storage.corpus.snapshot import Snapshot
from storage.records.documents import PageKey
from tasks.algorithms.quotes import Coverage, joint_coverage, mark_stems, quote_scores, term_shares
from tasks.asking.calls import call_book
from tasks.asking.records import PathReading, PathText, Question, Quote, Synthesis, Verdict
from tasks.asking.request import clean
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatError
from tasks.prompts.prompt import Piece, cut
from tasks.reading.cited import Proof, Quotable, pieces_of, proof_of, proof_piece, quotes_on, telling_words
from tasks.reading.forms import PlainAnswer, ShortAnswer, why_wrong
from tasks.reading.model import ModelReader, heed_failures
from tasks.reading.model_answer import agreed_answer, nothing_found

SLOW = "the model is too slow at the moment to be asked in full"
"""A note, with which no answer is kept: it may be faster by the next question."""
BEFORE_AN_ANSWER = " ,;:"
"""What weak models set at the beginning of a string."""
ABOUT_SHARE = 0.7
"""Share of the question, by its words' rarity, that what proves an answer speaks of: all that the model quotes together, or a
sentence or row by itself.

From half on, as where rules quote, more wrong answers were proven than right ones: in six runs of two models on the forty questions
of tests/corpus this share keeps 36 of 37 proofs of right answers by what was not quoted, and 22 of 53 of wrong ones. While quotes
of 0.5B and 1.5B on those and on sixty others proved whatever they held, 29 right and 29 wrong answers were proven, now 28 and 15.
A quote in other words than the question's ("deep" for "depth") proves nothing.
"""
FIRST_WORDS_SECONDS = 12.0
"""What reading may take: people wait for the first words."""


@dataclass(frozen=True, slots=True)
class Near:
    """A sentence or a row of the pages, how well it fits the question, and the share of the question in it and beside it, 0..1."""

    piece: Quotable
    quote: Quote
    score: float
    covered: float

    @property
    def is_about(self) -> bool:
        return self.covered >= ABOUT_SHARE


@dataclass(frozen=True, slots=True)
class PlainReader(ModelReader):
    """A chat model that is asked once. No gate judges it: asked again, it would answer no better."""

    name: str = "model in plain form"
    judged: bool = False
    short: bool = True
    small: bool = False

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Have the model answer once; the answer is the reading of the path that its first proof is on."""
        readings = [PathReading(answer="", quotes=(), present=path.present, path=path) for path in paths]
        pages = list(paths) if self.small else whole_pages(paths, self.context.pictures.snapshot)
        if not (near := self._weigh(pages)):
            return tuple(readings)
        book, settings = call_book.get(), self.context.settings.reading
        # What a model does not see in one look may stand there.
        book.unread = True
        if book.over and not book.require_model:
            return tuple(readings)
        lengths = [len(one.piece.text if self.small else one.piece.line) for one in near]
        shown = choose_near(near, lengths, self._room(question), whole=not self.small)
        call = self._call(question, self._material(shown))
        (value,) = self.context.ask([call])
        heed_failures([value])
        can = self.context.model.abilities
        if settings.model.forms == "auto" and can.skill == "full" and not can.short and SLOW not in book.notes:
            book.notes.append(SLOW)
        if isinstance(value, ChatError):
            return tuple(readings)
        book.show(sum(len(one.piece.text) for one in shown), of=sum(len(one.piece.text) for one in near))
        answer, quoted = (value.answer, value.quotes) if isinstance(value, PlainAnswer) else (value.root, ())
        answer = clean(answer).lstrip(BEFORE_AN_ANSWER)
        if not answer:
            return tuple(readings)
        proof = self._proof(question, answer, quoted, shown, pages[0].rarity)
        if not proof.quotes:
            book.unproven.append(answer)
            return tuple(readings)
        place = next((place for place, path in enumerate(paths) if proof.quotes[0].node in path.nodes), 0)
        readings[place] = replace(readings[place], answer=answer, quotes=proof.quotes, parts=proof.parts)
        return tuple(readings)

    def keywords(self, _question: str) -> tuple[str, ...]:
        """Ask for none: a small model finds no better ones than the question's own words, and a slow one has no time."""
        return ()

    def one_answer(self, question: Question, readings: Sequence[PathReading], _verdict: Verdict | None) -> Synthesis:
        given = agreed_answer(readings)
        if given is None:
            return nothing_found(question, readings, "the model gave no answer that what it was shown proves")
        return replace(given, why="the model read the pages once")

    def _room(self, question: Question) -> int:
        """Return how many characters the model reads: within its context, and before somebody waits too long."""
        settings, rate = self.context.settings.reading.model, self.context.model.abilities.read_per_second
        if self.small:
            return settings.small_characters
        most = settings.plain_characters
        if rate:
            most = min(most, int(FIRST_WORDS_SECONDS * rate * self.context.settings.models.estimates.characters_per_token))
        return self.context.room("worker_plain", PlainAnswer, max(most, settings.small_characters), question=question.text)

    def _weigh(self, pages: Sequence[PathText]) -> list[Near]:
        """Return the sentences and rows of the pages in their order, each once."""
        found: dict[tuple[str, str], tuple[Quotable, Quote]] = {}
        for page in pages:
            on_page = [
                piece for node in page.nodes if not node.meaningless for piece in pieces_of(node, page.rows.get(node.id, ()))
            ]
            for piece, quote in zip(on_page, quotes_on(on_page, page), strict=True):
                found.setdefault((quote.node.id, quote.text), (piece, quote))
        return self._scored(list(found.values()), pages[0].rarity) if found else []

    def _scored(self, pieces: Sequence[tuple[Quotable, Quote]], rarity: Mapping[str, float]) -> list[Near]:
        settings, coverage = self.context.settings.reading, coverage_of([quote for _, quote in pieces], rarity)
        scores = quote_scores(
            coverage=coverage,
            worths=np.array([quote.worth for _, quote in pieces], dtype=np.float64),
            fits=np.ones(len(pieces), dtype=bool),
            beside_share=settings.beside_share,
            worth_share=settings.worth_share,
            misfit=settings.misfit,
        )
        covered = [
            joint_coverage(coverage=coverage, chosen=[place], beside_share=settings.beside_share) for place in range(len(pieces))
        ]
        return [Near(*pieces[place], scores[place], covered[place]) for place in range(len(pieces))]

    def _material(self, shown: Sequence[Near]) -> list[Piece]:
        """Return the pieces as a model reads them: by page, each under its document's name, rows under the heads of their table."""
        if self.small:
            most = self.context.settings.reading.model.small_characters
            return [Piece("passages", "\n".join(cut(one.piece.text, most) for one in shown))]
        by_page: dict[PageKey, list[str]] = {}
        tables = set[str]()
        for one in shown:
            node = one.piece.node
            lines = by_page.setdefault(_page_of(one), [f"Document: {self.context.titles[node.document_id]}"])
            lines += [line for line in (*node.section_path[-1:], node.caption) if line and line not in lines]
            lines += one.piece.heads if node.id not in tables else ()
            tables.add(node.id)
            # Two tables may have the same row.
            lines += [one.piece.line] if one.piece.row or one.piece.text not in lines else []
        return [Piece(f"page {page}", "\n".join(lines)) for (_document, page), lines in by_page.items()]

    def _call(self, question: Question, pieces: Sequence[Piece]) -> ChatCall[Any]:
        shown = "\n".join(piece.text for piece in pieces)
        form: type[PlainAnswer | ShortAnswer] = ShortAnswer if self.small else PlainAnswer
        return self.context.call(
            "worker_small" if self.small else "worker_plain",
            "the answer",
            form,
            question=question.text,
            pieces=pieces,
            check=lambda value: why_wrong(value, question.text, shown),
            plain=True,
            draft="answer",
        )

    def _proof(
        self, question: Question, answer: str, quoted: Sequence[str], shown: Sequence[Near], rarity: Mapping[str, float]
    ) -> Proof:
        """Prove an answer by what the model quotes, then by what speaks of what is asked, the nearest first.

        Quotes count where together they speak of it: a number of something else that stands beside it proves nothing.
        """
        cited = [next((one for one in shown if one.piece.says(words)), None) for words in quoted if telling_words(words)]
        standing = {id(one): one for one in cited if one is not None}
        coverage = coverage_of([one.quote for one in standing.values()], rarity)
        beside_share = self.context.settings.reading.beside_share
        if rarity and joint_coverage(coverage=coverage, chosen=range(len(standing)), beside_share=beside_share) < ABOUT_SHARE:
            standing.clear()
        call_book.get().left_out += sum(id(one) not in standing for one in cited)
        near = sorted((one for one in shown if one.is_about and id(one) not in standing), key=lambda one: -one.score)
        proving = [*standing.values(), *near]
        pieces = [proof_piece(one.quote, cited=id(one) in standing, about=one.is_about) for one in proving]
        return proof_of(question.text, answer, [one.quote for one in proving], pieces, self.context.settings.reading.quote_words)


def coverage_of(quotes: Sequence[Quote], rarity: Mapping[str, float]) -> Coverage:
    """Return which words of a question, by their rarity, stand in each quote and beside it."""
    stems = list(rarity)
    return Coverage(
        mark_stems(stems, [quote.covered for quote in quotes]),
        mark_stems(stems, [quote.beside for quote in quotes]),
        term_shares(list(rarity.values())),
    )


def whole_pages(paths: Sequence[PathText], snapshot: Snapshot) -> list[PathText]:
    """Return the pages that the paths lead to with all that stands on them, the one with the best node first."""
    best: dict[PageKey, float] = {}
    for path in paths:
        for node in path.nodes:
            key = (node.document_id, node.page)
            best[key] = max(best.get(key, 0.0), path.worth[node.id])
    worth = {name: value for path in paths for name, value in path.worth.items()}
    pages: list[PathText] = []
    for document, page in sorted(best, key=lambda key: -best[key]):
        nodes, rows = snapshot.passages_and_rows([node.id for node in snapshot.nodes_on(document, page)])
        pages.append(
            replace(
                paths[0],
                nodes=tuple(nodes),
                rows=rows,
                worth={node.id: worth.get(node.id, 0.0) for node in nodes},
                aim=None,
                pages={},
            )
        )
    return pages


def choose_near(near: Sequence[Near], lengths: Sequence[int], room: int, *, whole: bool) -> list[Near]:
    """Return the pieces that fit the question best, as many as there is room for and at least one, in the order of the pages.

    With `whole`, the first page comes before all others where there is room for all of it.
    """
    first = {place for place, one in enumerate(near) if _page_of(one) == _page_of(near[0])}
    kept = first if whole and sum(lengths[place] for place in first) <= room else set[int]()
    room -= sum(lengths[place] for place in kept)
    for place in sorted(set(range(len(near))) - kept, key=lambda place: -near[place].score):
        if lengths[place] <= room or not kept:
            kept.add(place)
            room -= lengths[place]
    return [near[place] for place in sorted(kept)]


def _page_of(one: Near) -> PageKey:
    return one.piece.node.document_id, one.piece.node.page
