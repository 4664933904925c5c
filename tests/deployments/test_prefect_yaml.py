"""`prefect deploy` takes the same file, for workers anywhere that have the package."""

import json
import os
import subprocess
import sys
import time
import urllib.request

import pytest

from deployments.declared import DECLARATIONS
from flows.prefect_runs.server import answers
from tests.deployments.brought_up import environment_for, free_port


@pytest.fixture
def server(tmp_path):
    """The environment of a Prefect server that runs."""
    port = str(free_port())
    environment = environment_for(tmp_path, PREFECT_SERVER_API_PORT=port, PREFECT_SERVER_API_HOST="127.0.0.1")
    environment |= {"PREFECT_API_URL": f"http://127.0.0.1:{port}/api", "PREFECT_HOME": str(tmp_path / "prefect")}
    process = subprocess.Popen([sys.executable, "-m", "deployments.server"], env=environment)
    deadline = time.monotonic() + 150
    while not answers(environment["PREFECT_API_URL"], seconds=2):
        assert process.poll() is None and time.monotonic() < deadline
        time.sleep(0.2)
    yield environment
    process.terminate()
    assert process.wait(timeout=20) == 0


@pytest.mark.torture
def test_every_deployment_is_made_and_nothing_is_fetched(server, tmp_path):
    for arguments in (
        ("work-pool", "create", "--type", "process", "flowreader"),
        ("work-pool", "create", "--type", "process", "flowreader-questions"),
        ("--no-prompt", "deploy", "--all", "--prefect-file", os.fspath(DECLARATIONS)),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "prefect", *arguments], env=server, capture_output=True, text=True, timeout=200
        )
        assert done.returncode == 0, done.stdout + done.stderr
    for name in ("ingest", "ask", "evaluate", "maintain"):
        with urllib.request.urlopen(f"{server['PREFECT_API_URL']}/deployments/name/{name}/{name}", timeout=30) as reply:
            made = json.loads(reply.read())
        pool = "flowreader-questions" if name == "ask" else "flowreader"
        assert (made["work_pool_name"], made["pull_steps"], made["path"]) == (pool, [], None)
        assert [schedule["active"] for schedule in made["schedules"]] == {"maintain": [True], "ask": []}.get(name, [False])
