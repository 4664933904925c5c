"""What is declared for work pools, told to a real server: it takes the templates, and the deployments for the pool they name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.deployments.brought_up import requested

ROOT = Path(__file__).parents[2]
NAMES = ("ingest", "evolve", "evaluate", "maintain")
pytestmark = pytest.mark.torture


def prefect(*words, server, home):
    done = subprocess.run(
        [sys.executable, "-m", "prefect", *words],
        env={**os.environ, "PREFECT_API_URL": server, "PREFECT_HOME": str(home), "COLUMNS": "200", "NO_COLOR": "1"},
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.mark.parametrize("kind", ["process", "docker", "kubernetes"])
def test_a_server_takes_the_template_and_the_deployments_and_none_fetches_anything(server, tmp_path, kind):
    given = ()
    if kind != "process":
        pytest.importorskip(f"prefect_{kind}")
        given = ("--base-job-template", ROOT / "deployments" / kind / "base-job-template.json")
    prefect("work-pool", "create", "flowreader", "--type", kind, *given, "--overwrite", server=server, home=tmp_path)
    named = [word for name in NAMES for word in ("--name", name)]
    told = prefect("--no-prompt", "deploy", *named, "--prefect-file", "deployments/prefect.yaml", server=server, home=tmp_path)
    assert all(f"{name}/{name}' successfully" in " ".join(told.split()) for name in NAMES)
    for name in NAMES:
        made = requested(server, f"/deployments/name/{name}/{name}")
        assert (made["work_pool_name"], made["pull_steps"], made["path"]) == ("flowreader", [], None)
        active = [schedule["active"] for schedule in made["schedules"]]
        assert active == {"maintain": [True], "evolve": []}.get(name, [False])
