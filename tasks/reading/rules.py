"""Finding evidence without a model: the best sentences, table rows and words of figures on a path, quoted as they stand."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from storage.records.answers import AnswerStatus, Refusal
from storage.records.documents import Passage
from tasks.algorithms.arrays import strongest
from tasks.algorithms.probability import Logistic
from tasks.algorithms.questions.kinds import AnswerKind, expected_kind, holds_kind, question_parts
from tasks.algorithms.questions.places import named_places
from tasks.algorithms.questions.terms import question_terms
from tasks.algorithms.quotes import Coverage, Scores, choose_quotes, joint_coverage, mark_stems, quote_scores, term_shares
from tasks.algorithms.text.kept import says_something
from tasks.algorithms.text.stems import stems_in
from tasks.asking.question import NAMED_PLACE
from tasks.asking.records import Duty, PathReading, PathText, Question, Quote, Synthesis, T, Verdict
from tasks.asking.weights import piece_weights
from tasks.reading.cited import pieces_on, quotes_on, says_nothing_new, shorten_quote
from tasks.reading.evidence import Wanted, choose_evidence
from tasks.settings.ask import ReadingOutSettings


@dataclass(frozen=True, slots=True)
class Part:
    """A thing that the question asks: its words, the kind of its answer, and what the stems of the question weigh for it, (m,).

    `only_place` says that it asks what stands in a place that it names, and nothing else.
    `asked` weighs what the part asks for alone; `all` the names of the whole question as well, and a share of its other words:
    "what did it cost" speaks of what stands before.
    """

    text: str
    kind: AnswerKind
    asked: Scores
    all: Scores
    only_place: bool

    def wanted(self, rarity: Mapping[str, float]) -> Wanted:
        return Wanted(self.text, dict(zip(rarity, self.all.tolist(), strict=True)), self.only_place)


def parts_of(question: Question, rarity: Mapping[str, float], context_share: float) -> Iterator[Part]:
    """Yield the parts of the question; what has no words of its own is no part.

    Args:
        question: as it is understood.
        rarity: what each stem of the question weighs.
        context_share: what the rest of the question counts for a part of it, names aside: they count whole.
    """
    texts = question_parts(question.text)
    for text in texts if len(texts) > 1 else (question.text,):
        own = {*question_terms(text).stems, *([NAMED_PLACE] if named_places(text) else [])} & rarity.keys()
        # A name is the subject of the question, not what it asks.
        names = set(question.terms.anchors)
        asked, known = own - names or own, own | names
        if own:
            yield Part(
                text=text,
                kind=expected_kind(text),
                asked=term_shares([weight if stem in asked else 0.0 for stem, weight in rarity.items()]),
                all=term_shares([weight if stem in known else context_share * weight for stem, weight in rarity.items()]),
                only_place=asked == {NAMED_PLACE},
            )


@dataclass(frozen=True, slots=True)
class PartAnswer:
    """The quotes that answer a part of the question, the best first, none where none supports it.

    `covered` 0..1 is the share of what the part asks for that the best of them holds.
    """

    part: Part
    quotes: tuple[Quote, ...]
    covered: float


@dataclass(frozen=True, slots=True)
class ExtractiveReader:
    """Quotes instead of answers: evidence that no model read, chosen by weights of a user's file or those shipped."""

    settings: ReadingOutSettings
    notes: tuple[str, ...] = ()
    weights: Logistic | None = None
    name: str = "extractive"
    model: str = ""
    judged: bool = False
    short: bool = False
    sees: bool = False

    @property
    def rater(self) -> "ExtractiveReader":
        return self

    def keywords(self, _question: str) -> tuple[str, ...]:
        return ()

    def do(self, _question: Question, duties: Sequence[Duty[T]]) -> list[T | None]:
        return [None] * len(duties)

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Quote the best pieces of each path, one path after the other: threads would only wait for each other."""
        parts = list(parts_of(question, paths[0].rarity, self.settings.context_share)) if paths else []
        return tuple(self._read_one(question, parts, path) for path in paths)

    def _read_one(self, question: Question, parts: Sequence[Part], path: PathText) -> PathReading:
        pieces = pieces_on(path)
        answers = self._answers(question, parts, quotes_on(pieces, path), path.rarity)
        sources = {(piece.node.id, piece.text): piece for piece in pieces}
        quotes = [
            shorten_quote(quote, sources[quote.node.id, quote.text], path.rarity, self.settings.quote_words)
            for quote in in_order(answers)
        ]
        return PathReading(" ".join(quote.text for quote in quotes), tuple(quotes), present=path.present, path=path)

    def consistency(self, _question: Question, _readings: Sequence[PathReading]) -> float:
        """Quotes are evidence, not answers that could contradict each other."""
        return 1.0

    def rate_pairs(
        self, question: Question, pairs: Sequence[tuple[Passage, Passage]], similarities: Sequence[float], *, bridges: bool
    ) -> list[float]:
        """Return the cosine of the two passages times the share of the question's terms that they hold together."""
        stems = question.terms.stems
        held = [stems_in(f"{first.search_text} {second.search_text}") for first, second in pairs]
        shares = mark_stems(stems, held).mean(axis=1) if stems else np.zeros(len(held))
        return [max(float(similarity), 0.0) * float(share) for similarity, share in zip(similarities, shares, strict=True)]

    def synthesize(
        self, question: Question, readings: Sequence[PathReading], rarity: Mapping[str, float], _verdict: Verdict | None
    ) -> Synthesis:
        """Show what most likely holds the answer, the best first; note what nothing was found for.

        Where no passage shares a word with what is asked, nothing is found, and what comes closest is shown.
        """
        unnamed = lost_names(question, readings)
        answers = self.answered_parts(question, readings, rarity)
        shown = choose_evidence(
            question,
            [answer.part.wanted(rarity) for answer in answers] or [Wanted(question.text, {})],
            [reading.path for reading in readings if reading.path is not None],
            self.weights or piece_weights(""),
            most_words=self.settings.words,
        )
        if not any(answer.quotes for answer in answers):
            return not_found(unnamed, shown)
        missing = [silent_about(unnamed)] if unnamed else []
        missing += [f'nothing was found for the part "{answer.part.text}"' for answer in answers if not answer.quotes]
        missing += self._open_words(question, answers, shown, rarity)
        supporting = sum(reading.supported for reading in readings)
        counted = "the one passage read shares" if len(readings) == 1 else f"{supporting} of {len(readings)} passages share"
        return Synthesis(
            answer="",
            status=AnswerStatus.EVIDENCE,
            quotes=shown,
            why=f"{counted} words with the question",
            notes=tuple(missing),
        )

    def answered_parts(self, question: Question, readings: Sequence[PathReading], rarity: Mapping[str, float]) -> list[PartAnswer]:
        """Return what the quotes of all readings answer, part by part."""
        found = {(quote.node.id, quote.text): quote for reading in readings for quote in reading.quotes}
        parts = list(parts_of(question, rarity, self.settings.context_share))
        return self._answers(question, parts, list(found.values()), rarity)

    def _answers(
        self, question: Question, parts: Sequence[Part], quotes: Sequence[Quote], rarity: Mapping[str, float]
    ) -> list[PartAnswer]:
        settings, stems = self.settings, list(rarity)
        inside = mark_stems(stems, [quote.covered for quote in quotes])
        beside = mark_stems(stems, [quote.beside for quote in quotes])
        new = np.array([not says_nothing_new(quote, rarity.keys()) for quote in quotes], dtype=bool)
        answers: list[PartAnswer] = []
        for part in parts:
            # A quote that holds only the names says nothing about the question.
            on_topic = (inside | beside) @ part.asked > 0.0
            fits = new & on_topic & np.array([holds_kind(quote.text, part.kind, question.text) for quote in quotes], dtype=bool)
            coverage = Coverage(inside, beside, part.all)
            scores = quote_scores(
                coverage=coverage,
                worths=np.array([quote.worth for quote in quotes], dtype=np.float64),
                fits=fits,
                beside_share=settings.beside_share,
                worth_share=settings.worth_share,
                misfit=settings.misfit,
            )
            chosen = choose_quotes(
                coverage=coverage, scores=scores, fits=fits, limit=settings.quotes, least=settings.least, gain=settings.gain
            )
            if part.only_place:
                # Nothing in the place is nearer to the question than the rest of it.
                chosen = strongest(scores=np.where(fits, scores, 0.0), count=settings.quotes).tolist()
            asked = Coverage(inside, beside, part.asked)
            covered = joint_coverage(coverage=asked, chosen=chosen[:1], beside_share=settings.beside_share)
            best = tuple(quotes[place] for place in chosen)
            # One part of several gets no quote that holds nothing it asks for: the others have their own.
            answers.append(PartAnswer(part, best if covered > 0.0 or len(parts) == 1 else (), covered))
        return answers

    def _open_words(
        self, question: Question, answers: Sequence[PartAnswer], shown: Sequence[Quote], rarity: Mapping[str, float]
    ) -> list[str]:
        """Return a note where the best quote of a part holds little of what it asks: the words that no quote holds."""
        weak = [answer for answer in answers if answer.quotes and answer.covered < self.settings.whole_support]
        held = {stem for quote in shown for stem in quote.covered | quote.beside}
        words = dict(zip(question.terms.stems, question.terms.words, strict=True))
        asked = [stem for place, stem in enumerate(rarity) if any(answer.part.asked[place] for answer in weak)]
        lost = dict.fromkeys(words[stem] for stem in asked if stem not in held and stem in words and says_something(words[stem]))
        return [f"the quotes do not say {quote_words(list(lost))}"] if lost else []


