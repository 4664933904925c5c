"""Answers questions in a process that stays, so that nothing is loaded anew: `PREFECT_API_URL=... python -m deployments.questions`.

Three ways lead in: the deployment `ask/ask` (the form in Prefect's UI, `run_deployment`), the task `answer`, and HTTP, which
`flowreader ask --server` uses and which calls that task. SIGTERM ends it in order.
"""

from __future__ import annotations

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

import uvicorn
from prefect.client.orchestration import PrefectClient, get_client
from prefect.client.schemas.actions import WorkPoolCreate
from prefect.exceptions import ObjectAlreadyExists
from prefect.settings import PREFECT_WORKER_QUERY_SECONDS, temporary_settings
from prefect.task_worker import TaskWorker

from deployments.declared import declared_deployment
from deployments.front_door import LOOPBACK, FrontDoor, web_app
from deployments.resident_worker import ResidentWorker
from flows.ask_run import ask_deployed
from flows.ask_service import address
from flows.ask_task import AT_ONCE, answer
from flows.interruption import end_all_work
from tasks.json_log import LogFileError
from tasks.metrics_endpoint import MetricsError
from tasks.warming import warm_up_questions
from tasks.watching import watched

USUAL_ROOM, MOST_ROOM = 64, 512
"""Questions inside, those that wait included. The last waits for seconds then; more of them would rather hear that than wait. Each
may keep a thread while its corpus is fetched: more than a process should have."""

SPARE_THREADS = 32
"""For those who are answered, and for pages, besides a thread for each question whose object store hangs; asyncio has six."""

WARM_UP_SECONDS = 30.0
"""A corpus takes two; who waits so long for an object store keeps nobody else from asking."""

POLL_SECONDS = 3.0
"""How often the server is asked for runs that it did not tell of; each time costs its database two transactions."""

PAUSE_SECONDS = 1.0
POOL = "flowreader-questions"
PATIENCE_SECONDS = 8.0


class ServiceError(RuntimeError):
    """The query service cannot be where it is wanted; the message says why and what to do."""


def main() -> int:
    """Answer until SIGTERM; return 1 where the service cannot begin."""
    loop, stopping = asyncio.new_event_loop(), asyncio.Event()

    def end(_number: int, _frame: FrameType | None) -> None:
        cut = threading.Timer(PATIENCE_SECONDS, os._exit, [1])
        cut.daemon = True
        cut.start()
        end_all_work()
        loop.call_soon_threadsafe(stopping.set)

    signal.signal(signal.SIGTERM, end)
    logging.getLogger("prefect.task_runs").addFilter(WithoutTraceback())
    try:
        listening, token = listen(*address()), required_token(address()[0])
        with watched(), ThreadPoolExecutor(max_workers=1) as beside:
            # In the main thread Prefect and the web server would answer signals themselves.
            beside.submit(loop.run_until_complete, serve(listening, token, stopping)).result()
    except (ServiceError, LogFileError, MetricsError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


class WithoutTraceback(logging.Filter):
    """Has Prefect tell of a question that failed in a line: most are asked wrongly, and their lines of code help nobody."""

    def filter(self, record: logging.LogRecord) -> bool:
        """Take the traceback from the record, and let it pass."""
        record.exc_info = None
        return True


async def serve(listening: socket.socket, token: str, stopping: asyncio.Event) -> None:
    """Open the three ways in, and answer until it is to stop."""
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(room() + SPARE_THREADS, "beside"))
    async with get_client() as prefect:
        await make_pool(prefect)
        await declared_deployment("ask").aapply(work_pool_name=POOL)
        await warmed_up()
        door = FrontDoor(prefect, room=room(), token=token)
        web = uvicorn.Server(uvicorn.Config(web_app(door), log_level="warning", timeout_graceful_shutdown=1))
        ways = [
            asyncio.ensure_future(web.serve(sockets=[listening])),
            asyncio.ensure_future(staying("who does the runs of ask/ask", serve_runs)),
            asyncio.ensure_future(staying("who does the task", lambda: TaskWorker(answer, limit=None).astart())),
        ]
        host, port = listening.getsockname()[:2]
        say(f"questions: http://{host}:{port}")
        await stopping.wait()
        web.should_exit = True
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)


async def warmed_up() -> None:
    """Load what the first questions need, but wait no longer than that; what hangs goes on beside."""
    done, _late = await asyncio.wait([asyncio.ensure_future(asyncio.to_thread(warm_up_questions))], timeout=WARM_UP_SECONDS)
    for ended in done:
        ended.result()


async def make_pool(prefect: PrefectClient) -> None:
    """Make the work pool of questions, where there is none of that name."""
    with suppress(ObjectAlreadyExists):
        await prefect.create_work_pool(WorkPoolCreate(name=POOL, type=ResidentWorker.type))


async def serve_runs() -> None:
    """Do the runs of the deployment, as soon as the server tells of them."""
    with temporary_settings({PREFECT_WORKER_QUERY_SECONDS: POLL_SECONDS}):
        worker = ResidentWorker(ask_deployed, work_pool_name=POOL, limit=AT_ONCE)
        async with asyncio.TaskGroup() as both:
            both.create_task(worker.start(printer=lambda *_words: None))
            both.create_task(staying("who hears of runs of ask/ask", worker.wake_up))


async def staying(who: str, work: Callable[[], Awaitable[None]]) -> None:
    """Have the work done for ever: a Prefect server that is gone for a while ends what listens to it."""
    while True:
        try:
            await work()
        except Exception as error:
            say(f"{who} ended ({type(error).__name__}: {error}), and begins again")
        await asyncio.sleep(PAUSE_SECONDS)


def say(line: str) -> None:
    """Tell who watches the process."""
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens; raise ServiceError where the address is taken or none of this machine."""
    try:
        return socket.create_server((host, port), backlog=256)
    except (OSError, OverflowError) as error:
        raise ServiceError(
            f"the query service cannot listen on {f'{host}:{port}'!r} ({error}); set FLOWREADER_ASK_ADDRESS to another HOST:PORT"
        ) from error


def required_token(host: str) -> str:
    """Return the token that questions must bring, "" for none; raise ServiceError where one is needed."""
    token = os.environ.get("FLOWREADER_ASK_TOKEN", "")
    if not token and host not in LOOPBACK:
        raise ServiceError(
            f"the query service is to listen on {host!r}, where others may ask; set FLOWREADER_ASK_TOKEN to a secret, "
            "or FLOWREADER_ASK_ADDRESS to 127.0.0.1:4280"
        )
    return token


def room() -> int:
    """Return how many questions may be inside at once, 1 to MOST_ROOM; raise ServiceError for what is none of these numbers."""
    named = os.environ.get("FLOWREADER_ASK_QUEUE", str(USUAL_ROOM))
    if not named.isdecimal() or not 1 <= int(named) <= MOST_ROOM:
        raise ServiceError(f"FLOWREADER_ASK_QUEUE is {named!r}; set it to a number of questions, 1 to {MOST_ROOM}")
    return int(named)


if __name__ == "__main__":
    sys.exit(main())
