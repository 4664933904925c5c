"""A worker that does its runs in its own process: nothing is loaded anew, so that a run takes what its work takes."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

import anyio.abc
import httpx
from prefect import Flow
from prefect.client.schemas.objects import FlowRun
from prefect.events.clients import get_events_subscriber
from prefect.events.filters import EventFilter, EventNameFilter, EventRelatedFilter
from prefect.events.schemas.events import ResourceSpecification
from prefect.exceptions import ObjectNotFound
from prefect.flow_engine import run_flow_async
from prefect.states import Cancelled, Crashed
from prefect.workers.base import BaseJobConfiguration, BaseVariables, BaseWorker, BaseWorkerResult

STOPPED = "stopped; what was answered is kept"
LOOK_SECONDS = 1.0
"""A run that takes longer looks so often whether somebody cancelled it."""


class ResidentWorker(BaseWorker[BaseJobConfiguration, BaseVariables, BaseWorkerResult]):
    """Runs one flow, as often as its work pool asks for it; a run that is cancelled ends at its next await."""

    type = "flowreader-resident"
    job_configuration = BaseJobConfiguration
    job_configuration_variables = BaseVariables
    _description = "Answers questions in a process that stays: `python -m deployments.questions` starts it."
    _display_name = "FlowReader, resident"

    def __init__(self, flow: Flow[..., Any], *, work_pool_name: str, limit: int) -> None:
        """Serve the runs of a pool, so many at once."""
        super().__init__(work_pool_name=work_pool_name, limit=limit)
        self._flow = flow

    async def wake_up(self) -> None:
        """Take runs as soon as the server tells of them: to ask for them that often would keep its database busy."""
        pool = ResourceSpecification({"prefect.resource.name": self._work_pool_name})
        name = EventNameFilter(name=["prefect.flow-run.Scheduled"])
        scheduled = EventFilter(event=name, related=EventRelatedFilter(labels=pool))
        async with get_events_subscriber(filter=scheduled) as told:
            async for _run in told:
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
                # Prefect tells the process of a run that it is to end; here that process is this one, so that nobody is told.
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
