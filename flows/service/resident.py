"""Answers questions in a process that stays, so that nothing is loaded anew.

The deployment `ask/ask` (the form in Prefect's UI, `run_deployment`) and HTTP, which `flowreader ask --server` uses, lead to runs
of one flow in this process.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import NoReturn

import anyio.abc
import httpx
import uvicorn
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import FlowRun
from prefect.context import AsyncClientContext
from prefect.deployments.runner import RunnerDeployment
from prefect.events.clients import get_events_subscriber
from prefect.events.filters import EventFilter, EventNameFilter, EventRelatedFilter
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectAlreadyExists
from prefect.settings import PREFECT_WORKER_QUERY_SECONDS, temporary_settings
from prefect.workers.base import BaseJobConfiguration, BaseVariables, BaseWorker, BaseWorkerResult
from uvicorn.protocols.http.h11_impl import H11Protocol
from websockets.exceptions import WebSocketException

from flows.ask_deployed import AT_ONCE
from flows.prefect_runs.interruption import end_all_work, run_beside
from flows.prefect_runs.server import send_last_events
from flows.service.app import web_app
from flows.service.intake import Intake, say
from flows.service.listening import address, listen, required_token, room
from flows.service.runs_here import RunsHere
from storage.text import without_sign_in
from tasks.address import address_of
from tasks.asking.opening import warm_up_questions
from tasks.watching.watching import watch_events

SPARE_THREADS = 32
"""For questions at work and for pages, beside a thread for each question whose object store hangs; asyncio has six by default."""

WARM_UP_SECONDS = 30.0
"""A corpus takes two seconds; a slow object store does not keep others from asking."""

POLL_SECONDS = 3.0
"""How often the server is asked for runs that it did not announce; each time costs its database two transactions."""

PAUSE_SECONDS = 1.0
AGAIN_SECONDS = "0.2"
NEWS_SECONDS = 30.0
"""The same trouble is reported once, and again after this long without it."""

CUT_OFF = "Execution was cancelled by the runtime environment"
"""What Prefect says of a step whose run was cancelled."""

POOL = "flowreader-questions"
PATIENCE_SECONDS = 8.0
HEAD_SECONDS = 15.0
"""A client far away needs one or two for the head of its request."""


class PromptHead(H11Protocol):
    """A connection that closes when the head of a request is late; uvicorn would wait for ever."""

    late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override] # as uvicorn's
        super().connection_made(transport)
        self._expect_head()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._expect_head()

    def _expect_head(self) -> None:
        if self.cycle and not self.cycle.response_complete:
            if self.late:
                self.late.cancel()
            self.late = None
        elif not self.late:
            self.late = self.loop.call_later(HEAD_SECONDS, self.transport.close)


class ResidentWorker(BaseWorker[BaseJobConfiguration, BaseVariables, BaseWorkerResult]):
    """Answers the runs of its work pool in this process."""

    type = "flowreader-resident"
    job_configuration = BaseJobConfiguration
    job_configuration_variables = BaseVariables
    _description = "Answers questions in a process that stays: `flowreader serve` starts it."
    _display_name = "FlowReader, resident"

    def __init__(self, intake: Intake) -> None:
        super().__init__(work_pool_name=POOL, limit=AT_ONCE)
        self._intake = intake

    async def wake_up(self) -> None:
        """Take runs as soon as the server announces them: frequent polling would keep its database busy."""
        pool = ResourceSpecification({"prefect.resource.name": self._work_pool_name})
        name = EventNameFilter(name=["prefect.flow-run.Scheduled"])
        scheduled = EventFilter(event=name, related=EventRelatedFilter(labels=pool))
        async with get_events_subscriber(filter=scheduled) as events:
            async for _run in events:
                await self.get_and_submit_flow_runs()

    async def run(
        self,
        flow_run: FlowRun,
        configuration: BaseJobConfiguration,
        task_status: anyio.abc.TaskStatus[int] | None = None,
    ) -> BaseWorkerResult:
        answering = self._intake.runs.begin(self._intake.answer_run(flow_run))
        if task_status is not None:
            task_status.started(1)
        # The run itself reports its error.
        await asyncio.wait([answering])
        return BaseWorkerResult(status_code=0, identifier=str(flow_run.id))


def answer_until_ended(declared: RunnerDeployment, ready: Callable[[str], None], *, ending: signal.Signals) -> None:
    """Answer until the signal comes, which ends all work in order; `ready` is given the address.

    Prefect's server answers already. Raise RequestError or LogFileError where the service cannot begin.
    """
    loop, stopping = asyncio.new_event_loop(), asyncio.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        cut = threading.Timer(PATIENCE_SECONDS, os._exit, [1])
        cut.daemon = True
        cut.start()
        end_all_work()
        loop.call_soon_threadsafe(stopping.set)

    # A dozen lines a question, which the server would store: the run shows its tasks anyway.
    logging.getLogger("prefect.task_runs").setLevel(logging.WARNING)
    # A step whose question was stopped has not crashed.
    for name in ("prefect.engine", "prefect.flow_runs", "prefect.task_runs"):
        logging.getLogger(name).addFilter(lambda record: CUT_OFF not in record.getMessage())
    host, port = address()
    listening, token = listen(host, port), required_token(host)
    signal.signal(ending, end)
    with watch_events():
        # In the main thread Prefect and the web server would answer signals themselves.
        run_beside(lambda: loop.run_until_complete(serve(listening, token, stopping, declared, ready)))
        send_last_events()


def exit_now() -> NoReturn:
    """End the process, now that all work has ended: DuckDB would complain at length about questions that were cut off."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(0)


