"""What other systems are told of a run, as it begins and ends: asset events on Prefect's server, run events for OpenLineage.

These are hooks of the flows: Prefect logs what goes wrong in one, and the run goes on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

from prefect.client.schemas.objects import FlowRun, State, StateType
from prefect.context import FlowRunContext
from prefect.events import emit_event
from prefect.logging.loggers import flow_run_logger
from prefect.states import Cancelled

from flows.lineage_pages import keep_answer_pages
from storage.answer_json import answer_from_json
from tasks.data_flow import MADE_AT_MOST, DataFlow, answered, asked_to_read, ingested
from tasks.ingest_request import IngestRequest
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


async def tell_of_ingest(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ANN401 - Prefect names the arguments
    """Tell of an ingest: the folders that it reads, and where it completed the documents that it published."""
    request = IngestRequest.model_validate(flow_run.parameters["request"])
    data = asked_to_read(request)
    if state.is_completed():
        data = ingested(request, str(flow_run.id))
        emit_assets(data, flow_run)
    await _tell("ingest", flow_run, state, data)


async def tell_of_answers(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ANN401 - likewise
    """Tell of a run that asks: where it completed, the answers and the documents that they used, and leave the answers' lineage."""
    answers = [answer_from_json(each) for each in await state.aresult()] if state.is_completed() else []
    for answer in answers[:MADE_AT_MOST]:
        emit_assets(answered([answer]), flow_run)
    await _tell("ask", flow_run, state, answered(answers))
    await keep_answer_pages(answers, flow_run_id=flow_run.id)


async def stopped(tell: Callable[[Any, FlowRun, State[Any]], Awaitable[None]], message: str) -> State[None]:
    """Return the state of the run at work, which was stopped in order; Prefect has no hook for that."""
    state: State[None] = Cancelled(message=message)
    context = FlowRunContext.get()
    if context is not None and context.flow_run is not None:
        await tell(None, context.flow_run, state)
    return state


async def _tell(job: str, flow_run: FlowRun, state: State[Any], data: DataFlow) -> None:
    if not is_wanted():
        return
    event = run_event(KINDS[state.type], run_id=str(flow_run.id), job=job, data=data)
    try:
        await asyncio.to_thread(send, event)
    except OpenLineageError as error:
        if flow_run.id not in _refused:
            _refused.add(flow_run.id)
            flow_run_logger(flow_run).warning(str(error))


def emit_assets(data: DataFlow, flow_run: FlowRun) -> None:
    """Have Prefect's server know what was made of what: it keeps events for a week, and shows them with the run."""
    run = {"prefect.resource.id": f"prefect.flow-run.{flow_run.id}", "prefect.resource.role": "flow-run"}
    made_of = [{"prefect.resource.id": each.key, "prefect.resource.role": "asset"} for each in data.inputs]
    for each in data.inputs:
        emit_event("prefect.asset.referenced", resource={"prefect.resource.id": each.key}, related=[run])
    for each in data.outputs:
        emit_event(
            "prefect.asset.materialization.succeeded",
            resource={"prefect.resource.id": each.key},
            related=[run, *made_of],
            payload={"left out": data.left_out} if data.left_out else {},
        )
