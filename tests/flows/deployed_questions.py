"""What Prefect saw of questions to the query service: from the form, by HTTP, cancelled, stopped, asked again, killed."""

import asyncio
import json
import shutil
import time
from contextlib import nullcontext

from storage.locations import corpus_location
from tests.asking_worlds import TORQUE, WEIGHT
from tests.hung_corpus import HungCorpus


async def ran(called):
    """Return how a flow ended: its state's name and message, and what it returned."""
    state = await called
    returned = await state.aresult(raise_on_failure=False) if state.is_completed() else None
    return {"state": state.name, "message": state.message or "", "returned": json.loads(json.dumps(returned, default=repr))}


async def eventually(look, is_whole):
    """Return what is found once it is whole, or as it is after a minute: the server learns of tasks by events, in its own time."""
    deadline = time.monotonic() + 60
    while not is_whole(found := await look()) and time.monotonic() < deadline:
        await asyncio.sleep(0.5)
    return found


async def error_of(asking):
    try:
        await asking
    except Exception as error:
        return f"{type(error).__name__}: {error}"


async def news_of(asked):
    """Return what was heard of a question that is answered in a run, and the notes of its answer."""
    from flows.service.news import LatestEvents

    news = [event.words async for event in LatestEvents(asked).follow()]
    return news, (await asked.wait_for_answers())[0]["notes"]


async def served(client):
    """Tell what came of questions to the query service: from the form, by HTTP, and of one that is cancelled."""
    from prefect import flow_engine, results
    from prefect.client.schemas.actions import WorkPoolCreate

    from deployments.declared import read_deployment
    from flows.service import intake as intakes
    from flows.service import runs_here
    from flows.service.resident import POOL, ResidentWorker
    from flows.service.runs_here import RunsHere
    from tasks.asking.request import AskRequest

    runs_here.SETTLE_SECONDS, intakes.BEGIN_SECONDS = 0.2, 60.0
    await client.create_work_pool(WorkPoolCreate(name=POOL, type=ResidentWorker.type))
    deployment = await read_deployment("ask").aapply(work_pool_name=POOL)
    intake = intakes.Intake(RunsHere(client, "here"), deployment, room=4)
    told_of_suspension, asked_for_storage = [], []
    results._read_server_default_result_storage_block_id = lambda: asked_for_storage.append(None)
    flow_engine.observe_flow_run_suspension = lambda *run: told_of_suspension.append(run) or nullcontext()

    async def from_the_form(*questions):
        request = {"questions": questions, "corpus": "small"}
        run = await client.create_flow_run_from_deployment(deployment, parameters={"request": request})
        await intake.answer_run(run)
        return (await client.read_flow_run(run.id)).state

    def by_http(*questions, **more):
        return intake.ask(AskRequest(questions=questions, corpus="small", **more))

    told = {
        "ask": await ran(from_the_form(TORQUE, WEIGHT)),
        "ask nobody": await ran(from_the_form("?")),
        "http": await by_http(WEIGHT, reader="top-k"),
        "news": await news_of(intake.take_in(AskRequest(questions=(TORQUE,), corpus="small", reader="top-k"))),
        "http nobody": await error_of(by_http("!")),
        "cancelled": await cancelled(client, intake.ask(AskRequest(questions=("How far?",), corpus="far"))),
        "stopped": await stopped(intake),
    }
    again = await client.create_flow_run_from_deployment(
        deployment, parameters={"request": {"questions": [WEIGHT], "corpus": "small"}}
    )
    await intake.answer_run(again)
    making_pages = asyncio.ensure_future(intake.make_pages())
    while intake.unmade or intake.runs.tasks:
        await asyncio.sleep(0.2)
    making_pages.cancel()
    await killed(client, intake.runs, deployment)
    flows = {flow.id: flow.name for flow in await client.read_flows()}
    runs = [run for run in await client.read_flow_runs() if run.id != again.id]
    told["served"] = {run.name: [flows[run.flow_id], run.state.name, run.state.message or "", str(run.id)] for run in runs}
    told["ask again"] = {
        "returned": await (await client.read_flow_run(again.id)).state.aresult(),
        "tasks": await states_of_tasks(client, again.id),
    }
    told["lineage"] = [path.stem for path in corpus_location("small").runs.glob("ask-*.jsonl")]
    told["blocked"] = [len(told_of_suspension), len(asked_for_storage)]
    told["pages of runs"] = {page.key: str(page.flow_run_id) for page in await client.read_artifacts()}
    return told


async def states_of_tasks(client, run_id):
    """Return the states of the tasks of a run that ended, by their names."""
    from prefect.client.schemas.filters import FlowRunFilter

    async def states():
        runs = await client.read_task_runs(flow_run_filter=FlowRunFilter(id={"any_": [run_id]}))
        return {run.name: run.state.name for run in runs if run.state and run.state.is_final()}

    return await eventually(states, bool)


async def cancelled(client, asking):
    """Return what comes of asking a corpus that hangs, where that is cancelled, and after how many seconds."""
    from prefect.states import Cancelling

    disk, waiting = HungCorpus("far"), asyncio.ensure_future(error_of(asking))
    await disk.asked()
    (run,) = [run for run in await client.read_flow_runs() if run.name == "How far?"]
    await client.set_flow_run_state(run.id, Cancelling())
    began = time.monotonic()
    told = [await waiting, time.monotonic() - began]
    disk.end()
    shutil.rmtree(corpus_location("far").folder)
    return told


async def stopped(intake):
    """Return what comes of a question that is stopped at a corpus that hangs, and of one whose run is being created."""
    from tasks.asking.request import AskRequest

    disk, near = HungCorpus("near"), intake.take_in(AskRequest(questions=("How near?",), corpus="near"))
    await disk.asked()
    early = intake.take_in(AskRequest(questions=("How early?",), corpus="small"))
    await asyncio.sleep(0.002)
    for asked in (near, early):
        intake.stop(asked.id)
    told = [await error_of(asked.wait_for_answers()) for asked in (near, early)]
    disk.end()
    shutil.rmtree(corpus_location("near").folder)
    return told


async def killed(client, service, deployment):
    """Leave a run of this service and one of another at work, and have this one begin again."""
    from prefect.states import Running

    from flows.service.runs_here import LABEL

    for address in ("here", "there"):
        run = await client.create_flow_run_from_deployment(
            deployment, name=f"killed {address}", parameters={"request": {"questions": ["?"]}}, labels={LABEL: address}
        )
        await client.set_flow_run_state(run.id, Running(), force=True)
    await service.end_what_was_killed()
