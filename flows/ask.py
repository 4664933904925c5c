"""The question flow: from words to an answer with its proof. No Prefect is loaded here unless a run is at work around it.

keywords -> candidates -> score -> route -> select -> read -> judge -> (refine once) -> synthesize -> record
"""

import asyncio
from collections.abc import AsyncGenerator
from contextlib import AbstractAsyncContextManager, nullcontext
from datetime import UTC, datetime
from functools import partial
from uuid import uuid4

from flows.readers import READER_MODULES
from storage.locations import corpus_location
from storage.records.answers import Answer
from storage.runs.log import ASKING
from storage.system import check_writable
from tasks.asking.calls import call_bounds, counting_calls
from tasks.asking.opening import opened_for_reading
from tasks.asking.question import AskContext, context_of, understand
from tasks.asking.request import AskRequest, asked_scope, checked_questions
from tasks.lineage.writing import lineage_of_run, working_at, writing_together
from tasks.models.embedding.embedder import open_question_embedder
from tasks.reading.answer import gathered, record
from tasks.reading.choice import chat_server_of, open_reader
from tasks.step import Workplace, chained
from tasks.watching.watching import watched_question

NO_SEAT = nullcontext()
"""No seat is waited for."""


async def ask(request: AskRequest, seat: AbstractAsyncContextManager[None] = NO_SEAT) -> AsyncGenerator[Answer, None]:
    """Yield the answer of each question, from one snapshot; everything is loaded once, in threads.

    The `seat` is taken once the corpus is open: a question that waits for an object store takes none.
    Raise QuestionError, EmbeddingError, UnknownCorpusError, UnknownDocumentError or AmbiguousDocumentError, and answer nothing;
    where a chat model reads, EndpointError before all else, and ChatEndedError where it is gone, also between two questions.
    """
    server = chat_server_of(request.settings)
    location, questions = corpus_location(request.corpus), checked_questions(request.questions)
    async with opened_for_reading(location) as snapshot, seat:
        check_writable(location.runs)
        scope, settings = asked_scope(snapshot, request), request.settings
        embedder = await asyncio.to_thread(partial(open_question_embedder, snapshot.embedder, models=settings.models))
        with (
            open_reader(server, settings, snapshot) as reader,
            lineage_of_run(
                location,
                parameters=request.model_dump(mode="json", exclude={"settings"}),
                settings=settings.model_dump(mode="json"),
                run_id=ASKING + uuid4().hex,
                snapshot=lambda: snapshot.number,
            ) as place,
        ):
            context = context_of(snapshot, scope, settings, embedder, reader)
            for text in questions:
                yield await answer_one(text, request, context, place)


async def answer_one(text: str, request: AskRequest, context: AskContext, place: Workplace, *, kept: bool = True) -> Answer:
    """Answer one question and keep the answer, where it is to be `kept`: those of an evaluation are not the user's."""
    answer_id, asked = uuid4().hex, datetime.now(UTC).isoformat(timespec="milliseconds")
    reader = READER_MODULES[request.reader]
    bounds = call_bounds(request.settings, gated=reader.GATED)
    with (
        watched_question(place.run_id, answer_id, request.reader) as ended,
        writing_together(place) as own_place,
        working_at(own_place) as steps,
        counting_calls(answer_id, bounds) as calls,
        chained(),
    ):
        question = await understand.submit(answer_id, text, context)
        findings = await reader.read(question, context)
        answer = gathered(
            answer_id=answer_id,
            asked=asked,
            question=text,
            findings=findings,
            request=request,
            context=context,
            steps=steps,
            calls=calls,
        )
        if kept:
            await record.submit(answer)
        ended(answer.status)
    return answer
