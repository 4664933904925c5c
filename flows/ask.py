"""The question flow: from words to an answer with its proof. Prefect is loaded only inside a run.

keywords -> candidates -> score -> size -> route -> read -> judge -> (refine once) -> synthesize -> record
"""

import asyncio
import time
from collections.abc import AsyncGenerator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, ExitStack, nullcontext
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from flows.readers import reader_module
from storage.corpus.snapshot import Snapshot
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.runs.log import ASKING
from storage.system import check_writable
from tasks.asking.calls import counting_calls
from tasks.asking.opening import enter_in_thread, open_in_thread
from tasks.asking.question import AskContext, context_of, understand
from tasks.asking.request import AskRequest, check_questions, find_scope
from tasks.asking.threads import ALONE, Thread, find_thread
from tasks.asking.weights import piece_weights
from tasks.lineage.writing import lineage_of_run, working_at, writing_together
from tasks.models.chat.errors import ChatEndedError
from tasks.models.embedding.embedder import open_question_embedder
from tasks.models.endpoints import Endpoint
from tasks.models.local import LocalModelError, local_model, local_model_is_named
from tasks.reading.answer import UnansweredError, gather_answer, record
from tasks.reading.choice import chat_server_of, open_reader, settle_reading
from tasks.reading.kept import KeptAnswers
from tasks.reading.rules import ExtractiveReader
from tasks.settings.base import change_settings
from tasks.step import StepKey, Workplace, chain_steps
from tasks.views.answers import AnswerView, view_answer
from tasks.views.introduction import Introduction, find_introduction, introduce
from tasks.watching.watching import watch_question

Seat = Callable[[], AbstractAsyncContextManager[None]]
ASK_RULES = 'ask rules, by "settings": {"reading": {"by": "rules"}}'


# By default a question waits for no seat.
async def ask(request: AskRequest, seat: Seat = nullcontext, run_id: str = "") -> AsyncGenerator[AnswerView, None]:
    """Yield the answer of each question, from one snapshot; an answer that is kept is given again, unless the request is `fresh`.

    Where a chat model fails, is late by `ask.seconds`, or is not there, what it proved by then is the answer, else rules
    quote evidence; a missing model is tried again for the next question. The seconds run from the call, for a further
    question from the answer before.

    If all answers are kept, no model is loaded or connected. Else everything is loaded once, in threads, before the first answer.
    Greetings, and questions about the documents as such, are answered by an introduction, without a search or a model.
    A question takes a `seat` while it is being answered, not while it waits for the corpus or for the same question of
    another request. `run_id` is that of the Prefect run, for lineage.
    Raise QuestionError, EmbeddingError, UnknownCorpusError, UnknownError or AmbiguousError, and answer nothing;
    where a chat model is to read, EndpointError or LocalModelError before all else, and ChatEndedError where the request requires
    one that fails, or leaves the choice to us and the one that there is cannot be asked.
    """
    began = time.monotonic()
    chosen = request.settings.reading.by == "auto" and not request.local
    settings = change_settings(request.settings, {"reading.by": "model"}) if request.local else settle_reading(request.settings)
    request = request.model_copy(update={"settings": settings})
    server = local_model() if request.local else chat_server_of(settings, request.reader)
    location, questions = corpus_location(request.corpus), check_questions(request.questions)
    async with open_in_thread(location) as snapshot:
        check_writable(location.runs)
        thread = await asyncio.to_thread(find_thread, snapshot, request)
        request = thread.limit(request)
        with ExitStack() as held:
            asking = Asking(request, KeptAnswers.of(request, thread, snapshot), server, seat, held, began, chosen)
            await asking.begin(questions)
            run = lineage_of_run(
                location,
                parameters=request.model_dump(mode="json", exclude={"settings", "earlier"}) | {"questions": questions},
                settings=request.settings.model_dump(mode="json"),
                run_id=ASKING + (run_id or uuid4().hex),
                snapshot=lambda: snapshot.number,
            )
            place = held.enter_context(run)
            for text in questions:
                yield view_answer(await asking.answer(text, place), snapshot)
                asking.began = time.monotonic()


def read_locally(request: AskRequest) -> AskRequest:
    """Let the local model read the questions of a service whose environment names one, unless rules are asked for."""
    wanted = local_model_is_named() and request.settings.reading.by != "rules"
    return request.model_copy(update={"local": True}) if wanted else request


