"""The program behind the fixture `deployed`: it runs each flow as a deployment would and prints what Prefect saw, as JSON."""

import asyncio
import fcntl
import json
import shutil
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from flows.prefect_runs.server import prefect_server
from storage.locations import artifacts_folder, corpus_location, home
from tests.flows.deployed_questions import eventually, ran, served


async def pages(client):
    return {
        page.key: [page.type, page.data, page.description]
        for page in sorted(await client.read_artifacts(), key=lambda page: page.created)
        if page.key
    }


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
        with steps.chain_steps():
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

    from flows.prefect_runs import pages as prefect_pages

    def refused():
        raise ConnectionError("http://user:secret@server")

    before, prefect_pages.get_client = prefect_pages.get_client, refused
    told = await ran(called)
    prefect_pages.get_client = before
    told["pages"] = [key for key in await pages(client) if key.startswith("ingest-plain")]
    warnings = LogFilter(level=LogFilterLevel(ge_=30))

    async def lost():
        return [line.message for line in await client.read_logs(log_filter=warnings) if "could not be kept" in line.message]

    return told | {"log": await eventually(lost, lambda found: len(found) > 1)}


async def main():
    from prefect.client.orchestration import get_client
    from prefect.context import AsyncClientContext

    from flows.evaluate import evaluate
    from flows.evolve import evolve
    from flows.ingest import ingest
    from flows.maintain import maintain
    from flows.prefect_runs import pages as prefect_pages
    from storage.cleaning.removing import remove_document
    from tasks.evaluation.arms import EvaluationRequest
    from tasks.ingest.maintenance import MaintainRequest
    from tasks.ingest.request import EvolveRequest, IngestRequest
    from tasks.settings.ingest import IngestSettings

    prefect_pages.RENEW_SECONDS = 0.05
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
        told["reports after removal"] = sorted(path.name for path in (home() / "reports").iterdir())
        max(artifacts_folder().rglob("*"), key=lambda path: path.stat().st_size if path.is_file() else 0).write_bytes(b"torn")
        told["broken"] = await ran(maintain(MaintainRequest(), return_state=True))
        told["broken page"] = (await pages(client))["maintain"][1]
        told["unknown"] = await ran(maintain(MaintainRequest(corpora=("smal",)), return_state=True))
        plain = shutil.copytree(folder, home() / "plain")
        reading = ingest(IngestRequest(paths=(str(plain),), corpus="plain"), return_state=True)
        told["without pages"] = await without_pages(client, reading)
        one_round = IngestSettings.model_validate({"reading": {"evolution": {"rounds": 1}}})
        told["evolve"] = await ran(evolve(EvolveRequest(corpus="tides", settings=one_round), return_state=True))
        told["evolve page"] = (await pages(client))["evolve-tides"]
        kept = [page.key for page in await client.read_artifacts()]
        told["pages of corpora"] = [key for key in kept if key and key.startswith("corpus-")]
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
