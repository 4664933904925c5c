"""Takes questions in, a bounded number at a time, and answers each in a run of the flow `ask` in this process; pages come after."""

import asyncio
import sys
import time
from collections import deque
from collections.abc import Awaitable, Callable
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar
from uuid import UUID

import httpx
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Crashed

from flows.ask_deployed import (
    Answers,
    AwaitedRequest,
    answer_all,
    ask_deployed,
    ask_over_http,
    ask_pages,
    current_request,
    find_still_shown,
    with_own_files,
)
from flows.prefect_runs.labels import name_first
from flows.service.runs_here import RunsHere, shorten_error, state_after
from flows.service.search import Found, search
from storage.text import without_sign_in
from tasks.asking.request import AskRequest, require_no_files
from tasks.events import QueueSeen, RefusalReason, emit
from tasks.report.write import keep_report
from tasks.views.checks import VerificationView, view_verification
from tasks.views.errors import RefusedError

RETRY_SECONDS = 5
BEGIN_SECONDS = 5.0
"""A question whose run has not begun by then is answered without it; its wait counts from when another began, if later."""

AT_A_TIME = 2
"""Runs that begin side by side: with all at once, the first would wait for the last."""

SEARCHES = 2
"""At a time: they compute without a pause, and questions wait for them."""

LOOK_SECONDS, QUIET_SECONDS = 0.05, 1.0
PAGES_WAIT_SECONDS = 20.0
"""While questions keep coming, pages of answers wait this long at most."""

UNSEEN = "answered without Prefect, whose UI does not show this question: the server at {server} {why}"
LATE = f"did not let its run begin in {BEGIN_SECONDS:.0f} s"


T = TypeVar("T")


class PagesToMake(NamedTuple):
    """Answers of one request that have no pages yet, and the run that they stand with."""

    corpus: str
    name: str
    answers: list[str]
    run_id: UUID | None


def make_impatient_context() -> Context:
    """Return a context in which Prefect's client does not try for a minute to reach a server that is gone."""
    with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
        return copy_context()


