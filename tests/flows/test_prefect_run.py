"""A run from the command line leaves a page of its own in Prefect, and tells whether it was stopped.

Prefect learns its server's address once in a process, so each run here has a process of its own.
"""

import json
import os
import subprocess
import sys

import pytest

from tests.program import process

LOOK = """
import asyncio, json
from flows.prefect_environment import prefect_server

async def look():
    from prefect.client.orchestration import get_client

    async with get_client() as client:
        runs = await client.read_flow_runs()
        tasks = await client.read_task_runs()
        reports = await client.read_artifacts()
    return {
        "states": [run.state.name for run in runs],
        "tasks": [task.name for task in tasks],
        "reports": {report.key: report.data for report in reports},
    }

with prefect_server() as wait_until_ready:
    wait_until_ready()
    print(json.dumps(asyncio.run(look())))
"""
STOP = """
import json, sys
from flows.prefect_run import run_ingest
from tasks.ingest_request import IngestRequest
from tasks.progress import listening, request_stop

def stop(progress):
    if progress.step == "structure":
        request_stop()

with listening(stop):
    print(json.dumps(run_ingest(IngestRequest(paths=(sys.argv[1],))) is None))
"""


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "in"
    made.mkdir()
    (made / "a.html").write_text("<h1>Tides</h1><p>The tide turns twice a day and never asks why.</p>")
    return made


def python(program, *arguments, home):
    environment = {**os.environ, "FLOWREADER_HOME": str(home)}
    done = subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_a_run_is_seen_by_prefect_with_its_tasks_and_its_report(home, folder):
    process("ingest", folder, home=home, check=0)
    seen = python(LOOK, home=home)
    assert seen["states"] == ["Completed"]
    assert {"parse", "read-words", "structure", "analyze", "embed", "evolve", "publish", "index"} <= {
        name.split()[0] for name in seen["tasks"]
    }
    assert "1 documents read" in seen["reports"]["ingest-default"]


def test_a_stopped_run_says_so_and_the_next_one_finishes(home, folder):
    assert python(STOP, str(folder), home=home) is True
    assert '"ready"' in process("ingest", folder, "--json", home=home, check=0).stdout
