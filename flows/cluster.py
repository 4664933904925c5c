"""The Dask cluster that `work.runner` names: one that is there, or one on this machine for the time of a run."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import logging
import os
import signal
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from multiprocessing import resource_tracker
from pathlib import Path
from typing import TYPE_CHECKING, Any

from flows.document_graph import make_graph, read_pages
from storage.records.documents import EmbedderIdentity
from storage.runs.log import RunLog
from tasks.finding.plan import DocumentWork
from tasks.ingest.cluster_jobs import Account, ClusterJob, WorkersError, require_remembered, require_same_installation
from tasks.ingest.keys import IngestTools
from tasks.lineage.writing import working_at, workplace_of
from tasks.models.embedding.embedder import unopened_embedders
from tasks.progress import StoppedError, stop_requested
from tasks.settings.ingest import IngestSettings, WorkSettings
from tasks.step import Chain, Workplace, chain, chain_steps

if TYPE_CHECKING:
    from prefect.client.schemas.objects import State
    from prefect.task_runners import TaskRunner

POLL_SECONDS = 0.2
"""How often a request to stop is looked for."""


@dataclass(frozen=True, slots=True)
class Workers:
    """A cluster at work for a run: what all its jobs share, and where their steps are recorded."""

    runner: TaskRunner[Any]
    settings: IngestSettings
    embedder: EmbedderIdentity
    reader: str
    place: Workplace

    async def read(self, work: DocumentWork) -> None:
        """Have the document read up to artifacts; raise what ended it, or WorkersError where nothing of it is found here."""
        account = await self._account(work)
        if account.error:
            raise account.error
        require_remembered(account, self.place.memo)

    async def _account(self, work: DocumentWork) -> Account:
        """Send the job and wait for its account; record the steps that it lists."""
        cluster_job = ClusterJob(work, self.settings.model_dump_json(), self.embedder, self.reader, self.place.run_id)
        account = await _done_elsewhere(self.runner, cluster_job)
        for record in account.steps:
            self.place.note(record)
        chain.get(Chain()).last = account.task_runs
        return account


async def _done_elsewhere(runner: TaskRunner[Any], cluster_job: ClusterJob) -> Account:
    """Return the account of a job; raise StoppedError as soon as the user asks for the end."""
    from prefect import task
    from prefect.cache_policies import NO_CACHE

    # A Prefect task may not be named by its arguments here: these hold the document's password.
    name = f"read {cluster_job.work.name}".replace("{", "(").replace("}", ")")
    sent = task(name="read", task_run_name=name, persist_result=False, cache_policy=NO_CACHE)(do_cluster_job)
    done, loop = asyncio.Event(), asyncio.get_running_loop()
    future = runner.submit(sent, parameters={"cluster_job": cluster_job})
    future.add_done_callback(lambda _future: loop.call_soon_threadsafe(done.set))
    while not done.is_set():
        if stop_requested():
            raise StoppedError
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(done.wait(), POLL_SECONDS)
    result = await asyncio.to_thread(future.result, raise_on_failure=False)
    if isinstance(result, Exception):
        raise result
    account: Account = result
    return account


def do_cluster_job(cluster_job: ClusterJob) -> Account | State[Account]:
    """Do it in a process of the cluster, as the body of a Prefect task; return the account of what was done.

    It is the data of a failed state where the document could not be read.
    """
    from prefect.states import Failed

    account = read_apart(cluster_job)
    return Failed(message=str(account.error), data=account) if account.error else account


def read_apart(cluster_job: ClusterJob) -> Account:
    """Do all steps of a document that ask no chat model: that has a budget, which the run's own process keeps."""
    settings = IngestSettings.model_validate_json(cluster_job.settings)
    # Held and never released: the lines are the driver's to write, which numbers them.
    place = workplace_of(cluster_job.run_id, RunLog(Path(os.devnull)).holding())
    embedder, second = unopened_embedders(cluster_job.embedder, settings.models)
    tools = IngestTools(settings=settings, artifacts=place.artifacts, embedder=embedder, second=second)
    error = None
    with working_at(place) as steps, chain_steps() as own:
        try:
            require_same_installation(cluster_job, settings)
            asks_model = settings.reading.analysis.asks_model
            asyncio.run((read_pages if asks_model else make_graph)(cluster_job.work, tools))
        except Exception as problem:
            error = problem
    return Account(tuple(steps), error, own.last)


CONNECT_SECONDS = 5
"""A scheduler that the user named is there, or it is not."""


def require_runner(work: WorkSettings) -> None:
    """Raise WorkersError, within seconds, where the chosen runner is not installed or nothing listens at its address."""
    if work.runner == "local":
        return
    if importlib.util.find_spec("prefect_dask") is None:
        raise WorkersError(
            'work.runner = "dask" needs the package prefect-dask',
            remedy='run `pip install "flowreader[dask]"`, or set work.runner = "local"',
        )
    if not work.runner_address:
        return
    host, _, port = work.runner_address.rpartition("://")[2].rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=CONNECT_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise _no_cluster(work, str(error)) from error


@contextlib.contextmanager
def runner_at_work(work: WorkSettings) -> Iterator[TaskRunner[Any] | None]:
    """Give the chosen runner with its cluster, which ends with the block unless it was there before; None for this process."""
    require_runner(work)
    if work.runner == "local":
        yield None
        return
    from prefect_dask.task_runners import DaskTaskRunner

    # A lost process shows in the state of the document that it had; the rest would fill the terminal.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    # Encrypted with a certificate made for the run: any client that can reach a scheduler can have it run anything.
    here = {
        "n_workers": work.runner_processes,
        "threads_per_worker": 1,
        "memory_limit": 0,
        "security": True,
        "dashboard_address": "127.0.0.1:0",
        "silence_logs": logging.CRITICAL,
    }
    asked: dict[str, Any] = {"address": work.runner_address} if work.runner_address else {"cluster_kwargs": here}
    with DaskTaskRunner(**asked, client_kwargs={"timeout": CONNECT_SECONDS}) as runner:
        try:
            # The cluster starts, or is looked for, when it is first asked for.
            _deaf_to_ctrl_c(lambda: runner.client)
        except (OSError, TypeError) as error:
            # Of a certificate that is wanted and not configured, distributed makes a TypeError.
            raise _no_cluster(work, str(error)) from error
        yield runner


def _deaf_to_ctrl_c(start: Callable[[], object]) -> None:
    """Start what must not get Ctrl-C: a terminal sends it to all processes, and this one ends the others in order.

    Processes inherit the blocked signals of the thread that starts them; this thread waits, and gets the signal.
    """
    # The resource tracker has to run before: starting it unblocks SIGINT in the thread that starts it.
    resource_tracker.ensure_running()
    block = partial(signal.pthread_sigmask, signal.SIG_BLOCK, {signal.SIGINT})
    with ThreadPoolExecutor(1, initializer=block) as starter:
        starter.submit(start).result()


def _no_cluster(work: WorkSettings, reason: str) -> WorkersError:
    return WorkersError(
        f"no dask cluster is to be had at {work.runner_address!r} ({reason})",
        work.runner_address,
        'start it, or set work.runner_address = "" to have one on this machine',
    )