async def serve(
    listening: socket.socket,
    token: str,
    stopping: asyncio.Event,
    declared: RunnerDeployment,
    ready: Callable[[str], None],
) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(room() + SPARE_THREADS, "questions"))
    address = address_of(*listening.getsockname()[:2])
    # One client for all runs: each client opens its own connections, and asks the server for its version.
    async with AsyncClientContext() as prefect:
        # With a hook in its settings Prefect would not recognise this client, and make one for every task.
        prefect.client._client.event_hooks["response"].append(ask_again_soon)
        with suppress(ObjectAlreadyExists):
            await prefect.client.create_work_pool(WorkPoolCreate(name=POOL, type=ResidentWorker.type))
        deployment = await declared.aapply(work_pool_name=POOL)
        runs = RunsHere(prefect.client, f"{socket.gethostname()} {address}")
        await runs.end_what_was_killed()
        await warm_up()
        intake = Intake(runs, deployment, room())
        app = web_app(intake, token=token)
        web = uvicorn.Server(uvicorn.Config(app, http=PromptHead, log_level="warning", timeout_graceful_shutdown=1))
        services = [
            asyncio.ensure_future(web.serve(sockets=[listening])),
            asyncio.ensure_future(keep_running("the worker of ask/ask", lambda: serve_runs(intake))),
            asyncio.ensure_future(keep_running("the making of pages", intake.make_pages)),
        ]
        ready(f"http://{address}")
        await stopping.wait()
        await asyncio.gather(runs.end(), app.state.ingests.end())
        if lost := sum(len(each.answers) for each in intake.unmade):
            say(f"{lost:,} answers have no page yet; they are kept, and `flowreader report` makes a report of each")
        web.should_exit = True
        for each in services:
            each.cancel()
        await asyncio.wait(services)


async def ask_again_soon(response: httpx.Response) -> None:
    """Make Prefect's client retry soon after 503, which a foreign server on SQLite sends to a second writer: it would wait 2 s."""
    if response.status_code == httpx.codes.SERVICE_UNAVAILABLE:
        response.headers.setdefault("Retry-After", AGAIN_SECONDS)


async def warm_up() -> None:
    """Load what the first questions need; after WARM_UP_SECONDS, leave it to its thread."""
    done, _late = await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(warm_up_questions))], timeout=WARM_UP_SECONDS)
    for ended in done:
        ended.result()


async def serve_runs(intake: Intake) -> None:
    with temporary_settings({PREFECT_WORKER_QUERY_SECONDS: POLL_SECONDS}):
        worker = ResidentWorker(intake)
        async with asyncio.TaskGroup() as both:
            both.create_task(worker.start(printer=lambda *_words: None))
            both.create_task(keep_running("the listener for runs of ask/ask", worker.wake_up))


async def keep_running(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Repeat the work for ever: it ends whenever Prefect's server is down for a while."""
    said = ""
    while True:
        began = time.monotonic()
        try:
            await work()
        except Exception as error:
            words = describe_error(error)
            if words != said or time.monotonic() - began > NEWS_SECONDS:
                say(f"{name} stopped: {words}; it tries again until it can go on")
            said = words
        await asyncio.sleep(PAUSE_SECONDS)


def describe_error(error: BaseException) -> str:
    """Return what went wrong, from a group of errors the first single one."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    kind = type(error).__name__
    if isinstance(error, httpx.TransportError | ConnectionError | WebSocketException | TimeoutError):
        return f"Prefect's server is not there ({kind})"
    return without_sign_in(f"{kind}: {error}")
