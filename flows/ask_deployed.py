"""The question flow in the query service: however a question comes in, it is a run of the flow `ask`.

Answers are returned as soon as they are ready; their pages are made afterwards, by a run of `ask-pages`.
"""

import asyncio
from collections.abc import AsyncIterator, Collection, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, contextmanager, suppress
from contextvars import ContextVar
from typing import Any
from uuid import UUID, uuid4

from prefect import flow
from prefect.client.schemas.objects import State
from prefect.runtime import flow_run
from prefect.states import Cancelled, Failed

from flows.ask import ask, read_locally
from flows.prefect_runs.labels import log_failures, name_asking_run, tag_run
from flows.prefect_runs.pages import keep_answer_page
from storage.corpus.snapshot import UnknownCorpusError, open_for_reading
from storage.errors import ExpectedError, UnknownError
from storage.locations import corpus_location, reports_folder
from storage.records.answers import Answer
from storage.runs.answer_json import answer_json
from tasks.asking.request import FILES, AskRequest, require_no_files
from tasks.events import RefusalReason
from tasks.progress import StoppedError
from tasks.settings.ask import load_settings
from tasks.settings.base import change_settings
from tasks.settings.environment import settings_file
from tasks.step import turn
from tasks.views.answers import AnswerView
from tasks.views.errors import RefusedError

Answers = list[dict[str, Any]]

STOPPED = "stopped; what was answered is kept"

AT_ONCE = 8
"""Questions answered side by side: if a model reads, they mostly wait for it."""

seats = asyncio.Semaphore(AT_ONCE)
"""Seats are for questions whose corpus is open."""

LOOK_SECONDS = 0.1
"""Between looks at whether somebody waits: a step takes about as long."""

UNWANTED_SECONDS = 60.0
"""Work on a question whose client is gone, before it ends."""


class AwaitedRequest:
    """What a request in this process waits for: `begun` is set when a question is being answered, `answers` when all are ready.

    It `is_left` once all clients are gone: then it goes on behind those of the `others` that somebody waits for.
    """

    def __init__(self, request: AskRequest | None = None, others: Collection["AwaitedRequest"] = ()) -> None:
        loop = asyncio.get_running_loop()
        self.id, self.request, self.others = uuid4().hex, request, others
        self.waiting = 0
        self.nobody_waits = False
        self.at_work, self.seated, self.moving = False, False, asyncio.Lock()
        self.unwanted_seconds = 0.0
        self.next_look: asyncio.TimerHandle | None = None
        self.tasks: list[asyncio.Task[None]] = []
        self.begun: asyncio.Future[None] = loop.create_future()
        self.answers: asyncio.Future[Answers] = loop.create_future()
        self.given: list[AnswerView] = []
        self.run_id: UUID | None = None
        self.note = ""
        # An error may have no reader: the client is gone, or the run came from the form.
        self.answers.add_done_callback(lambda done: done.cancelled() or done.exception())

    async def wait_for_answers(self) -> Answers:
        """Return the answers when they are ready, or raise what ended them; work goes on if the caller is cancelled."""
        with self.count_waiter():
            answers = await asyncio.shield(self.answers)
        return [one | {"notes": [*one["notes"], self.note]} for one in answers] if self.note else answers

    @contextmanager
    def count_waiter(self) -> Iterator[None]:
        """Count one more waiting client inside the block."""
        self.waiting, self.nobody_waits = self.waiting + 1, False
        try:
            yield
        finally:
            self.waiting -= 1
            if not self.waiting and not self.answers.done():
                self.nobody_waits = True
                self._look_later()

    @property
    def is_left(self) -> bool:
        """Say whether nobody waits for it, nor for another request that shares a question with it."""
        return self.nobody_waits and not any(other.waiting for other in self.others if self.shares(other.request))

    def shares(self, request: AskRequest | None) -> bool:
        """Say whether the request asks the same corpus one of the same questions."""
        own = self.request
        return bool(own and request and own.corpus == request.corpus and {*own.questions} & {*request.questions})

    def _count_work(self) -> None:
        """Count work that nobody waits for, and end it after UNWANTED_SECONDS."""
        if self.waiting or self.answers.done():
            return
        self.unwanted_seconds += LOOK_SECONDS if self.seated and self.is_left else 0.0
        if self.unwanted_seconds < UNWANTED_SECONDS:
            self._look_later()
        else:
            self.stop()

    def _look_later(self) -> None:
        if self.next_look:  # a client that came and went between two looks would start a second count
            self.next_look.cancel()
        self.next_look = asyncio.get_running_loop().call_later(LOOK_SECONDS, self._count_work)

    @asynccontextmanager
    async def seat(self) -> AsyncIterator[None]:
        """Work inside the block, on a seat."""
        self.at_work = True
        try:
            await self._sit()
            yield
        finally:
            self.at_work = False
            self._rise()

    async def _sit(self) -> None:
        await seats.acquire()
        self.seated = True

    def _rise(self) -> None:
        if self.seated:
            self.seated = False
            seats.release()

    async def wait_for_turn(self) -> None:
        """Return when it may go on: a request without clients waits for those with clients, and gives up its seat meanwhile."""
        async with self.moving:
            while self.is_left and any(other.waiting and other.at_work for other in self.others):
                self._rise()
                await asyncio.sleep(LOOK_SECONDS)
            if self.at_work and not self.seated:
                await self._sit()
                if not self.at_work:  # a step beside this one failed meanwhile
                    self._rise()

    def fail(self, error: BaseException) -> None:
        """Give an error instead of the answers; for a cancelled task or the end of the service, a RefusedError."""
        if self.answers.done():
            return
        if isinstance(error, StoppedError) or not isinstance(error, Exception):
            what = "the question was stopped: somebody cancelled it, or the service is shutting down"
            error = RefusedError(503, what, "", "ask it again", why=RefusalReason.STOPPED)
        self.answers.set_exception(error)

    def stop(self) -> None:
        """End it at its next await; what is finished stays."""
        for task in self.tasks:
            task.cancel()

    def fail_if_cancelled(self, answering: "asyncio.Task[None]") -> None:
        """Fail if the task was cancelled: before its first step it cannot do so itself."""
        if answering.cancelled():
            self.fail(asyncio.CancelledError())