@dataclass(slots=True)
class Asking:
    """A request at work; what only new answers need is in `context`, opened for the first and `held` until the request ends.

    `chosen`: nobody asked for the model or for rules, so that neither stands in for the other in silence.
    """

    request: AskRequest
    kept: KeptAnswers
    server: Endpoint | None
    seat: Seat
    held: ExitStack
    began: float
    chosen: bool
    context: AskContext | None = None
    introductions: Mapping[str, Introduction] = field(default_factory=dict)

    async def begin(self, questions: Sequence[str]) -> None:
        """Open what new answers need, where one of the questions needs it.

        Also where the environment names a server without a model: only the server knows which, and so whose answers are kept.
        """
        self.introductions = await asyncio.to_thread(self._find_introductions, questions)
        questions = [text for text in questions if text not in self.introductions]
        unnamed = self.server is not None and not self.server.is_named
        if questions and (self.request.fresh or unnamed or not await asyncio.to_thread(self._holds_all, questions)):
            self.context = await self.open_context()

    def _find_introductions(self, questions: Sequence[str]) -> dict[str, Introduction]:
        found = {text: find_introduction(text, self.kept.snapshot, self.request, self.kept.thread) for text in questions}
        return {text: introduction for text, introduction in found.items() if introduction}

    def _holds_all(self, questions: Sequence[str]) -> bool:
        return all(self.kept.holds(self.key(text)) for text in questions)

    def key(self, text: str) -> StepKey:
        named = self.server.model if self.server and self.server.is_named else ""
        return self.kept.key(text, self.server, named or (self.context.reader.model if self.context else ""))

    async def open_context(self) -> AskContext:
        snapshot, settings = self.kept.snapshot, self.request.settings
        scope = find_scope(snapshot, self.request)
        embedder = await asyncio.to_thread(partial(open_question_embedder, snapshot.embedder, models=settings.models))
        until, required = self.request.deadline(self.began), self.request.require_model
        try:
            # in a thread: a local model may have to be loaded
            opening = open_reader(self.server, settings, snapshot, until, require_rater=required)
            reader = await enter_in_thread(self.held, opening)
        except (ChatEndedError, LocalModelError) as error:
            if required:
                raise
            if self.chosen:
                remedy = f"{error.remedy}, or let rules read: --by rules"
                raise type(error)(error.what, error.value, remedy, over_http=ASK_RULES) from error
            note = f"rules looked for the evidence, because the model could not be asked: {error}"
            reader = ExtractiveReader(settings.reading, (note,), piece_weights(settings.weights))
        return await asyncio.to_thread(context_of, snapshot, scope, settings, embedder, reader)

    async def answer(self, text: str, place: Workplace) -> Answer:
        """Give the answer that is kept, or answer the question; an introduction is made each time."""
        if found := self.introductions.get(text):
            return await self.introduce(text, found, place)
        key = self.key(text)
        anew = partial(self.answer_anew, text, replace(place, memo=self.kept.memo))
        if self.request.fresh:
            await asyncio.to_thread(self.kept.forget, key)
            return await anew()
        return await self.kept.give_or(key, place, anew)

    async def introduce(self, text: str, found: Introduction, place: Workplace) -> Answer:
        answer = await asyncio.to_thread(introduce, text, found, self.kept.snapshot, self.request, self.kept.thread)
        with watch_question(place.run_id, answer.answer_id, self.request.reader) as ended, working_at(place):
            await keep_in_thread(answer, self.kept.snapshot)
            ended(answer.status)
        return answer

    async def answer_anew(self, text: str, place: Workplace) -> Answer:
        context = self.context = self.context or await self.open_context()
        if context.reader.notes:  # the model may be back by the next question
            self.context = None
        async with self.seat():
            keep = partial(self.kept.keep, self.key(text))
            return await answer_one(text, self.request, context, place, self.kept.thread, began=self.began, keep=keep)


async def answer_one(
    text: str,
    request: AskRequest,
    context: AskContext,
    place: Workplace,
    thread: Thread = ALONE,
    *,
    began: float | None = None,
    recorded: bool = True,
    keep: Callable[[Answer], None] | None = None,
) -> Answer:
    """Answer one question and record the answer, if it is to be `recorded`: those of an evaluation are not the user's.

    Its seconds run from when it `began` (time.monotonic()), by default from now. An answer in which no model failed is given to
    `keep`; without it no step remembers what it made. Raise ChatEndedError where the request requires a model that cannot be asked,
    UnansweredError where none of its answers counts.
    """
    answer_id, asked = uuid4().hex, datetime.now(UTC).isoformat(timespec="milliseconds")
    reader = reader_module(request.reader, request.settings)
    bounds = reader.most_calls(request.settings)
    deadline = request.deadline(time.monotonic() if began is None else began)
    with (
        watch_question(place.run_id, answer_id, request.reader) as ended,
        writing_together(replace(place, remembers=keep is not None)) as own_place,
        working_at(own_place) as steps,
        counting_calls(answer_id, bounds, deadline=deadline, require_model=request.require_model) as calls,
        chain_steps(),
    ):
        calls.notes.extend(context.reader.notes)
        asked_as = thread.complete(text)
        question = replace(await understand(answer_id, asked_as, context), cited=thread.lent_to(text))
        findings = await reader.read(question, context)
        answer = gather_answer(
            answer_id=answer_id,
            asked=asked,
            question=text,
            asked_as=asked_as,
            thread=thread,
            findings=findings,
            request=request,
            context=context,
            steps=steps,
            calls=calls,
        )
        if request.require_model and calls.unanswered:
            raise UnansweredError(calls.unanswered, answer)
        if recorded:
            await keep_in_thread(answer, context.snapshot)
        ended(answer.status)
    # After recording: an answer that can be given again must be there to show.
    if keep and not calls.notes:
        await asyncio.to_thread(keep, answer)
    return answer


async def keep_in_thread(answer: Answer, snapshot: Snapshot) -> None:
    """Record an answer; raise UnknownError where its thread was removed meanwhile: what would be kept holds the words of it."""
    if answer.follows:
        await asyncio.to_thread(snapshot.answer, answer.follows)
    await record.submit(answer)
