"""Asset events on Prefect's server: what a run made of what. The server keeps them for a week, and shows them with the run."""

from __future__ import annotations

import asyncio
from typing import Any
from uuid import UUID

from prefect.client.schemas.objects import FlowRun, State
from prefect.events import emit_event
from prefect.runtime import flow_run as run_at_work

from flows.answer_pages import keep_answer_pages, keep_run_page
from storage.answer_json import answer_from_json
from storage.locations import corpus_location
from storage.snapshot import open_for_reading
from tasks.data_flow import DataFlow, answered, ingested
from tasks.ingest_request import IngestRequest
from tasks.lineage_names import Shelf
from tasks.lineage_walk import run_walk


async def leave_lineage(request: IngestRequest) -> None:
    """Leave the page and the asset events of the ingest at work; its lineage file is walked through once."""
    run_id = UUID(str(run_at_work.id))
    with open_for_reading(corpus_location(request.corpus)) as snapshot:
        shelf = Shelf(snapshot)
        walked = await asyncio.to_thread(run_walk, shelf, str(run_id))
        emit_assets(ingested(request, shelf, walked), flow_run_id=run_id)
        await keep_run_page(snapshot, walked)


async def leave_lineage_of_answers(flow: Any, flow_run: FlowRun, state: State[Any]) -> None:  # noqa: ANN401 - Prefect names the arguments
    """As a hook of a flow that completed: whoever asked has the answers before this is made. Prefect logs what goes wrong in it."""
    answers = [answer_from_json(each) for each in await state.aresult()]
    for answer in answers:
        emit_assets(answered(answer), flow_run_id=flow_run.id)
    await keep_answer_pages(answers, flow_run_id=flow_run.id)


def emit_assets(data: DataFlow, *, flow_run_id: UUID | None = None, task_run_id: UUID | None = None) -> None:
    kind = "flow-run" if flow_run_id else "task-run"
    made_by = {"prefect.resource.id": f"prefect.{kind}.{flow_run_id or task_run_id}", "prefect.resource.role": kind}
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