current_request: ContextVar[AwaitedRequest] = ContextVar("current_request")


async def answer_all(request: AskRequest) -> Answers:
    """Answer the questions from one snapshot, and hand all answers, or the error, to the waiting request."""
    asked = current_request.get(None) or AwaitedRequest()
    asked.begun.set_result(None)
    turn.set(asked.wait_for_turn)
    try:
        require_no_files(request.settings)
        async with aclosing(ask(with_own_files(read_locally(request)), asked.seat, flow_run.id or "")) as answers:
            async for answer in answers:
                asked.given.append(answer)
        shown = [answer_json(answer) for answer in asked.given]
    except BaseException as error:
        asked.fail(error)
        raise
    asked.answers.set_result(shown)
    return shown


def with_own_files(request: AskRequest) -> AskRequest:
    """Return the request with the weights and reranker of the service's own settings, if any."""
    own = load_settings(file).ask if request.preset == "default" and (file := settings_file()) else None
    files = {name: value for name in FILES if own and (value := getattr(own, name))}
    return request.model_copy(update={"settings": change_settings(request.settings, files)}) if files else request


@flow(
    name="ask",
    flow_run_name=name_asking_run,
    persist_result=True,
    result_serializer="json",
    result_storage=reports_folder(),
)
async def ask_deployed(request: AskRequest) -> Answers | State[None]:
    """Answer questions of one corpus, each by itself, and return the answers as `flowreader ask --json` shows them."""
    await tag_run(request.corpus, request.reader)
    try:
        return await answer_all(request)
    except StoppedError:
        return Cancelled(message=STOPPED)
    except (ExpectedError, OSError) as error:
        return Failed(message=str(error))


ask_over_http = flow(name="ask", persist_result=False, result_storage=reports_folder())(ask_deployed.fn)
"""The same for a request that waits in this process: its run already has name and tags, and nobody reads a result on disk."""


def find_still_shown(corpus: str, answer_ids: Sequence[str]) -> list[Answer]:
    """Return kept answers as `flowreader answers show` shows them now, without words of removed documents.

    A removed corpus has none.
    """
    shown = []
    with suppress(UnknownCorpusError), open_for_reading(corpus_location(corpus)) as snapshot:
        for answer_id in answer_ids:
            with suppress(UnknownError):
                shown.append(snapshot.answer(answer_id))
    return shown


# The storage is named although nothing is stored: to find its default Prefect would ask the server, and block the event loop.
@flow(name="ask-pages", persist_result=False, result_storage=reports_folder())
async def ask_pages(corpus: str, answers: list[str], run: UUID | None = None) -> None:
    """Write the reports and Prefect pages of kept answers; the pages belong to the run that answered."""
    made_for = run or UUID(flow_run.id)
    # A document may have been removed meanwhile: only what is still shown of an answer is written.
    shown = await asyncio.to_thread(find_still_shown, corpus, answers)
    for answer in shown:
        with log_failures(f"the page of the answer {answer.answer_id}"):
            await keep_answer_page(answer, flow_run_id=made_for)
