"""A run from the command line leaves a page of its own in Prefect, and tells whether it was stopped."""

import asyncio

from flows import ingest_run
from flows.prefect_environment import prefect_server
from tasks.ingest_request import IngestRequest
from tasks.progress import listening, request_stop


def write(folder):
    folder.mkdir()
    (folder / "a.html").write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    return IngestRequest(paths=(str(folder),))


def test_a_run_is_seen_by_prefect_with_its_tasks_and_its_report(home, tmp_path):
    request = write(tmp_path / "in")

    async def look():
        from prefect.client.orchestration import get_client
        from prefect.client.schemas.filters import ArtifactFilter, ArtifactFilterKey

        async with get_client() as client:
            runs = await client.read_flow_runs()
            tasks = await client.read_task_runs()
            reports = await client.read_artifacts(artifact_filter=ArtifactFilter(key=ArtifactFilterKey(any_=["ingest-default"])))
        return runs, tasks, reports

    assert ingest_run.run_ingest(request).read == 1
    with prefect_server():
        runs, tasks, reports = asyncio.run(look())
    assert [run.state.name for run in runs] == ["Completed"]
    named = {task.name.split()[0] for task in tasks}
    assert {"parse", "read-words", "structure", "analyze", "embed", "evolve", "publish", "index"} <= named
    assert "1 documents read" in reports[0].data


def test_a_stopped_run_says_so_and_the_next_one_finishes(home, tmp_path):
    request = write(tmp_path / "in")

    def stop(progress):
        if progress.step == "structure":
            request_stop()

    with listening(stop):
        assert ingest_run.run_ingest(request) is None
    assert ingest_run.run_ingest(request).read == 1
