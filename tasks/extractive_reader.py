"""Reading without a model: the best sentences, table rows and words of figures on a path, quoted as they stand."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from storage.answer_records import AnswerStatus
from storage.records import Node
from tasks.algorithms.excerpts import excerpt
from tasks.algorithms.expected_answers import AnswerKind, expected_kind, holds_kind
from tasks.algorithms.kept_stems import kept_stems
from tasks.algorithms.question_parts import question_parts
from tasks.algorithms.question_terms import question_terms
from tasks.algorithms.quoting import Coverage, Scores, choose_quotes, cover, joint_coverage, quote_scores, term_shares
from tasks.algorithms.term_counts import count_terms
from tasks.algorithms.told_rows import tell_row
from tasks.algorithms.value_consistency import value_consistency
from tasks.ask_settings import ReadingOutSettings
from tasks.path_reader import PathReading, PathText, Quote, Synthesis
from tasks.question import Question
from tasks.quotable import HEADINGS, Piece, pieces_of

NOT_FOUND = "not found in these documents"
EXTRACTIVE = "the answer is made of quotes: no chat model is configured"


@dataclass(frozen=True, slots=True)
class Part:
    """A thing that the question asks: its words, the kind of its answer, and what each stem of the question weighs for it.

    `own` (m,) weighs the stems of the part alone, `weights` (m,) those of the rest of the question, too: it says of what is asked.
    """

    text: str
    kind: AnswerKind
    own: Scores
    weights: Scores


@dataclass(frozen=True, slots=True)
class PartQuotes:
    """The quotes that answer a part of the question, the best first, and how much of it they cover, 0..1; none supports nothing."""

    part: Part
    quotes: tuple[Quote, ...]
    covered: float


@dataclass(frozen=True, slots=True)
class ExtractiveReader:
    """Quotes instead of answers; it calls no model, and says so."""

    settings: ReadingOutSettings
    name: str = "extractive"

    def read(self, question: Question, path: PathText) -> PathReading:
        """Quote the best pieces of the path for each part of the question that they hold enough of."""
        pieces = [piece for node in path.nodes for piece in pieces_of(node, path.rows.get(node.id, ()))]
        found = self._answers(question, quotes_of(pieces, path), path.rarity)
        rows = {(piece.node.id, piece.text): piece for piece in pieces}
        quotes = [self._cut(quote, rows[quote.node.id, quote.text], path.rarity) for quote in in_order(found, len(pieces))]
        return PathReading(answer=" ".join(quote.told for quote in quotes), quotes=tuple(quotes), said=path.said)

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
        """Put the quotes together that answer the parts of the question, the best first; say what part has none."""
        found = {(quote.node.id, quote.text): quote for reading in readings for quote in reading.quotes}
        unnamed = lost_names(question, readings)
        answers = self._answers(question, list(found.values()), rarity)
        best = in_order(answers, self.settings.quotes)
        if unnamed or not best:
            return not_found(len(readings), unnamed)
        open_parts = [answer.part.text for answer in answers if not answer.quotes]
        agreement = self.consistency(question, readings)
        covered = sum(answer.covered for answer in answers if answer.quotes) / len(answers)
        supporting = sum(reading.supported for reading in readings)
        why = (
            f"the quotes hold {covered:.0%} of what the question's words weigh, {supporting} of {len(readings)} passages support it"
        )
        return Synthesis(
            answer="\n".join(f"{quote.told} [{number}]" for number, quote in enumerate(best, 1)),
            status=AnswerStatus.PARTIAL if open_parts else AnswerStatus.ANSWERED,
            quotes=tuple(best),
            sureness=covered * (0.5 + 0.5 * agreement),
            why=why + (f", their values agree to {agreement:.0%}" if agreement < 1 else ""),
            notes=(*(f'nothing was found for the part "{part}"' for part in open_parts), EXTRACTIVE),
        )

    def _answers(self, question: Question, quotes: Sequence[Quote], rarity: Mapping[str, float]) -> list[PartQuotes]:
        """Return for each part of the question the quotes that answer it."""
        stems = list(rarity)
        inside, beside = (
            np.array([[stem in held for stem in stems] for held in sets], dtype=bool).reshape(len(quotes), len(stems))
            for sets in ([quote.covered for quote in quotes], [quote.beside for quote in quotes])
        )
        bare = np.array([is_bare(quote, stems) for quote in quotes], dtype=bool)
        answers: list[PartQuotes] = []
        for part in parts_of(question, rarity, self.settings.context_share):
            fits = np.array([holds_kind(quote.text, part.kind, question.text) for quote in quotes], dtype=bool)
            coverage = Coverage(inside, beside, part.weights)
            scores = self._scores(coverage, quotes, fits & ~bare)
            chosen = choose_quotes(
                coverage=coverage, scores=scores, limit=self.settings.quotes, least=self.settings.least, gain=self.settings.gain
            )
            # Words gathered from here and there make no answer: the best quote must hold enough by itself.
            covered = joint_coverage(
                coverage=Coverage(inside, beside, part.own), chosen=chosen[:1], beside_share=self.settings.beside_share
            )
            best = [replace(quotes[place], support=float(scores[place])) for place in chosen]
            supported = covered >= self.settings.minimum_support
            answers.append(PartQuotes(part, tuple(best) if supported else (), covered))
        return answers

    def _scores(self, coverage: Coverage, quotes: Sequence[Quote], fits: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> Scores:
        return quote_scores(
            coverage=coverage,
            worths=np.array([quote.worth for quote in quotes], dtype=np.float64),
            fits=fits,
            beside_share=self.settings.beside_share,
            worth_share=self.settings.worth_share,
            misfit=self.settings.misfit,
        )

    def _cut(self, quote: Quote, piece: Piece, weights: Mapping[str, float]) -> Quote:
        """Return a quote in the length that is shown, and as the answer tells it."""
        if piece.row is not None:
            return replace(quote, told=tell_row(piece.text, piece.row.cells, caption=piece.node.caption, weights=weights))
        words = excerpt(piece.text, weights=weights, most_words=self.settings.words)
        return replace(quote, text=words, told=words)


def quotes_of(pieces: Sequence[Piece], path: PathText) -> list[Quote]:
    """Return the pieces as quotes, with the stems of the question in and beside them."""
    stems = list(path.rarity)
    inside, beside = cover(
        pieces=[piece.words for piece in pieces],
        besides=[piece.beside for piece in pieces],
        given=[path.titled.get(piece.node.document_id, frozenset()) for piece in pieces],
        stems=stems,
    )
    return [
        Quote(
            node=piece.node,
            text=piece.text,
            told=piece.text,
            worth=path.worth[piece.node.id],
            covered=frozenset(stem for stem, held in zip(stems, inside[place].tolist(), strict=True) if held),
            beside=frozenset(stem for stem, held in zip(stems, beside[place].tolist(), strict=True) if held),
        )
        for place, piece in enumerate(pieces)
    ]


def parts_of(question: Question, rarity: Mapping[str, float], context_share: float) -> Iterator[Part]:
    """Yield the parts of the question; one that has no words of its own is none."""
    texts = question_parts(question.text)
    for text in texts if len(texts) > 1 else (question.text,):
        own = set(question_terms(text).stems) & rarity.keys()
        # A name says of whom the question speaks, not what it asks.
        asked = own - set(question.terms.anchors) or own
        if own:
            alone = [weight if stem in asked else 0.0 for stem, weight in rarity.items()]
            rest = [weight if stem in own else context_share * weight for stem, weight in rarity.items()]
            yield Part(text, expected_kind(text), term_shares(alone), term_shares(rest))


def is_bare(quote: Quote, stems: Sequence[str]) -> bool:
    """Say whether a quote only names something, or only repeats the question."""
    return quote.node.kind in HEADINGS or set(kept_stems(quote.text, named=frozenset())) <= set(stems)


def in_order(answers: Sequence[PartQuotes], limit: int) -> list[Quote]:
    """Return the quotes of all parts, each once: the best of each part, then the others, at most `limit`."""
    best = [quote for answer in answers for quote in answer.quotes[:1]] + [
        quote for answer in answers for quote in answer.quotes[1:]
    ]
    return list({(quote.node.id, quote.text): quote for quote in reversed(best)}.values())[::-1][:limit]


def lost_names(question: Question, readings: Sequence[PathReading]) -> list[str]:
    """Return the names, years and numbers of the question that no document on a path says, as the question writes them."""
    said = {stem for reading in readings for stem in reading.said}
    words = dict(zip(question.terms.stems, question.terms.words, strict=True))
    return list(dict.fromkeys(words[anchor] for anchor in question.terms.anchors if readings and anchor not in said))


def not_found(read: int, unnamed: Sequence[str]) -> Synthesis:
    """Return the answer where nothing supports the question, with the reason."""
    named = ", ".join(f'"{name}"' for name in unnamed)
    return Synthesis(
        answer=NOT_FOUND,
        status=AnswerStatus.NOT_FOUND,
        quotes=(),
        sureness=0.0,
        why=f"the documents say nothing of {named}"
        if unnamed
        else f"none of the {read} passages that were read holds enough of the question's words",
        notes=(EXTRACTIVE,),
    )