@dataclass
class Intake:
    """Takes questions in: `room` of them are being answered or wait at any time."""

    runs: RunsHere
    deployment: UUID
    room: int
    waiting: dict[str, AwaitedRequest] = field(default_factory=dict)
    unmade: deque[PagesToMake] = field(default_factory=deque)
    answered: asyncio.Event = field(default_factory=asyncio.Event)
    turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_A_TIME))
    searching: set["asyncio.Future[Any]"] = field(default_factory=set)
    searches: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(SEARCHES))
    impatient: Context = field(default_factory=make_impatient_context)
    last_begun: float = 0.0

    async def ask(self, request: AskRequest) -> Answers:
        """Return the answers; raise what `take_in` raises, or what the question does."""
        return await self.take_in(request).wait_for_answers()

    def take_in(self, request: AskRequest) -> AwaitedRequest:
        """Begin with what is asked, and return what to wait for; raise RefusedError where there is no room or the service ends.

        It goes on when nobody waits for it any more, within the bounds of `AwaitedRequest`, and its answers are kept.
        """
        require_no_files(request.settings)
        asked = self._enter(request)
        asked.answers.add_done_callback(lambda _done: self._leave(asked))
        answering = self.runs.begin(self._answer(request, asked))
        asked.tasks.append(answering)
        answering.add_done_callback(asked.fail_if_cancelled)
        return asked

    async def search(self, request: AskRequest, start: int, limit: int) -> Found:
        """Return what the search finds; raise what `_look` raises."""
        own = with_own_files(request)
        return await self._look(own, lambda: search(own, start, limit))

    async def verify(self, text: str, corpus: str) -> VerificationView:
        """Return what of a text stands in a corpus; raise what `_look` raises."""
        return await self._look(None, lambda: asyncio.to_thread(view_verification, text, corpus))

    async def _look(self, request: AskRequest | None, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of work that takes the place of a question; raise what `take_in` or the work raises."""
        # It computes to its end even if the client is gone, and keeps its place until then.
        searching = asyncio.ensure_future(self._look_in_turn(request, work))
        self.searching.add(searching)
        searching.add_done_callback(self.searching.discard)
        searching.add_done_callback(lambda done: done.cancelled() or done.exception())
        return await asyncio.shield(searching)

    async def _look_in_turn(self, request: AskRequest | None, work: Callable[[], Awaitable[T]]) -> T:
        looking = self._enter(request)
        try:
            with looking.count_waiter():
                async with self.searches, looking.seat():
                    return await work()
        finally:
            looking.answers.cancel()
            self._leave(looking)

    def _enter(self, request: AskRequest | None) -> AwaitedRequest:
        """Give a place; where none is free, take that of the first question that nobody waits for."""
        if self.runs.ending:
            what = "the query service takes no more questions: it is shutting down"
            raise RefusedError(503, what, "", "ask again when the service is up", why=RefusalReason.STOPPED)
        if len(self.waiting) >= self.room:
            left = next((asked for asked in self.waiting.values() if asked.is_left and not asked.shares(request)), None)
            if left is None:
                raise full_error(self.room)
            left.stop()
            del self.waiting[left.id]
        asked = AwaitedRequest(request, self.waiting.values())
        self.waiting[asked.id] = asked
        emit(QueueSeen(len(self.waiting)))
        return asked

    def stop(self, question_id: str) -> None:
        """End the question where it waits or is being answered."""
        if asked := self.waiting.get(question_id):
            asked.stop()

    def _leave(self, asked: AwaitedRequest) -> None:
        self.waiting.pop(asked.id, None)
        emit(QueueSeen(len(self.waiting)))
        self._queue_pages(asked)

    def _queue_pages(self, asked: AwaitedRequest) -> None:
        if asked.given:
            name = name_first([answer.question for answer in asked.given])
            ids = [answer.answer_id for answer in asked.given]
            self.unmade.append(PagesToMake(asked.given[0].corpus, name, ids, asked.run_id))
            self.answered.set()

    async def _answer(self, request: AskRequest, asked: AwaitedRequest) -> None:
        """Answer in a run of the flow; where Prefect's server does not let it begin, without one: the answer is what counts."""
        try:
            if why := await self._why_unseen(request, asked):
                asked.note = UNSEEN.format(server=without_sign_in(str(self.runs.prefect.api_url)), why=why)
                say(asked.note)
                current_request.set(asked)
                await answer_all(request)
        except BaseException as error:
            asked.fail(error)
            raise

    async def _why_unseen(self, request: AskRequest, asked: AwaitedRequest) -> str:
        """Begin the question's run in its turn; return "" once the question is being answered in it, else the reason."""
        came = time.monotonic()
        async with self.turns:
            left = max(came, self.last_begun) + BEGIN_SECONDS - time.monotonic()
            if left <= 0:
                return LATE
            in_a_run = self.runs.begin(self._answer_in_a_run(request, asked))
            asked.tasks.append(in_a_run)
            await asyncio.wait([in_a_run, asked.begun], timeout=left, return_when=asyncio.FIRST_COMPLETED)
        if asked.begun.done():
            self.last_begun = time.monotonic()
            return ""
        in_a_run.cancel()
        return explain_late_run(in_a_run)

    async def _answer_in_a_run(self, request: AskRequest, asked: AwaitedRequest) -> None:
        run = await self._create_patiently(request, asked)
        asked.run_id = run.id
        await self.runs.run(ask_over_http, run, {"request": request}, asked)

    async def _create_patiently(self, request: AskRequest, asked: AwaitedRequest) -> FlowRun:
        while True:
            try:
                return await self._create(request, asked)
            except PrefectHTTPStatusError as error:
                # SQLite under a server that is not ours refuses one of two writers; Prefect's client has waited a moment.
                if error.response.status_code != httpx.codes.SERVICE_UNAVAILABLE:
                    raise

    async def _create(self, request: AskRequest, asked: AwaitedRequest) -> FlowRun:
        creating = asyncio.get_running_loop().create_task(
            self.runs.create_run(
                ask_deployed,
                deployment_id=self.deployment,
                # Settings are in lineage.
                parameters={"request": request.model_dump(mode="json", exclude_unset=True, exclude={"settings"})},
                name=name_first(request.questions),
                tags=[request.corpus, request.reader],
            ),
            context=self.impatient.copy(),
        )
        try:
            return await asyncio.shield(creating)
        except asyncio.CancelledError:
            self.runs.begin(self._settle_called_off(creating, asked))
            raise

    async def _settle_called_off(self, creating: "asyncio.Future[FlowRun]", asked: AwaitedRequest) -> None:
        """Settle the run that a slow server creates after all."""
        self.runs.settle((await creating).id, state_after(None, asked))

    async def answer_run(self, run: FlowRun) -> None:
        """Answer a run that the form or `run_deployment` asked for."""
        asked = AwaitedRequest(others=self.waiting.values())
        asked.run_id = run.id
        self.waiting[asked.id] = asked
        try:
            await self.runs.prefect.update_flow_run_labels(run.id, self.runs.labels)
        except Exception as error:
            self.runs.settle(run.id, Crashed(message=f"the query service could not begin this run: {shorten_error(error)}"))
            del self.waiting[asked.id]
            return
        try:
            with asked.count_waiter():
                await self.runs.run(ask_deployed, run, run.parameters, asked)
        finally:
            self._leave(asked)

    async def make_pages(self) -> None:
        """Make the pages of what was answered, one request after another, when no question waits."""
        while True:
            await self.answered.wait()
            await self._idle()
            for _request in range(len(self.unmade)):
                try:
                    await asyncio.shield(self.runs.begin(self._make_pages(self.unmade[0])))
                finally:
                    # What the end of the service cut off stays: it is counted there.
                    if not self.runs.ending:
                        self.unmade.popleft()
            if not self.unmade:
                self.answered.clear()

    async def _idle(self) -> None:
        """Return once nothing has waited for QUIET_SECONDS, or after PAGES_WAIT_SECONDS."""
        patience, quiet = time.monotonic() + PAGES_WAIT_SECONDS, 0.0
        while quiet < QUIET_SECONDS and time.monotonic() < patience:
            await asyncio.sleep(LOOK_SECONDS)
            quiet = 0.0 if self.waiting else quiet + LOOK_SECONDS

    async def _make_pages(self, of: PagesToMake) -> None:
        corpus, ids, lost = of.corpus, of.answers, ", ".join(of.answers)
        try:
            parameters = {"corpus": corpus, "answers": ids, "run": of.run_id and str(of.run_id)}
            run = await self.runs.create_run(ask_pages, name=f"pages of {of.name}", parameters=parameters, tags=[corpus])
            state = await self.runs.run(ask_pages, run, parameters)
            if state and not state.is_completed():
                say(without_sign_in(f"the pages of {lost} were not made ({state.message}); `flowreader report` makes them"))
        except (httpx.HTTPError, PrefectHTTPStatusError) as error:
            kind = type(error).__name__
            say(f"the pages of {lost} did not reach Prefect's server ({kind}); their reports are on the disk")
            for answer in await asyncio.to_thread(find_still_shown, corpus, ids):
                await asyncio.to_thread(keep_report, answer)


def full_error(room: int) -> RefusedError:
    what = f"the query service is full: {room} questions are being answered or waiting"
    remedy = f"ask again in {RETRY_SECONDS} seconds; FLOWREADER_ASK_QUEUE lets more wait"
    return RefusedError(503, what, str(room), remedy, why=RefusalReason.FULL, headers={"Retry-After": str(RETRY_SECONDS)})


def explain_late_run(in_a_run: "asyncio.Task[None]") -> str:
    """Return why the run did not begin; raise CancelledError where it was cancelled."""
    if not in_a_run.done():
        return LATE
    error = in_a_run.exception()
    if not isinstance(error, Exception):
        raise asyncio.CancelledError
    return f"took no run ({type(error).__name__})"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
