"""What is declared for work pools, told to a real server: it takes the templates, and the deployments for the pool they name."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

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


@pytest.mark.parametrize("kind", ["docker", "kubernetes"])
def test_a_server_takes_the_template_and_the_deployments(server, tmp_path, kind):
    pytest.importorskip(f"prefect_{kind}")
    template = ROOT / "deployments" / kind / "base-job-template.json"
    made = prefect(
        "work-pool", "create", "flowreader", "--type", kind, "--base-job-template", template, "--overwrite",
        server=server, home=tmp_path,
    )  # fmt: skip
    assert "work pool 'flowreader'" in made
    named = [word for name in NAMES for word in ("--name", name)]
    told = prefect("--no-prompt", "deploy", *named, "--prefect-file", "deployments/prefect.yaml", server=server, home=tmp_path)
    assert all(f"{name}/{name}' successfully" in " ".join(told.split()) for name in NAMES)
