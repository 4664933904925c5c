"""The question flow as a task that a living process serves: everything stays loaded, and Prefect's UI sees each question.

The answers are given as soon as they are there; the page in Prefect and the report on the disk are made after.
"""

import asyncio
import time
from collections.abc import Sequence
from contextlib import aclosing
from typing import Any
from uuid import UUID

from prefect import flow, task
from prefect.client.schemas.objects import State
from prefect.runtime import task_run
from prefect.states import Cancelled, Failed

from flows.ask import ask
from flows.display.output import CommandError
from flows.prefect_runs.interruption import ending_in_order
from flows.prefect_runs.labels import failures_logged, question_asked, tag_run
from flows.prefect_runs.pages import emit_assets, keep_answer_pages, keep_page, leave_lineage_of_answers
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.locations import corpus_location, reports_folder
from storage.records.answers import Answer
from storage.runs.answer_json import answer_json
from storage.runs.answers import find_answer
from storage.system import check_writable
from tasks.asking.request import AskRequest
from tasks.events import QueueSeen, emit
from tasks.lineage.data_flow import answered
from tasks.models.chat.errors import ChatEndedError
from tasks.progress import StoppedError


@flow(
    name="ask",
    flow_run_name=question_asked,
    persist_result=True,
    result_serializer="json",
    result_storage=reports_folder(),
    on_completion=[leave_lineage_of_answers],
)
async def ask_deployed(request: AskRequest) -> list[dict[str, Any]] | State[None]:
    """Answer each question from one snapshot, and return the answers as `flowreader ask --json` shows them."""
    await tag_run(request.corpus, request.reader)
    check_writable(reports_folder())
    answered: list[dict[str, Any]] = []
    with ending_in_order():
        try:
            async with aclosing(ask(request)) as answers:
                async for answer in answers:
                    with failures_logged("the page of an answer"):
                        await keep_page(answer)
                    answered.append(answer_json(answer))
        except StoppedError:
            return Cancelled(message=f"stopped; {len(answered)} of {len(request.questions)} answers are kept")
        except ChatEndedError as error:
            return Failed(message=str(error))
    return answered


Answers = list[dict[str, Any]]

AT_ONCE = 8
"""Questions that are answered side by side: where a model reads, they wait for it most of the time."""

LOOK_SECONDS = 0.05
PAGES_WAIT_SECONDS = 120.0
"""Where questions keep coming, the pages of those that were answered are made in between."""


class ServiceEndsError(CommandError):
    """The query service ends before it has answered."""


class Waiting:
    """What waits for which task run, in this process."""

    def __init__(self) -> None:
        self._futures: dict[UUID, asyncio.Future[Answers]] = {}
        self._begun: set[UUID] = set()

    def __len__(self) -> int:
        return len(self._futures)

    def for_run(self, run_id: UUID) -> asyncio.Future[Answers]:
        """Return what will hold the answers of a run that is about to start; it is forgotten when it has them."""
        future = asyncio.get_running_loop().create_future()
        self._futures[run_id] = future
        future.add_done_callback(lambda _done: self._forget(run_id))
        emit(QueueSeen(len(self)))
        return future

    def _forget(self, run_id: UUID) -> None:
        self._futures.pop(run_id, None)
        self._begun.discard(run_id)
        emit(QueueSeen(len(self)))

    def give(self, run_id: UUID, outcome: Answers | Exception) -> None:
        """Give the run's answers, or the error that ended it, to what waits for them."""
        future = self._futures.get(run_id)
        if future is None or future.done():
            return
        if isinstance(outcome, Exception):
            future.set_exception(outcome)
        else:
            future.set_result(outcome)

    def begin(self, run_id: UUID) -> None:
        if run_id in self._futures:
            self._begun.add(run_id)

    def has_begun(self, run_id: UUID) -> bool:
        return run_id in self._begun

    async def until_idle(self, *, seconds: float) -> None:
        """Return when nothing waits any more, or after so long."""
        deadline = time.monotonic() + seconds
        while self._futures and time.monotonic() < deadline:
            await asyncio.sleep(LOOK_SECONDS)


waiting = Waiting()
seats, page_maker = asyncio.Semaphore(AT_ONCE), asyncio.Lock()
"""Seats are for questions whose corpus is open; pages are made one at a time, of what is answered, while no question waits."""


def still_shown(given: Sequence[Answer]) -> list[Answer]:
    """Return the answers, all of one corpus, as `flowreader answers show` shows them now: without the words of what was removed.

    A corpus that was removed since has none.
    """
    if not given:
        return []
    location = corpus_location(given[0].corpus)
    try:
        with open_for_reading(location) as snapshot:
            present = {record.id for record in snapshot.documents()}
    except UnknownCorpusError:
        return []
    return [find_answer(location, one.answer_id, present=present) for one in given]


@task(
    name="answer",
    task_run_name=question_asked,
    persist_result=True,
    result_serializer="json",
    result_storage=reports_folder(),
)
async def answer(request: dict[str, Any]) -> Answers:
    """Answer the questions of an AskRequest in JSON; the answers are as `flowreader ask --json` shows them."""
    run_id = UUID(task_run.id)
    waiting.begin(run_id)
    try:
        async with aclosing(ask(AskRequest.model_validate(request), seats)) as answers:
            given = [one async for one in answers]
        answers_given = [answer_json(one) for one in given]
    except BaseException as error:
        reason = (
            error
            if isinstance(error, Exception)
            else ServiceEndsError("the question was stopped, for the service ends", "", "ask it again when the service is up")
        )
        waiting.give(run_id, reason)
        raise
    waiting.give(run_id, answers_given)
    patience = time.monotonic() + PAGES_WAIT_SECONDS
    async with page_maker:
        await waiting.until_idle(seconds=patience - time.monotonic())
        # A document may have been removed in the meantime: only what is still shown of an answer is written anywhere.
        shown = await asyncio.to_thread(still_shown, given)
        for one in shown:
            with failures_logged("the page of an answer"):
                await keep_page(one)
                await keep_answer_pages([one], task_run_id=run_id)
                emit_assets(answered(one), task_run_id=run_id)
    return [answer_json(one) for one in shown]
