"""The program behind the fixture `deployed`: it runs each flow as a deployment would and prints what Prefect saw, as JSON."""

import asyncio
import fcntl
import json
import shutil
import sys
import time
from contextlib import nullcontext
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from flows.prefect_runs.server import prefect_server
from storage.locations import artifacts_folder, corpus_location, home
from tests.hung_corpus import HungCorpus

TORQUE = "With which torque are the bolts between blade root and hub of the MT-2 tightened?"
WEIGHT = "What is the weight of an MT-3 without its base?"


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


async def pages(client):
    return {
        page.key: [page.type, page.data, page.description]
        for page in sorted(await client.read_artifacts(), key=lambda page: page.created)
        if page.key
    }


async def assets(client):
    """Return the asset events that the server kept: what happened, to which asset, made of which others."""
    wanted = {"filter": {"event": {"prefix": ["prefect.asset."]}}, "limit": 50}
    deadline, last = time.monotonic() + 30, -1
    while True:
        kept = (await client._client.post("/events/filter", json=wanted)).json()["events"]
        if (kept and len(kept) == last) or time.monotonic() > deadline:
            break
        last = len(kept)
        await asyncio.sleep(2)
    names = [[each["prefect.resource.id"] for each in (one["resource"], *one["related"])] for one in kept]
    return [[one["event"], asset, related] for one, (asset, *related) in zip(kept, names, strict=True)]


async def graphs(client):
    """Return what Prefect's UI draws of the first runs of these flows: each task with those that it waited for."""
    drawn = {}
    for run in sorted(await client.read_flow_runs(), key=lambda run: run.start_time):
        graph = (await client._client.get(f"/flow_runs/{run.id}/graph-v2")).json()
        nodes = {name: node for name, node in graph["nodes"]}
        waited = {node["label"]: sorted({nodes[one["id"]]["label"] for one in node["parents"]}) for node in nodes.values()}
        drawn.setdefault((await client.read_flow(run.flow_id)).name, waited)
    return {name: drawn[name] for name in ("ingest", "ask", "evolve")}


async def tried_again(client):
    """Return the states of a task whose step fails twice and then succeeds, and what lineage has of its attempts."""
    from prefect import flow
    from prefect.client.schemas.filters import FlowRunFilter
    from prefect.runtime import flow_run

    from tasks import step as steps
    from tasks.lineage.writing import lineage_of_run, working_at

    calls = []

    @steps.step("shaky", version="1", retries=2, cache_key=lambda: steps.StepKey("corpus", "", "shaky"))
    def shaky():
        """Break twice."""
        calls.append(len(calls))
        if len(calls) < 3:
            raise ConnectionResetError("the store is away")

    @flow(name="shaky")
    async def run():
        location = corpus_location("tides")
        with (
            lineage_of_run(location, parameters={}, settings={}, run_id="shaky", snapshot=lambda: 0) as place,
            working_at(place) as done,
        ):
            await shaky.submit()
        return flow_run.id, [[record.attempts, record.error] for record in done]

    async def states():
        tasks = await client.read_task_runs(flow_run_filter=FlowRunFilter(id={"any_": [run_id]}))
        told = [await client._client.get("/task_run_states/", params={"task_run_id": str(task.id)}) for task in tasks]
        return {task.task_key: [state["name"] for state in each.json()] for task, each in zip(tasks, told, strict=True)}

    steps.RETRY_SECONDS = 0.05
    run_id, recorded = await run()
    ((key, names),) = (await eventually(states, lambda found: any("Completed" in each for each in found.values()))).items()
    return {"recorded": recorded, "states": names, "key": key}


async def limited(client):
    """Return how many steps with the tag `model` ran at once where an operator allows one, and the tags of tasks."""
    from prefect import flow

    from tasks import step as steps
    from tasks.lineage.writing import lineage_of_run, working_at

    running, most = [], [0]

    @steps.step(
        "slow", version="1", retries=0, cache_key=lambda name: steps.StepKey("corpus", "", name), tag=lambda _name: steps.MODEL
    )
    def slow(name):
        """Take a moment."""
        running.append(name)
        most[0] = max(most[0], len(running))
        time.sleep(0.3)
        running.remove(name)

    async def alone(name):
        with steps.chained():
            await slow.submit(name)

    @flow(name="limited")
    async def run():
        location = corpus_location("tides")
        with (
            lineage_of_run(location, parameters={}, settings={}, run_id="limited", snapshot=lambda: 0) as place,
            working_at(place),
        ):
            await asyncio.gather(alone("one"), alone("other"))

    async def tags():
        return {task_run.name: task_run.tags for task_run in await client.read_task_runs(limit=200) if task_run.tags}

    await client.create_concurrency_limit("model", 1)
    await run()
    return {"most at once": most[0], "tags": await eventually(tags, lambda found: {"slow one", "slow other"} <= found.keys())}


async def error_of(asking):
    try:
        await asking
    except Exception as error:
        return f"{type(error).__name__}: {error}"


async def news_of(asked):
    """Return what was heard of a question that is answered in a run, and the notes of its answer."""
    from flows.service.news import News

    news = [event.words async for event in News(asked).newest()]
    return news, (await asked.waited_for())[0]["notes"]


