"""What other systems are told of a run, as it begins and ends: asset events on Prefect's server, run events for OpenLineage.

These are hooks of the flows and of the task: Prefect logs what goes wrong in one, and the run goes on. Who asked has the answer
before anybody is told of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from prefect.client.schemas.objects import FlowRun, State, StateType, TaskRun
from prefect.context import FlowRunContext
from prefect.events import emit_event
from prefect.logging.loggers import flow_run_logger, task_run_logger
from prefect.runtime import flow_run as run_at_work
from prefect.states import Cancelled

from flows.lineage_pages import keep_answer_pages, keep_run_page
from storage.answer_json import answer_from_json
from storage.answer_records import Answer
from storage.locations import corpus_location
from storage.snapshot import open_for_reading
from tasks.data_flow import MADE_AT_MOST, DataFlow, answered, asked_to_read, ingested
from tasks.ingest_request import IngestRequest
from tasks.lineage_names import Shelf
from tasks.lineage_whole_run import run_walk
from tasks.openlineage import EventType, OpenLineageError, is_wanted, run_event, send

KINDS = {
    StateType.RUNNING: EventType.START,
    StateType.COMPLETED: EventType.COMPLETE,
    StateType.CANCELLED: EventType.ABORT,
    StateType.FAILED: EventType.FAIL,
    StateType.CRASHED: EventType.FAIL,
}
_refused: set[UUID] = set()
"""The runs of which the log says already that OpenLineage does not hear of them."""

_began: dict[UUID, datetime] = {}
"""When the runs at work began that ask."""

_made: dict[UUID, DataFlow] = {}
"""What ingests made that are about to end."""


async def leave_lineage(request: IngestRequest) -> None:
    """Leave the page of the ingest at work, and remember what is to be told at its end: its file is walked through once."""
    run_id = UUID(str(run_at_work.id))
    with open_for_reading(corpus_location(request.corpus)) as snapshot:
        shelf = Shelf(snapshot)
        told = await asyncio.to_thread(run_walk, shelf, str(run_id))
        _made[run_id] = ingested(request, shelf, told)
        await keep_run_page(snapshot, told)


async def tell_of_ingest(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ANN401 - Prefect names the arguments
    """Tell of an ingest: the folders that it reads, and where it completed the documents that it published."""
    data = _made.pop(flow_run.id, None) or asked_to_read(IngestRequest.model_validate(flow_run.parameters["request"]))
    if state.is_completed():
        emit_assets(data, flow_run)
    await _tell("ingest", flow_run, KINDS[state.type], data)


async def note_beginning(flow: Any, flow_run: FlowRun | TaskRun, state: State[Any]) -> None:  # noqa: ANN401 - likewise
    """Remember when a run began that asks, a flow's or a task's: nobody is told before the answer is given."""
    _began[flow_run.id] = datetime.now(UTC)


async def tell_of_answers(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ANN401 - likewise
    """Tell of a flow's run that asked, and leave the lineage of its answers."""
    await keep_answer_pages(await _tell_of_asking(flow_run, state), flow_run_id=flow_run.id)


async def tell_of_task(task: Any, task_run: TaskRun, state: State[Any]) -> None:  # noqa: ANN401 - likewise
    """Tell of a task's run that asked, which leaves its pages itself."""
    await _tell_of_asking(task_run, state)


async def _tell_of_asking(run: FlowRun | TaskRun, state: State[Any]) -> list[Answer]:
    """Tell when the run began, how it ended, and of the answers with the documents that they used; return the answers."""
    answers = [answer_from_json(each) for each in await state.aresult()] if state.is_completed() else []
    for answer in answers[:MADE_AT_MOST]:
        emit_assets(answered([answer]), run)
    await _tell("ask", run, EventType.START, DataFlow(), at=_began.pop(run.id, None))
    await _tell("ask", run, KINDS[state.type], answered(answers))
    return answers


async def stopped(tell: Callable[[Any, FlowRun, State[Any]], Awaitable[None]], message: str) -> State[None]:
    """Return the state of the run at work, which was stopped in order; Prefect has no hook for that."""
    state: State[None] = Cancelled(message=message)
    context = FlowRunContext.get()
    if context is not None and context.flow_run is not None:
        await tell(None, context.flow_run, state)
    return state


async def _tell(job: str, run: FlowRun | TaskRun, kind: EventType, data: DataFlow, *, at: datetime | None = None) -> None:
    if not is_wanted():
        return
    event = run_event(kind, run_id=str(run.id), job=job, data=data, at=at)
    try:
        await asyncio.to_thread(send, event)
    except OpenLineageError as error:
        if run.id not in _refused:
            _refused.add(run.id)
            logger = flow_run_logger(run) if isinstance(run, FlowRun) else task_run_logger(run)
            logger.warning(str(error))


def emit_assets(data: DataFlow, run: FlowRun | TaskRun) -> None:
    """Have Prefect's server know what was made of what: it keeps events for a week, and shows them with the run."""
    kind = "flow-run" if isinstance(run, FlowRun) else "task-run"
    made_by = {"prefect.resource.id": f"prefect.{kind}.{run.id}", "prefect.resource.role": kind}
    made_of = [{"prefect.resource.id": each.key, "prefect.resource.role": "asset"} for each in data.inputs]
    for each in data.inputs:
        emit_event("prefect.asset.referenced", resource={"prefect.resource.id": each.key}, related=[made_by])
    for each in data.outputs:
        emit_event(
            "prefect.asset.materialization.succeeded",
            resource={"prefect.resource.id": each.key},
            related=[made_by, *made_of],
            payload={"left out": data.left_out} if data.left_out else {},
        )
