"""Takes questions in, so many at a time, and answers each in a run of the flow `ask` in this process; their pages come after."""

import asyncio
import sys
import time
from dataclasses import dataclass, field
from uuid import UUID

import httpx
from prefect.client.schemas.objects import FlowRun
from prefect.exceptions import PrefectHTTPStatusError
from prefect.settings import PREFECT_CLIENT_MAX_RETRIES, temporary_settings
from prefect.states import Pending

from deployments.runs_here import RunsHere
from flows.ask_deployed import (
    Answers,
    Asked,
    answers_of,
    ask_deployed,
    ask_over_http,
    ask_pages,
    asked_here,
    still_shown,
)
from flows.display.output import CommandError
from flows.prefect_runs.labels import first_of
from storage.codec import without_sign_in
from storage.records.answers import Answer
from tasks.asking.request import AskRequest
from tasks.events import QueueSeen, emit
from tasks.report.write import keep_report

RETRY_SECONDS = 5
BEGIN_SECONDS = 10.0
"""Where Prefect's server has not let a run begin by then, the question is answered without it."""

PATIENCE_SECONDS = (0.25, 0.5, 1.0, 2.0)
"""Between tries to create a run: SQLite under the server takes one writer, and refuses some where many come at once."""

LOOK_SECONDS, QUIET_SECONDS = 0.05, 1.0
PAGES_WAIT_SECONDS = 120.0
"""Where questions keep coming, the pages of those that were answered are made in between."""


UNSEEN = "answered without Prefect, whose UI does not show this question: the server at {server} {why}"


class FullError(CommandError):
    """No more questions are taken in for a moment."""

    def __init__(self, room: int) -> None:
        super().__init__(
            "the query service is full: so many questions are being answered or wait already",
            str(room),
            f"ask again in {RETRY_SECONDS} seconds; FLOWREADER_ASK_QUEUE lets more wait",
        )


@dataclass(frozen=True)
class Intake:
    """Takes questions in: `room` of them are being answered or wait at any time."""

    runs: RunsHere
    deployment: UUID
    room: int
    waiting: set[Asked] = field(default_factory=set)
    unmade: asyncio.Queue[tuple[list[Answer], UUID | None]] = field(default_factory=asyncio.Queue)
    creating: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask(self, request: AskRequest) -> Answers:
        """Return the answers; raise CommandError where there is no room, else what the question raises.

        It goes on, and its answers are kept, where who waits for it is gone.
        """
        if len(self.waiting) >= self.room:
            raise FullError(self.room)
        asked = Asked()
        self.waiting.add(asked)
        emit(QueueSeen(len(self.waiting)))
        asked.answers.add_done_callback(lambda _done: self._leave(asked))
        self.runs.begin(self._answer(request, asked))
        answers = await asyncio.shield(asked.answers)
        return [one | {"notes": [*one["notes"], asked.note]} for one in answers] if asked.note else answers

    def _leave(self, asked: Asked) -> None:
        self.waiting.discard(asked)
        emit(QueueSeen(len(self.waiting)))

    async def _answer(self, request: AskRequest, asked: Asked) -> None:
        """Answer in a run of the flow; where Prefect's server lets none begin, without one: the answer is what counts."""
        in_a_run = self.runs.begin(self._answer_in_a_run(request, asked))
        try:
            await asyncio.wait([in_a_run, asked.begun], timeout=BEGIN_SECONDS, return_when=asyncio.FIRST_COMPLETED)
            if asked.begun.done():
                return
            in_a_run.cancel()
            asked.note = UNSEEN.format(server=without_sign_in(str(self.runs.prefect.api_url)), why=why_unseen(in_a_run))
            say(asked.note)
            asked_here.set(asked)
            await answers_of(request)
            self.unmade.put_nowait((asked.given, None))
        except BaseException as error:
            asked.fail(error)
            raise

    async def _answer_in_a_run(self, request: AskRequest, asked: Asked) -> None:
        run = await self._created(request)
        try:
            await self.runs.run(ask_over_http, run, {"request": request}, asked)
        finally:
            self.unmade.put_nowait((asked.given, run.id))

    async def _created(self, request: AskRequest) -> FlowRun:
        """Create the run, with all that it is to have: each request to the server costs SQLite a transaction."""
        # Prefect would try for a minute to reach a server that is gone.
        with temporary_settings({PREFECT_CLIENT_MAX_RETRIES: 0}):
            for patience in (*PATIENCE_SECONDS, None):
                try:
                    async with self.creating:
                        return await self.runs.prefect.create_flow_run_from_deployment(
                            self.deployment,
                            parameters={"request": request.model_dump(mode="json", exclude_unset=True)},
                            name=first_of(request.questions),
                            tags=[request.corpus, request.reader],
                            labels=self.runs.labels,
                            state=Pending(),
                        )
                except PrefectHTTPStatusError:
                    if patience is None:
                        raise
                    await asyncio.sleep(patience)
        raise AssertionError("the last try returns or raises")

    async def answer_run(self, run: FlowRun) -> None:
        """Answer a run that the form or `run_deployment` asked for."""
        asked = Asked()
        try:
            await self.runs.prefect.update_flow_run_labels(run.id, self.runs.labels)
            await self.runs.run(ask_deployed, run, run.parameters, asked)
        finally:
            self.unmade.put_nowait((asked.given, run.id))

    async def make_pages(self) -> None:
        """Make the pages of what was answered, one request after another, while no question waits."""
        while True:
            given, run_id = await self.unmade.get()
            await self._idle()
            if given:
                await asyncio.shield(self.runs.begin(self._make_pages(given, run_id)))

    async def _idle(self) -> None:
        """Return when nothing has waited for a while, or after long."""
        patience, quiet = time.monotonic() + PAGES_WAIT_SECONDS, 0.0
        while quiet < QUIET_SECONDS and time.monotonic() < patience:
            await asyncio.sleep(LOOK_SECONDS)
            quiet = 0.0 if self.waiting else quiet + LOOK_SECONDS

    async def _make_pages(self, given: list[Answer], run_id: UUID | None) -> None:
        prefect, corpus, ids = self.runs.prefect, given[0].corpus, [answer.answer_id for answer in given]
        try:
            parameters = {"corpus": corpus, "answers": ids, "run": run_id and str(run_id)}
            name = f"pages of {first_of([answer.question for answer in given])}"
            run = await prefect.create_flow_run(ask_pages, name=name, parameters=parameters, tags=[corpus])
            await prefect.update_flow_run_labels(run.id, self.runs.labels)
            await self.runs.run(ask_pages, run, parameters)
        except (httpx.HTTPError, PrefectHTTPStatusError) as error:
            lost, kind = ", ".join(ids), type(error).__name__
            say(f"the pages of {lost} did not reach Prefect's server ({kind}); their reports are on the disk")
            for answer in await asyncio.to_thread(still_shown, corpus, ids):
                await asyncio.to_thread(keep_report, answer)


def why_unseen(in_a_run: "asyncio.Task[None]") -> str:
    """Return why no run began, in words; raise CancelledError where its run was cancelled before."""
    if not in_a_run.done():
        return f"let no run begin in {BEGIN_SECONDS:.0f} s"
    error = in_a_run.exception()
    if not isinstance(error, Exception):
        raise asyncio.CancelledError
    return f"took no run ({type(error).__name__})"


def say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