async def served(client):
    """Tell what came of questions to the query service: from the form, by HTTP, and of one that is cancelled."""
    from prefect import flow_engine, results
    from prefect.client.schemas.actions import WorkPoolCreate

    from deployments.declared import declared_deployment
    from flows.service import intake as intakes
    from flows.service import runs_here
    from flows.service.resident import POOL, ResidentWorker
    from flows.service.runs_here import RunsHere
    from tasks.asking.request import AskRequest

    runs_here.SETTLE_SECONDS, intakes.BEGIN_SECONDS = 0.2, 60.0
    await client.create_work_pool(WorkPoolCreate(name=POOL, type=ResidentWorker.type))
    deployment = await declared_deployment("ask").aapply(work_pool_name=POOL)
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
    told = [await error_of(asked.waited_for()) for asked in (near, early)]
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


async def written_together(client):
    """Return the status codes of many writers at once, one of which pauses a queue: that reads in a session of its own."""
    import httpx

    (run,) = await client.read_flow_runs(limit=1)
    # Prefect's own client would ask again.
    async with httpx.AsyncClient(base_url=client.api_url, timeout=100) as plain:
        writing = [plain.post("flow_runs/", json={"flow_id": str(run.flow_id)}) for _ in range(40)]
        pausing = plain.patch("work_pools/flowreader-questions/queues/default", json={"is_paused": True})
        return [reply.status_code for reply in await asyncio.gather(*writing, pausing)]


async def without_pages(client, called):
    """Return how an ingest ended whose pages Prefect's server refuses, the pages of its corpus, and what its log warns of."""
    from prefect.client.schemas.filters import LogFilter, LogFilterLevel

    from flows.prefect_runs import corpus_pages

    def refused():
        raise ConnectionError("http://user:secret@server")

    before, corpus_pages.get_client = corpus_pages.get_client, refused
    told = await ran(called)
    corpus_pages.get_client = before
    told["pages"] = [key for key in await pages(client) if key.startswith("ingest-plain")]
    warnings = LogFilter(level=LogFilterLevel(ge_=30))

    async def lost():
        return [line.message for line in await client.read_logs(log_filter=warnings) if "could not be kept" in line.message]

    return told | {"log": await eventually(lost, lambda found: len(found) > 3)}


async def main():
    from prefect.client.orchestration import get_client
    from prefect.context import AsyncClientContext

    from flows.evaluate import evaluate
    from flows.evolve import evolve
    from flows.ingest import ingest
    from flows.maintain import maintain
    from flows.prefect_runs import pages as answer_pages
    from flows.prefect_runs.corpus_pages import renew_corpus_page
    from tasks.evaluation.arms import EvaluationRequest
    from tasks.ingest.maintenance import MaintainRequest
    from tasks.ingest.removing import remove_document
    from tasks.ingest.request import EvolveRequest, IngestRequest
    from tasks.settings.ingest import IngestSettings

    answer_pages.RENEW_SECONDS = 0.05
    folder = home() / "in"
    folder.mkdir()
    (folder / "tides.html").write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    (folder / "empty.pdf").touch()
    told = {}
    async with AsyncClientContext() as context:
        told |= await served(context.client)
    # Published together, however slow the machine is.
    patient = IngestSettings.model_validate({"work": {"publish_seconds": 600}})
    told["ingest"] = await ran(ingest(IngestRequest(paths=(str(folder),), corpus="tides", settings=patient), return_state=True))
    told["evaluate"] = await ran(
        evaluate(EvaluationRequest(what="probe", corpus="small", limit=2, resamples=100, readers=("top-k",)), return_state=True)
    )
    told["maintain"] = await ran(maintain(MaintainRequest(), return_state=True))
    async with get_client() as client:
        told["pages"] = await pages(client)
        with corpus_location("tides").lock.open("r+") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            told["busy"] = await ran(maintain(MaintainRequest(wait_seconds=0), return_state=True))
        told["reports"] = sorted(path.name for path in (home() / "reports").iterdir())
        remove_document(corpus_location("small"), "maintenance_manual.docx", now=True)
        await renew_corpus_page("small")
        told["index after removal"] = (await pages(client))["corpus-small"][1]
        told["reports after removal"] = sorted(path.name for path in (home() / "reports").iterdir())
        max(artifacts_folder().rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0).write_bytes(b"torn")
        told["broken"] = await ran(maintain(MaintainRequest(), return_state=True))
        told["broken page"] = (await pages(client))["maintain"][1]
        told["unknown"] = await ran(maintain(MaintainRequest(corpora=("smal",)), return_state=True))
        plain = shutil.copytree(folder, home() / "plain")
        reading = ingest(IngestRequest(paths=(str(plain),), corpus="plain"), return_state=True)
        told["without pages"] = await without_pages(client, reading)
        told["assets"] = await assets(client)
        one_round = IngestSettings.model_validate({"reading": {"evolution": {"rounds": 1}}})
        told["evolve"] = await ran(evolve(EvolveRequest(corpus="tides", settings=one_round), return_state=True))
        told["evolve page"], told["index after evolve"] = map((await pages(client)).get, ("evolve-tides", "corpus-tides"))
        told["evolve nothing"] = await ran(evolve(EvolveRequest(corpus="tidse"), return_state=True))
        told["graphs"] = await eventually(lambda: graphs(client), lambda drawn: "index full text" in drawn["evolve"])
        told["tried again"] = await tried_again(client)
        told["limited"] = await limited(client)
        told["runs"] = [[run.name, sorted(run.tags)] for run in await client.read_flow_runs()]
        told["written together"] = await written_together(client)
    return told


if __name__ == "__main__":
    with prefect_server() as wait_until_ready:
        wait_until_ready()
        sys.stdout.write(json.dumps(asyncio.run(main())) + "\n")
