"""Reading without a model: the best sentences, table rows and words of figures on a path, quoted as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storage.answer_records import AnswerStatus
from storage.records import Modality, Node, TableRow
from tasks.algorithms.expected_answers import expected_kind, holds_kind
from tasks.algorithms.question_parts import question_parts
from tasks.algorithms.question_terms import question_terms
from tasks.algorithms.quoting import Coverage, Scores, choose_quotes, cover, joint_coverage, quote_scores
from tasks.algorithms.term_counts import count_terms
from tasks.algorithms.value_consistency import value_consistency
from tasks.algorithms.words import sentences_of
from tasks.ask_settings import ReadingOutSettings
from tasks.path_reader import PathReading, PathText, Quote, Synthesis
from tasks.question import Question

NOT_FOUND = "not found in these documents"
EXTRACTIVE = "the answer is made of quotes: no chat model is configured"


@dataclass(frozen=True, slots=True)
class Piece:
    """Something that can be quoted: its words, the node it stands in, and what stands beside it."""

    text: str
    node: Node
    beside: str


@dataclass(frozen=True, slots=True)
class ExtractiveReader:
    """Quotes instead of answers; it calls no model, and says so."""

    settings: ReadingOutSettings
    name: str = "extractive"

    def read(self, question: Question, path: PathText) -> PathReading:
        """Quote the best pieces of the path, where together they hold enough of what the question asks."""
        pieces = [piece for node in path.nodes for piece in pieces_of(node, path.rows.get(node.id, ()))]
        chosen, coverage, scores = self._choose(question, pieces, path.rarity)
        if (
            not chosen
            or joint_coverage(coverage=coverage, chosen=chosen, beside_share=self.settings.beside_share)
            < self.settings.minimum_support
        ):
            return PathReading(answer="", quotes=())
        quotes = tuple(quote_of(pieces[place], float(scores[place]), coverage, place, list(path.rarity)) for place in chosen)
        return PathReading(answer=" ".join(quote.text for quote in quotes), quotes=quotes)

    def consistency(self, question: Question, readings: Sequence[PathReading]) -> float:
        """Compare the values that the paths quote for the same thing."""
        quotes = [quote for reading in readings for quote in reading.quotes]
        nodes = {quote.node.id: number for number, quote in enumerate(quotes)}
        return value_consistency(
            quotes=[quote.text for quote in quotes],
            sources=[nodes[quote.node.id] for quote in quotes],
            same_subject=self.settings.same_subject,
            tolerance=self.settings.value_tolerance,
            most_pairs=self.settings.compared_pairs,
        )

    def rate_pairs(self, question: Question, pairs: Sequence[tuple[Node, Node]], similarities: Sequence[float]) -> list[float]:
        """Return the cosine of the two passages times the share of the question's terms that they hold together."""
        stems = question.terms.stems
        texts = [f"{first.search_text} {second.search_text}" for first, second in pairs]
        counts, _lengths = count_terms(texts, stems)
        shares = (counts > 0).mean(axis=1) if len(stems) and len(texts) else np.zeros(len(texts))
        return [max(float(similarity), 0.0) * float(share) for similarity, share in zip(similarities, shares, strict=True)]

    def synthesize(self, question: Question, readings: Sequence[PathReading], rarity: Mapping[str, float]) -> Synthesis:
        """Put the quotes together that cover most of the question, the best first; say what part has none."""
        found = {(quote.node.id, quote.text): quote for reading in readings for quote in reading.quotes}
        if not found:
            return Synthesis(
                answer=NOT_FOUND,
                status=AnswerStatus.NOT_FOUND,
                quotes=(),
                sureness=0.0,
                why=f"none of the {len(readings)} passages that were read holds enough of the question's words",
                notes=(EXTRACTIVE,),
            )
        quotes = list(found.values())
        pieces = [Piece(quote.text, quote.node, beside_of(quote.node)) for quote in quotes]
        chosen, coverage, _scores = self._choose(question, pieces, rarity)
        best = [quotes[place] for place in chosen]
        covered = joint_coverage(coverage=coverage, chosen=chosen, beside_share=self.settings.beside_share)
        open_parts = [part for part in question_parts(question.text) if not self._supports(part, best, rarity)]
        supporting = sum(reading.supported for reading in readings)
        agreement = self.consistency(question, [reading for reading in readings if reading.supported])
        why = (
            f"the quotes hold {covered:.0%} of what the question's words weigh, {supporting} of {len(readings)} passages support it"
        )
        why += f", their values agree to {agreement:.0%}" if agreement < 1 else ""
        notes = tuple(f'nothing was found for the part "{part}"' for part in open_parts)
        return Synthesis(
            answer="\n".join(f"{quote.text} [{number}]" for number, quote in enumerate(best, 1)),
            status=AnswerStatus.PARTIAL if open_parts else AnswerStatus.ANSWERED,
            quotes=tuple(best),
            sureness=covered * (0.5 + 0.5 * agreement),
            why=why,
            notes=(*notes, EXTRACTIVE),
        )

    def _choose(
        self, question: Question, pieces: Sequence[Piece], rarity: Mapping[str, float]
    ) -> tuple[list[int], Coverage, Scores]:
        """Return the places of the pieces to quote, what each piece covers, and its score."""
        settings = self.settings
        coverage = cover(pieces=[piece.text for piece in pieces], besides=[piece.beside for piece in pieces], weights=rarity)
        kind = expected_kind(question.text)
        scores = quote_scores(
            coverage=coverage,
            cosines=None,
            fits=np.array([holds_kind(piece.text, kind, question.text) for piece in pieces], dtype=bool),
            beside_share=settings.beside_share,
            cosine_share=0.0,
            misfit=settings.misfit,
        )
        chosen = choose_quotes(
            coverage=coverage, scores=scores, limit=settings.quotes, least=settings.least, redundancy=settings.redundancy
        )
        return chosen, coverage, scores

    def _supports(self, part: str, quotes: Sequence[Quote], rarity: Mapping[str, float]) -> bool:
        """Say whether the quotes hold enough of one part of the question."""
        weights = {stem: rarity.get(stem, 0.0) for stem in question_terms(part).stems}
        held = {stem for quote in quotes for stem in quote.covered}
        total = sum(weights.values())
        return not total or sum(weight for stem, weight in weights.items() if stem in held) / total >= self.settings.minimum_support


def pieces_of(node: Node, rows: Sequence[TableRow]) -> Iterator[Piece]:
    """Yield what of a node can be quoted: the rows of a table, the words of a figure, the sentences of a text."""
    beside = beside_of(node)
    if node.modality is Modality.TABLE and rows:
        yield from (Piece(row.text, node, beside) for row in rows if not row.is_header)
    elif node.modality is Modality.FIGURE:
        words = " ".join(part for part in (node.caption, node.picture_text) if part)
        yield from [Piece(" ".join(words.split()), node, beside)] if words else []
    else:
        yield from (Piece(sentence, node, beside) for sentence in sentences_of(node.content))


def beside_of(node: Node) -> str:
    """Return what stands beside a node's own words: the titles over it, its caption."""
    return " ".join((*node.section_path, node.caption))


def quote_of(piece: Piece, score: float, coverage: Coverage, place: int, stems: Sequence[str]) -> Quote:
    """Return a piece as a quote, with the stems that it and what stands beside it hold."""
    held = coverage.inside[place] | coverage.beside[place]
    covered = frozenset(stem for stem, found in zip(stems, held.tolist(), strict=True) if found)
    return Quote(node=piece.node, text=piece.text, support=score, covered=covered)