def in_order(answers: Sequence[PartAnswer]) -> list[Quote]:
    """Return the quotes of all parts, each once: the best of each part, then the others."""
    best = [quote for answer in answers for quote in answer.quotes[:1]]
    others = [quote for answer in answers for quote in answer.quotes[1:]]
    first = {(quote.node.id, quote.text): quote for quote in reversed([*best, *others])}
    return list(reversed(first.values()))


def lost_names(question: Question, readings: Sequence[PathReading]) -> list[str]:
    """Return the names, years and numbers of the question that stand nowhere in the scope, as the question writes them."""
    present = {stem for reading in readings for stem in reading.present}
    words = dict(zip(question.terms.stems, question.terms.words, strict=True))
    return list(dict.fromkeys(words[anchor] for anchor in question.terms.anchors if readings and anchor not in present))


CLOSEST = 3
"""Passages that are shown where nothing was found."""


def not_found(unnamed: Sequence[str], closest: Sequence[Quote], refusal: Refusal | None = None) -> Synthesis:
    """Return that nothing was found: nothing speaks of the question, or it is refused for it is probably not answered."""
    reason = silent_about(unnamed) if unnamed else "no passage that was read holds a word of the question"
    if refusal is not None:
        doubt = f"probability that they do not: {refusal.probability:.2f}"
        reason = f"{f'{reason}, and ' if unnamed else ''}it is doubtful that the documents answer the question ({doubt})"
    return Synthesis("", AnswerStatus.NOT_FOUND, quotes=tuple(closest[:CLOSEST]), why=reason)


def silent_about(unnamed: Sequence[str]) -> str:
    return f"the documents say nothing about {quote_words(unnamed)}"


def quote_words(words: Sequence[str]) -> str:
    return ", ".join(f'"{word}"' for word in words)
