"""Answers questions in a process that stays, so that nothing is loaded anew: `PREFECT_API_URL=... python -m deployments.questions`.

Three ways lead in: the deployment `ask/ask` (the form in Prefect's UI, `run_deployment`), the task `answer`, and HTTP, which
`flowreader ask --server` uses and which calls that task. SIGTERM ends it in order.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from types import FrameType
from typing import Any
from uuid import UUID

import anyio.abc
import httpx
import uvicorn
from prefect import Flow
from prefect.client.orchestration import get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.client.schemas.objects import FlowRun
from prefect.events.clients import get_events_subscriber
from prefect.events.filters import EventFilter, EventNameFilter, EventRelatedFilter
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectAlreadyExists, ObjectNotFound
from prefect.flow_engine import run_flow_async
from prefect.settings import PREFECT_WORKER_QUERY_SECONDS, temporary_settings
from prefect.states import Cancelled, Crashed
from prefect.task_worker import TaskWorker
from prefect.workers.base import BaseJobConfiguration, BaseVariables, BaseWorker, BaseWorkerResult

from deployments.children import say_ready
from deployments.declared import declared_deployment
from deployments.front_door import web_app
from deployments.intake import Intake
from deployments.question_settings import listen, required_token, room
from flows.ask_deployed import AT_ONCE, answer, ask_deployed
from flows.cli.ask_server_commands import address
from flows.prefect_runs.interruption import end_all_work
from flows.prefect_runs.server import START_SECONDS, require_configured_server
from storage.errors import ExpectedError
from tasks.address import address_of
from tasks.asking.opening import warm_up_questions
from tasks.settings.environment import check_environment
from tasks.watching.json_log import LogFileError
from tasks.watching.watching import watched

STOPPED = "stopped; what was answered is kept"
LOOK_SECONDS = 1.0
"""A run that takes longer checks so often whether it was cancelled."""


class ResidentWorker(BaseWorker[BaseJobConfiguration, BaseVariables, BaseWorkerResult]):
    """Runs one flow, as often as its work pool asks for it; a run that is cancelled ends at its next await."""

    type = "flowreader-resident"
    job_configuration = BaseJobConfiguration
    job_configuration_variables = BaseVariables
    _description = "Answers questions in a process that stays: `python -m deployments.questions` starts it."
    _display_name = "FlowReader, resident"

    def __init__(self, flow: Flow[..., Any], *, work_pool_name: str, limit: int) -> None:
        super().__init__(work_pool_name=work_pool_name, limit=limit)
        self._flow = flow

    async def wake_up(self) -> None:
        """Take runs as soon as the server announces them: to ask for them that often would keep its database busy."""
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
        work = asyncio.ensure_future(
            run_flow_async(self._flow, flow_run=flow_run, parameters=flow_run.parameters, return_type="state")
        )
        if task_status is not None:
            task_status.started(1)
        try:
            while not (await asyncio.wait([work], timeout=LOOK_SECONDS))[0]:
                # Prefect signals the process of a run that is to end; here that process is this one, so that it gets none.
                if await self._is_to_end(flow_run.id):
                    work.cancel()
        finally:
            work.cancel()
        if work.cancelled():
            # Prefect calls a run that was cancelled from within crashed.
            await self.client.set_flow_run_state(flow_run.id, Cancelled(message=STOPPED), force=True)
        elif error := work.exception():
            await self.client.set_flow_run_state(flow_run.id, Crashed(message=f"{type(error).__name__}: {error}"), force=True)
        return BaseWorkerResult(status_code=0, identifier=str(flow_run.id))

    async def _is_to_end(self, flow_run_id: UUID) -> bool:
        try:
            run = await self.client.read_flow_run(flow_run_id)
        except (httpx.HTTPError, ObjectNotFound):
            return False
        return run.state is not None and run.state.is_cancelling()


SPARE_THREADS = 32
"""For questions at work and for pages, on top of a thread for each question whose object store hangs; asyncio has six."""

WARM_UP_SECONDS = 30.0
"""A corpus takes two; an object store that takes so long does not keep others from asking."""

POLL_SECONDS = 3.0
"""How often the server is asked for runs that it did not announce; each time costs its database two transactions."""

PAUSE_SECONDS = 1.0
POOL = "flowreader-questions"
PATIENCE_SECONDS = 8.0


def main() -> int:
    """Answer until SIGTERM; return 1 where the service cannot begin."""
    loop, stopping = asyncio.new_event_loop(), asyncio.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        cut = threading.Timer(PATIENCE_SECONDS, os._exit, [1])
        cut.daemon = True
        cut.start()
        end_all_work()
        loop.call_soon_threadsafe(stopping.set)

    logging.getLogger("prefect.task_runs").addFilter(WithoutTraceback())
    try:
        check_environment()
        host, port = address()
        listening, token = listen(host, port), required_token(host)
        require_configured_server(START_SECONDS)
        signal.signal(signal.SIGTERM, end)
        with watched(), ThreadPoolExecutor(max_workers=1) as other:
            # In the main thread Prefect and the web server would answer signals themselves.
            other.submit(loop.run_until_complete, serve(listening, token, stopping)).result()
    except (ExpectedError, LogFileError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


class WithoutTraceback(logging.Filter):
    """Has Prefect log a question that failed in one line: most are asked wrongly, and a traceback helps no user."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.exc_info = None
        return True


async def serve(listening: socket.socket, token: str, stopping: asyncio.Event) -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(room() + SPARE_THREADS, "questions"))
    async with get_client() as prefect:
        with suppress(ObjectAlreadyExists):
            await prefect.create_work_pool(WorkPoolCreate(name=POOL, type=ResidentWorker.type))
        await declared_deployment("ask").aapply(work_pool_name=POOL)
        await warmed_up()
        app = web_app(Intake(prefect, room=room()), token=token)
        web = uvicorn.Server(uvicorn.Config(app, log_level="warning", timeout_graceful_shutdown=1))
        ways = [
            asyncio.ensure_future(web.serve(sockets=[listening])),
            asyncio.ensure_future(staying("the worker of ask/ask", serve_runs)),
            asyncio.ensure_future(staying("the task worker", lambda: TaskWorker(answer, limit=None).astart())),
        ]
        say_ready("questions", f"http://{address_of(*listening.getsockname()[:2])}")
        await stopping.wait()
        web.should_exit = True
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)


async def warmed_up() -> None:
    """Load what the first questions need, but wait no longer than that; what hangs goes on in its thread."""
    done, _late = await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(warm_up_questions))], timeout=WARM_UP_SECONDS)
    for ended in done:
        ended.result()


async def serve_runs() -> None:
    with temporary_settings({PREFECT_WORKER_QUERY_SECONDS: POLL_SECONDS}):
        worker = ResidentWorker(ask_deployed, work_pool_name=POOL, limit=AT_ONCE)
        async with asyncio.TaskGroup() as both:
            both.create_task(worker.start(printer=lambda *_words: None))
            both.create_task(staying("the subscription to runs of ask/ask", worker.wake_up))


async def staying(name: str, work: Callable[[], Awaitable[None]]) -> None:
    """Have the work done for ever: a Prefect server that is gone for a while ends what listens to it."""
    while True:
        try:
            await work()
        except Exception as error:
            sys.stdout.write(f"{name} ended ({type(error).__name__}: {error}), and begins again\n")
            sys.stdout.flush()
        await asyncio.sleep(PAUSE_SECONDS)


if __name__ == "__main__":
    sys.exit(main())
