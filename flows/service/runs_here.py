"""Runs of flows in the service's process: each in its own asyncio task, with nothing of another run in its context."""

import asyncio
from collections.abc import Coroutine, Mapping
from contextvars import Context, copy_context
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import httpx
from prefect import Flow
from prefect.client.orchestration import PrefectClient
from prefect.client.schemas.actions import FlowRunCreate
from prefect.client.schemas.filters import (
    FlowFilter,
    FlowFilterName,
    FlowRunFilter,
    FlowRunFilterState,
    FlowRunFilterStateType,
)
from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.exceptions import ObjectNotFound, PrefectHTTPStatusError
from prefect.flow_engine import run_flow_async
from prefect.states import Cancelled, Completed, Crashed

from flows.ask_deployed import STOPPED, AwaitedRequest, ask_deployed, ask_pages, current_request
from storage.text import without_sign_in

LOOK_SECONDS = 1.0
"""Between looks at whether a run was cancelled."""

SETTLE_SECONDS = 10.0
"""Between tries to report to the server how a run ended."""

LABEL = "flowreader.service"
AT_WORK = [StateType.PENDING, StateType.RUNNING, StateType.CANCELLING]
ELSEWHERE = "answered without Prefect, whose server did not let this run begin in time"
KILLED = "the query service was killed; what was answered is kept"


@dataclass
class RunsHere:
    """The runs of the service that listens at `address`; no other process can at the same time."""

    prefect: PrefectClient
    address: str
    context: Context = field(default_factory=copy_context)
    tasks: set[asyncio.Task[None]] = field(default_factory=set)
    flow_ids: dict[str, UUID] = field(default_factory=dict)
    ending: bool = False

    @property
    def labels(self) -> dict[str, Any]:
        return {LABEL: self.address}

    async def create_run(self, flow: Flow[..., Any], **more: Any) -> FlowRun:  # noqa: ANN401 - the fields of FlowRunCreate
        """Create a run as one of this service, in one request.

        Prefect's client needs a second one for the label, and for a run of a deployment the server checks two schemas, in 50 ms.
        """
        if flow.name not in self.flow_ids:
            self.flow_ids[flow.name] = await self.prefect.create_flow(flow)
        run = FlowRunCreate(flow_id=self.flow_ids[flow.name], labels=self.labels, **more)
        try:
            reply = await self.prefect.request("POST", "/flow_runs/", json=run.model_dump(mode="json", exclude_unset=True))
        except PrefectHTTPStatusError:
            # The flow may have been deleted: the next run makes it again.
            self.flow_ids.clear()
            raise
        return FlowRun.model_validate(reply.json())

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Begin work that ends with the service; where that ends already, the work is cancelled before its first step."""
        task = self._start(work)
        if self.ending:
            task.cancel()
        return task

    def settle(self, run_id: UUID, state: State[Any]) -> None:
        """Report to the server how a run ended, now or when it is back."""
        self._start(self._send_state(run_id, state))

    def _start(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.get_running_loop().create_task(work, context=self.context.copy())
        self.tasks.add(task)
        task.add_done_callback(self._forget)
        return task

    def _forget(self, task: asyncio.Task[None]) -> None:
        self.tasks.discard(task)
        if not task.cancelled():
            # Mark the error as seen: asyncio would print it.
            task.exception()

    async def run(
        self, flow: Flow[..., Any], run: FlowRun, parameters: Mapping[str, Any], asked: AwaitedRequest | None = None
    ) -> State[Any] | None:
        """Run a flow, and report its end to the server; return its state, None where it was cut off.

        A cancelled run ends at its next await.
        Raise what Prefect raises where its server is gone: the question that is `asked` may have been answered nevertheless.
        """
        if asked:
            current_request.set(asked)
        # For a run of a deployment Prefect waits, in this event loop and without end, for a thread that subscribes to suspensions.
        run = run.model_copy(update={"deployment_id": None})
        work = asyncio.ensure_future(run_flow_async(flow, flow_run=run, parameters=dict(parameters), return_type="state"))
        while not work.done():
            try:
                # Prefect ends a run by a signal to its process. That would be this one, so the run is asked for its state instead.
                if not (await asyncio.wait([work], timeout=LOOK_SECONDS))[0] and await self._is_to_end(run.id):
                    work.cancel()
            except asyncio.CancelledError:
                work.cancel()
        error = None if work.cancelled() else work.exception()
        if work.cancelled() or error:
            self.settle(run.id, state_after(error, asked))
        # Prefect's own signals (Abort, Pause) are no Exception, and would end the loop that waits for this run.
        if isinstance(error, Exception):
            raise error
        return None if work.cancelled() or error else work.result()

    async def _is_to_end(self, run_id: UUID) -> bool:
        try:
            run = await self.prefect.read_flow_run(run_id)
        except (httpx.HTTPError, ObjectNotFound):
            return False
        return run.state is not None and run.state.is_cancelling()

    async def _send_state(self, run_id: UUID, state: State[Any]) -> None:
        """Set the state until it is final: an earlier request that the server was slow to read may overwrite it once."""
        final = False
        while not final:
            try:
                await self.prefect.set_flow_run_state(run_id, state, force=True)
                if not self.ending:
                    await asyncio.sleep(SETTLE_SECONDS)
                run = await self.prefect.read_flow_run(run_id)
                final = run.state is not None and run.state.is_final()
            except ObjectNotFound:
                return
            except (httpx.TransportError, PrefectHTTPStatusError):
                await asyncio.sleep(SETTLE_SECONDS)

    async def end(self) -> None:
        """End what is at work, and return once Prefect knows."""
        self.ending = True
        for task in self.tasks:
            task.cancel()
        while self.tasks:
            await asyncio.wait(self.tasks)

    async def end_what_was_killed(self) -> None:
        """Mark as crashed the runs that a killed service at this address left."""
        killed = await self.prefect.read_flow_runs(
            flow_filter=FlowFilter(name=FlowFilterName(any_=[ask_deployed.name, ask_pages.name])),
            flow_run_filter=FlowRunFilter(state=FlowRunFilterState(type=FlowRunFilterStateType(any_=AT_WORK))),
        )
        for run in killed:
            if run.labels.get(LABEL) == self.address:
                await self.prefect.set_flow_run_state(run.id, Crashed(message=KILLED), force=True)


def state_after(error: BaseException | None, asked: AwaitedRequest | None) -> State[Any]:
    """Return the state of a run that ended with an error or was cancelled, which Prefect would call crashed."""
    if asked and asked.note:
        return Cancelled(message=ELSEWHERE)
    if error is None:
        return Cancelled(message=STOPPED)
    if asked and asked.answers.done() and not asked.answers.exception():
        return Completed()
    return Crashed(message=shorten_error(error))


def shorten_error(error: BaseException) -> str:
    return without_sign_in(f"{type(error).__name__}: {error}")
