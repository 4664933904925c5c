"""Reading with a chat model: what rules do by words, it does by reading; each duty is one prompt, each reply one form.

All calls of a duty are in flight together. A call that fails by name costs what it was for, with a note; where nothing is left that
the model proved, rules quote what it was to read.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from storage.errors import parts_of
from storage.records.answers import AnswerPart, AnswerStatus, Support
from storage.records.documents import Passage
from tasks.algorithms.quotes import agreement, different_answers, pairs_to_compare
from tasks.algorithms.sharing import fair_shares
from tasks.algorithms.text.standing import find_words
from tasks.asking.calls import Stage, call_book
from tasks.asking.records import Duty, PathReading, PathText, Question, Synthesis, T, Verdict
from tasks.asking.request import clean
from tasks.asking.weights import piece_weights
from tasks.models.chat.call import ChatCall
from tasks.models.chat.errors import ChatEndedError, ChatError, Outcome
from tasks.models.chat.worker import PathAnswer
from tasks.prompts.prompt import Piece, cut
from tasks.reading.cited import prove_by_citations
from tasks.reading.forms import Comparison, Keywords, RatedBridge, RatedBridges, RatedSteps
from tasks.reading.model_answer import agreed_answer, combine_readings, path_of
from tasks.reading.model_calls import ModelContext
from tasks.reading.rules import ExtractiveReader
from tasks.reading.shown import NodePicture, Shown, show_passages

Pairs = Sequence[tuple[Passage, Passage]]
Rated = RatedBridges | RatedSteps


def rate(
    context: ModelContext, question: Question, pairs: Pairs, similarities: Sequence[float], *, bridges: bool, at_once: int
) -> list[float]:
    """Return the rate of each pair, 0..1.

    Where a call fails nothing changes: no bridge is laid, and a step keeps the similarity of its ends.
    """
    batches = [pairs[start : start + at_once] for start in range(0, len(pairs), at_once)]
    found = [_rates(value) for value in context.ask([_rating(context, question, batch, bridges=bridges) for batch in batches])]
    unrated = [0.0 if bridges else max(similarity, 0.0) for similarity in similarities]
    return [found[place // at_once].get(place % at_once + 1, unrated[place]) for place in range(len(pairs))]


def _rating(context: ModelContext, question: Question, batch: Pairs, *, bridges: bool) -> ChatCall[Rated]:
    prompt = "bridge" if bridges else "step"
    form: type[Rated] = RatedBridges if bridges else RatedSteps
    call = context.call(
        prompt,
        f"{len(batch)} {prompt}s",
        form,
        question=question.text,
        pieces=_pieces(context, question, prompt, form, batch),
        check=lambda value: _wrong(value, len(batch)),
    )
    return replace(call, temperature=context.settings.gate.scorer_temperature)


def _pieces(context: ModelContext, question: Question, prompt: str, form: type[Rated], batch: Pairs) -> list[Piece]:
    settings = context.settings.reading.model
    wanted = settings.pair_characters * 2 * len(batch)
    room = context.room(prompt, form, wanted, question=question.text) // (2 * len(batch))
    return [
        Piece(f"pair {number}, passage {side}: {node.kind.value}, page {node.page}", cut(context.text_of(node), room))
        for number, pair in enumerate(batch, 1)
        for side, node in zip("AB", pair, strict=True)
    ]


def _wrong(value: Rated, wanted: int) -> str:
    if sorted(rated.pair for rated in value.ratings) != list(range(1, wanted + 1)):
        return f"each of the pairs 1 to {wanted} must be rated exactly once"
    rates = (rated.strength if isinstance(rated, RatedBridge) else rated.usefulness for rated in value.ratings)
    return "" if all(0.0 <= rate <= 1.0 for rate in rates) else "a rate is not between 0.0 and 1.0"


def _rates(value: Rated | ChatError) -> dict[int, float]:
    if isinstance(value, ChatError):
        return {}
    if isinstance(value, RatedBridges):
        return {rated.pair: rated.strength * rated.connected for rated in value.ratings}
    return {rated.pair: rated.usefulness for rated in value.ratings}


MOST_KEYWORDS = 50
LATE = "rules went on to find what to read, so that the model has time to read it"
NAMING_CHARACTERS = 60
"""Of a passage that is read by the picture of its page: its first words, by which it is known and cited."""
PARTS = {
    "text": "you have the text of these pages, another reader has their pictures",
    "pictures": "you have the pictures of these pages, another reader has their text; passages are named by their first words",
}
HEAD_CHARACTERS = 40
"""Of a piece beside its words: the mark, and what says that it was cut."""


@dataclass(frozen=True, slots=True)
class ModelReader:
    """A chat model that reads, judges, rates and answers; every citation of its answers stands in what it was shown."""

    context: ModelContext
    name: str = "model"
    judged: bool = True
    short: bool = False
    rated_by: ModelReader | None = None
    notes: tuple[str, ...] = ()

    @property
    def model(self) -> str:
        return self.context.model.name + (f", pages rated by {self.rated_by.model}" if self.rated_by else "")

    @property
    def rater(self) -> ModelReader:
        return self.rated_by or self

    @property
    def sees(self) -> bool:
        model, pictures = self.context.model, self.context.settings.reading.model.pictures
        return model.abilities.sees and pictures > 0 and not self.short and not model.ended

    def keywords(self, question: str) -> tuple[str, ...]:
        """Return the words to search by that the model finds in the question; words that are not in it are dropped."""
        call = self.context.call("keywords", "the question's keywords", Keywords, question=question)
        (value,) = self.context.ask([call])
        found = [] if isinstance(value, ChatError) else value.keywords
        return tuple(word for word in found if find_words(question, word))[:MOST_KEYWORDS]

    def do(self, question: Question, duties: Sequence[Duty[T]]) -> list[T | None]:
        """Let the model do all of these at once, while it is usable and there is time; failures are noted."""
        book = call_book.get()
        if book.over and not book.require_model:
            return [None] * len(duties)
        late = book.duties_end is not None and time.monotonic() >= book.duties_end
        values = [] if late else self.context.ask([self.duty_call(question.text, duty) for duty in duties], reads=False)
        if late and LATE not in book.notes:
            book.notes.append(LATE)
        return [None if isinstance(value, ChatError) else value for value in values] if values else [None] * len(duties)

    def duty_call(self, question: str, duty: Duty[T]) -> ChatCall[T]:
        """Return the call of a duty: its pieces share what room the model has, and it is shown no more pictures than it takes."""
        settings = self.context.settings.reading.model
        wanted = settings.small_characters if self.short else settings.evidence_characters
        most = self.context.most_pictures(duty.prompt, duty.form, len(duty.pictures), question=question)
        pictures = duty.pictures[:most]
        room = self.context.room(duty.prompt, duty.form, wanted, question=question, pictures=len(pictures))
        shows = "\n".join(f"picture {number}: {words}" for number, words in enumerate(duty.shows[:most], 1))
        given = [*duty.pieces, *([Piece("the pictures", shows)] if shows else [])]
        heads = sum(len(piece.heading) + HEAD_CHARACTERS for piece in given)
        shares = fair_shares(needs=[len(piece.text) for piece in given], room=max(0, room - heads))
        pieces = [replace(piece, text=cut(piece.text, share)) for piece, share in zip(given, shares, strict=True)]

        def ask_with(pieces: Sequence[Piece]) -> ChatCall[T]:
            return self.context.call(
                duty.prompt, duty.item, duty.form, question=question, pieces=pieces, check=duty.check, plain=self.short
            )

        blind = ask_with(pieces[: len(duty.pieces)])
        return replace(ask_with(pieces), images=pictures, without_pictures=blind) if pictures else blind

    def read(self, question: Question, paths: Sequence[PathText]) -> tuple[PathReading, ...]:
        """Have the model answer from each path alone, of all at once; where it reads none of them at first it is asked no more."""
        if (book := call_book.get()).over and not book.require_model:
            book.unread = True
            return tuple(PathReading(answer="", quotes=(), present=path.present, path=path) for path in paths)
        calls = [self._call_and_passages(question, f"path {number} of {len(paths)}", path) for number, path in enumerate(paths, 1)]
        values = self.context.ask([call for call, _ in calls])
        heed_failures(values)
        for (_, shown), value in zip(calls, values, strict=True):
            if not isinstance(value, ChatError):
                book.show(shown.characters, of=shown.held)
        return tuple(
            self._reading(
                question, call.item, value, shown if self.context.model.saw(call) else replace(shown, seen=frozenset()), path
            )
            for (call, shown), value, path in zip(calls, values, paths, strict=True)
        )

    def _call_and_passages(self, question: Question, item: str, path: PathText) -> tuple[ChatCall[PathAnswer], Shown]:
        """Return the call that reads a path, with its pictures as far as the model sees, and the passages that it shows."""
        wanted = 0 if path.part == "text" else max(self.context.settings.reading.model.pictures, len(path.pages))
        most = self.context.most_pictures("worker", PathAnswer, wanted, question=question.text)
        seen, pictures = self.context.pictures.choose(path.nodes, path.worth, most, path.pages)
        call, shown = self._reading_call(question, item, path, seen, pictures)
        if pictures:
            call = replace(call, without_pictures=self._reading_call(question, item, path, {}, ())[0])
        return call, shown

    def _reading_call(
        self, question: Question, item: str, path: PathText, seen: Mapping[str, NodePicture], pictures: Sequence[bytes]
    ) -> tuple[ChatCall[PathAnswer], Shown]:
        settings, aim = self.context.settings.reading.model, path.aim
        prompt, asked, aims = ("plan_worker", aim.asked, aim.pieces) if aim else ("worker", question.text, ())
        room = self.context.room(prompt, PathAnswer, settings.path_characters, question=asked, pictures=len(pictures))
        room = max(0, room - sum(len(piece.text) for piece in aims))
        # A page without its picture is read by its text.
        alone = path.part == "pictures" and all(node.id in seen for node in path.nodes)
        room = min(room, NAMING_CHARACTERS * len(path.nodes)) if alone else room
        shown = show_passages(path.nodes, titles=self.context.titles, stems=path.rarity, room=room, pictures=seen)
        call = self.context.call(
            prompt,
            item,
            PathAnswer,
            question=asked,
            pieces=(*aims, *([Piece(PARTS[path.part], "")] if alone or path.part == "text" else ()), *shown.pieces),
            pictures=pictures,
            check=_answer_missing,
        )
        return call, replace(shown, held=shown.characters) if alone else shown

    def _reading(self, question: Question, item: str, value: PathAnswer | ChatError, shown: Shown, path: PathText) -> PathReading:
        """Return what the model read; an answer without proof does not count."""
        nothing = PathReading(answer="", quotes=(), present=path.present, path=path, seen=shown.seen)
        if isinstance(value, ChatError) or value.status == "not_reported":
            return nothing
        book, answer = call_book.get(), clean(value.answer)
        asked = path.aim.asked if path.aim else question.text
        most_words = self.context.settings.reading.quote_words
        proof = prove_by_citations(asked, answer, value.citations, shown, path, most_words=most_words)
        if not proof.quotes:
            book.notes.append(f"the answer of {item} does not count: nothing that the model was shown proves it")
            book.unread = True
            book.unproven.append(answer)
            return nothing
        found = replace(nothing, answer=answer, quotes=proof.quotes, parts=proof.parts)
        return replace(found, whole=value.whole, facts=clean(value.facts))

    def consistency(self, question: Question, readings: Sequence[PathReading]) -> float:
        """Return the share of pairs of answers that do not contradict each other; equal ones agree unasked.

        Where every comparison fails, different answers count as contradicting: nothing says that they agree.
        """
        answers = [reading.answer for reading in readings]
        groups = different_answers(answers)
        pairs = pairs_to_compare(len(groups), limit=self.context.settings.reading.model.compared_pairs)
        firsts = [answers[group[0]] for group in groups]
        values = self.context.ask([self._comparison(question, firsts[one], firsts[other]) for one, other in pairs])
        known = [(pair, value) for pair, value in zip(pairs, values, strict=True) if not isinstance(value, ChatError)]
        sizes = [len(group) for group in groups]
        if not known:
            return agreement(sizes=sizes, compared=pairs, contradicting=pairs)
        return agreement(
            sizes=sizes,
            compared=[pair for pair, _ in known],
            contradicting=[pair for pair, value in known if value.contradict],
        )

    def _comparison(self, question: Question, one: str, other: str) -> ChatCall[Comparison]:
        pieces = [Piece("answer A", one), Piece("answer B", other)]
        return self.context.call("consistency", "a pair of answers", Comparison, question=question.text, pieces=pieces)

    def rate_pairs(
        self, question: Question, pairs: Sequence[tuple[Passage, Passage]], similarities: Sequence[float], *, bridges: bool
    ) -> list[float]:
        """Have the model rate the pairs, several in a call; only System 2 asks for it.

        It asks once for bridges and once for steps, each time for half of the pairs: half of the calls are for either.
        """
        call_book.get().stage = Stage.REFINED
        settings = self.context.settings
        at_once = math.ceil(math.ceil(settings.gate.pairs / 2) / (settings.reading.model.rating_calls // 2))
        return rate(self.context, question, pairs, similarities, bridges=bridges, at_once=at_once)

    def synthesize(
        self, question: Question, readings: Sequence[PathReading], rarity: Mapping[str, float], verdict: Verdict | None
    ) -> Synthesis:
        """Give one answer of all readings.

        Where nothing proven comes of it and the model did not read everything, that is what rules quote of the same paths, and the
        call book says why.
        """
        book, settings = call_book.get(), self.context.settings.reading
        book.stage = Stage.LAST
        synthesis = self.one_answer(question, readings, verdict)
        if synthesis.status is not AnswerStatus.NOT_FOUND or not book.unread:
            return synthesis
        book.unanswered = "; ".join(dict.fromkeys([*book.notes, synthesis.why]))
        rules = ExtractiveReader(settings, weights=piece_weights(self.context.settings.weights))
        quoted = rules.synthesize(question, rules.read(question, [path_of(reading) for reading in readings]), rarity, None)
        if not (settings.unproven and book.unproven):
            book.notes.append(f"{synthesis.why}: rules looked for the evidence")
            return quoted
        answer = book.unproven[0]
        return replace(quoted, answer=answer, status=AnswerStatus.UNVERIFIED, parts=(AnswerPart(answer, Support.UNSUPPORTED),))

    def one_answer(self, question: Question, readings: Sequence[PathReading], verdict: Verdict | None) -> Synthesis:
        """Give what all agree on behind a quiet gate, or what a lone one says to all of it, else have the model put it together."""
        alone = len(readings) == 1 and path_of(readings[0]).aim is None
        quiet = alone if verdict is None else verdict.trigger is None
        agreed = agreed_answer(readings) if quiet else None
        return agreed or combine_readings(self.context, question, readings, verdict)


def heed_failures(values: Sequence[object]) -> None:
    """Note in the call book which paths were not read.

    Where none was, and the model is required, raise ChatEndedError if a reply may come another time: what it keeps replying so is
    the question's own misfortune.
    """
    book = call_book.get()
    errors = [value for value in values if isinstance(value, ChatError)]
    book.unread |= bool(errors)
    if errors and len(errors) == len(values) and book.stage is Stage.FIRST:
        if book.require_model and (lost := [error for error in errors if error.outcome is Outcome.FAILED]):
            what, remedy = parts_of(lost[0])
            raise ChatEndedError(f"the model could read none of the {len(values)} paths, the first: {what}", remedy=remedy)
        book.failed = True


def _answer_missing(value: PathAnswer) -> str:
    return "the status is supported, but the answer is empty" if value.status == "supported" and not clean(value.answer) else ""
